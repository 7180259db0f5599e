"""Which logins and group settings need our own sockets, and which need librdkafka."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from legacy_mm.base.kafka_clients import KERBEROS
from legacy_mm.policies import logins
from legacy_mm.policies.logins import membership_obstacle
from tests.fixtures import client_settings
from tests.fixtures.client_settings import TOKEN_AUTH

PLAIN = {"security.protocol": "sasl_ssl", "sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p"}


def beyond_librdkafka(properties: Mapping[str, str]) -> str | None:
    return logins.beyond_librdkafka(client_settings.read_connection(properties))


@pytest.mark.parametrize("protocol", [None, "plaintext", "ssl"])
def test_without_sasl_no_login_is_looked_at(protocol: str | None) -> None:
    """A file may hold what it does not use."""
    unused = {"sasl.mechanism": KERBEROS, TOKEN_AUTH: "true", "sasl.password": ""}
    assert beyond_librdkafka(unused | ({} if protocol is None else {"security.protocol": protocol})) is None


@pytest.mark.parametrize(
    ("more", "login"),
    [
        ({}, None),
        ({"sasl.mechanism": KERBEROS}, "sasl.mechanism=GSSAPI"),
        ({"sasl.mechanism": "SCRAM-SHA-512", TOKEN_AUTH: "true"}, "a delegation token"),
        ({"sasl.mechanism": "SCRAM-SHA-512", TOKEN_AUTH: "false"}, None),
        ({"sasl.password": ""}, "a user name or password that begins with a blank or is empty"),
        ({"sasl.username": "\tu"}, "a user name or password that begins with a blank or is empty"),
        ({"sasl.password": "p "}, None),
        ({"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.client.secret": " s"}, "a user name or password"),
    ],
)
def test_a_login_that_librdkafka_lacks_is_named(more: dict[str, str], login: str | None) -> None:
    found = beyond_librdkafka(PLAIN | more)
    assert found is None if login is None else str(found).startswith(login)


def test_kerberos_is_javas_default() -> None:
    assert beyond_librdkafka({"security.protocol": "sasl_plaintext"}) == "sasl.mechanism=GSSAPI"


@pytest.mark.parametrize("login", ["hush", " hush"])
def test_no_secret_is_in_the_name(login: str) -> None:
    assert "hush" not in str(beyond_librdkafka(PLAIN | {"sasl.password": login}))


@pytest.mark.parametrize(
    ("properties", "obstacle"),
    [
        ({}, None),
        ({"group.protocol": "classic", "partition.assignment.strategy": "roundrobin,range"}, None),
        ({"group.protocol": "consumer"}, "group.protocol=consumer"),
        ({"partition.assignment.strategy": "range,cooperative-sticky"}, "the assignor range,cooperative-sticky"),
        ({"partition.assignment.strategy": "com.x.Own"}, "the assignor com.x.Own"),
    ],
)
def test_a_group_that_only_librdkafka_can_join(properties: dict[str, str], obstacle: str | None) -> None:
    assert membership_obstacle(client_settings.read_consumer(properties).membership) == obstacle
