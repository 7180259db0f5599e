"""What is refused before a cluster is asked."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import KERBEROS
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.flow.client_checks import check_addresses, check_logins
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.topic_features import DutyClusters
from legacy_mm.policies.logins import beyond_librdkafka
from tests.fixtures.client_settings import TOKEN_AUTH
from tests.unit.flow_settings import at_master, flow_settings, source_settings, source_with, target_with


@pytest.fixture
def settings() -> Settings:
    return flow_settings(source_settings(group_instance_id="host-a"))


@pytest.mark.parametrize("servers", ["no-such-host.invalid:9092", "x", "127.0.0.1:notaport"])
def test_bootstrap_servers_that_resolve_to_nothing(settings: Settings, servers: str) -> None:
    """As the Java client: an error at start, before any JVM is started."""
    bad = replace(settings, target=target_with(settings.target, {"bootstrap.servers": servers}))
    with pytest.raises(ConfigurationError, match="No resolvable bootstrap urls"):
        check_addresses(bad)
    check_addresses(replace(settings, source=settings.source))


def test_one_name_that_resolves_is_enough(settings: Settings) -> None:
    for servers, is_enough in (
        ("no-such-host.invalid:9092,127.0.0.1:9092", True),
        ("no-such-host.invalid:9092", False),
    ):
        target = target_with(settings.target, {"bootstrap.servers": servers})
        with nullcontext() if is_enough else pytest.raises(ConfigurationError):
            check_addresses(replace(settings, target=target))


def no_patterns(_: str) -> Any:
    """Java is not asked."""
    raise AssertionError


TOKEN = {"security.protocol": "sasl_ssl", "sasl.mechanism": "SCRAM-SHA-256", TOKEN_AUTH: "true"}
COOPERATIVE = {"partition.assignment.strategy": "cooperative-sticky"}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (COOPERATIVE, "cooperative-sticky: set partition.assignment.strategy to the range or the roundrobin assignor$"),
        ({"group.protocol": "consumer"}, "group.protocol=consumer: set group.protocol=classic$"),
        ({"group.protocol": "consumer", **COOPERATIVE}, "group.protocol=consumer: set group.protocol=classic$"),
    ],
)
def test_a_login_that_librdkafka_does_not_have(settings: Settings, source: dict[str, str], said: str) -> None:
    """Difference: logins-of-the-batches. It is refused with a membership that only librdkafka has."""
    asked = replace(settings, source=source_with(settings.source, source))
    check_logins(asked)
    with pytest.raises(ConfigurationError, match=said):
        check_logins(replace(asked, source=source_with(asked.source, TOKEN)))


def test_topics_and_rules_are_seen_to_with_a_login_of_our_own(settings: Settings) -> None:
    features = FeatureSettings(preserve_partitions=True)
    token = replace(settings, target=target_with(settings.target, TOKEN))
    check_logins(replace(token, features=features))
    clusters = DutyClusters(replace(token, features=features), FlowTopics(settings.topics, features, no_patterns))
    assert (type(clusters.source), type(clusters.target)) == (NativeAdmin, NativeAdmin)


def test_a_login_of_our_own_runs_wherever_spark_does(settings: Settings) -> None:
    token = replace(settings, target=target_with(settings.target, TOKEN))
    elsewhere = at_master(token, "spark://a:1")
    handled = replace(token, handler=HandlerSettings("x"))
    for asked in (token, elsewhere, handled):
        check_logins(asked)
        assert beyond_librdkafka(asked.target.connection) == "a delegation token"


def test_kerberos_stays_on_the_host_that_has_the_tickets(settings: Settings) -> None:
    pytest.importorskip("gssapi", reason="pip install 'legacy-mm[kerberos]' (needs Debian's libkrb5-dev)")
    kerberos = {"security.protocol": "sasl_ssl", "sasl.mechanism": KERBEROS}
    here = replace(settings, target=target_with(settings.target, kerberos))
    for master in (None, "local[8]"):
        check_logins(at_master(here, master))
    with pytest.raises(ConfigurationError, match="not possible with --spark.master"):
        check_logins(at_master(here, "spark://a:1"))
