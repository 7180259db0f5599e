"""What `librdkafka.<name>` means in a file: a field, a property of librdkafka's members, or nothing that could be."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.client_properties import native
from legacy_mm.words.java_clients.client_properties.apply import apply
from legacy_mm.words.java_clients.client_properties.rule import Side

BASE = {"bootstrap.servers": "127.0.0.1:1"}
TLS = {**BASE, "security.protocol": "SSL"}


@pytest.mark.parametrize("side", ["consumer", "producer"])
@pytest.mark.parametrize("file", [BASE, TLS], ids=["plaintext", "ssl"])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ssl.engine.id", "Python's ssl"),
        ("ssl.curves.list", "OPENSSL_CONF"),
        ("ssl.keystore.location", "Java's ssl.keystore.location is read"),
        ("enable.ssl.certificate.verify", "Python's ssl"),
        ("https.ca.file", "Python's ssl"),
        ("sasl.legacy_mm.token", "logs in by itself"),
        ("sasl.scram.token.auth", "logs in by itself"),
        ("sasl.oauthbearer.assertion.algorithm", "logs in by itself"),
        ("sasl.kerberos.kinit.cmd", "logs in by itself"),
    ],
)
def test_what_no_connection_would_follow_is_refused_by_its_name(
    side: Side, file: dict[str, str], name: str, why: str
) -> None:
    """Nobody but a connection of ours decides whom to trust, and who we are."""
    given = f"librdkafka.{name}"
    with pytest.raises(ConfigurationError, match=why) as refused:
        apply(side, file | {given: "x"})
    assert (refused.value.property_name, str(refused.value).startswith(given)) == (given, True)


@pytest.mark.parametrize(
    ("side", "name", "text", "allowed"),
    [
        ("producer", "ssl.endpoint.identification.algorithm", "htps", "one of none, https"),
        ("consumer", "sasl.oauthbearer.method", "odic", "one of default, oidc"),
        (
            "consumer",
            "partition.assignment.strategy",
            "sticky",
            "range, roundrobin or both, or cooperative-sticky alone",
        ),
    ],
)
def test_an_unknown_word_is_refused(side: Side, name: str, text: str, allowed: str) -> None:
    """Else host names went unchecked, or a stream ended when it joined its group."""
    given = f"librdkafka.{name}"
    with pytest.raises(ConfigurationError, match=f"{given}={text} is not possible: it must be {allowed}"):
        apply(side, TLS | {given: text})


def test_words_of_any_case_are_the_field_s() -> None:
    read = apply("producer", TLS | {"librdkafka.ssl.endpoint.identification.algorithm": "HTTPS"})
    assert read.connection.tls.endpoint_identification == "https"


def test_a_name_that_only_librdkafka_knows_is_its_members() -> None:
    file = BASE | {"librdkafka.queued.min.messages": "5", "librdkafka.broker.address.ttl": "7"}
    read = apply("consumer", file)
    assert read.consumer.further == {"queued.min.messages": "5"}
    assert read.connection.further == {"broker.address.ttl": "7"}
    assert read.native.further == {"queued.min.messages": "5", "broker.address.ttl": "7"}
    assert read.native.texts == {name: text for name, text in file.items() if name != "bootstrap.servers"}


def test_java_s_names_that_only_librdkafka_reads_are_its_members_too() -> None:
    java = {"retry.backoff.max.ms": "900000", "enable.metrics.push": "false"}
    assert apply("consumer", BASE | java).consumer.further == {
        "retry.backoff.max.ms": "300000",
        "enable.metrics.push": "false",
    }
    assert not apply("consumer", BASE | java).native.further, "they are no tuning: our membership stays"


def test_a_field_of_the_other_side_has_no_effect_in_a_producer_s_file() -> None:
    read = native.read("producer", {"librdkafka.fetch.min.bytes": "7", "librdkafka.retries": "3"})
    assert read.values == {"produce.retries": 3}
    assert native.without_effect("producer", read) == ["librdkafka.fetch.min.bytes"]
