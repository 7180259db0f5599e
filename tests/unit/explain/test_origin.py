"""Where the values of Java's properties come from, and why they have another one than the file."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from legacy_mm.explain.origin import Origin, ValueInForce, understood, values_in_force
from legacy_mm.words.java_clients.client_properties.apply import (
    CONSUMER_RULES,
    PRODUCER_RULES,
    RULES,
    Translated,
    apply,
)
from legacy_mm.words.java_clients.client_properties.rule import Computed, Rule, Side

BASE = {"bootstrap.servers": "127.0.0.1:1"}
IN_FLIGHT = "max.in.flight.requests.per.connection"


def producer(properties: Mapping[str, str] | None = None, streams: int = 1, literal: bool = False) -> Translated:
    return apply("producer", BASE | dict(properties or {}), streams=streams, literal=literal)


def found(client: Translated) -> dict[str, ValueInForce]:
    """Name -> what is in force; each name is there once."""
    rows = list(values_in_force(client))
    named = {row.name: row for row in rows}
    assert len(named) == len(rows)
    return named


def origins(client: Translated) -> dict[str, Origin]:
    return {name: row.origin for name, row in found(client).items()}


@pytest.mark.parametrize("side", ["consumer", "producer"])
def test_names_are_java_s(side: Side) -> None:
    client = apply(side, BASE | ({"group.id": "g"} if side == "consumer" else {}))
    assert set(found(client)) <= {row.name for row in RULES[side]}
    assert {"bootstrap.servers", "request.timeout.ms", "metadata.max.age.ms"} <= set(found(client))


@pytest.mark.parametrize(
    ("side", "name", "text", "shown"),
    [
        ("consumer", "fetch.max.wait.ms", "250", "250"),
        ("consumer", "isolation.level", "read_committed", "read_committed"),
        ("consumer", "security.protocol", "plaintext", "PLAINTEXT"),
        ("consumer", "connections.max.idle.ms", "-5", "-1"),
        ("consumer", "receive.buffer.bytes", "-1", "-1"),
        ("consumer", "send.buffer.bytes", "4096", "4096"),
        ("producer", "acks", "-1", "all"),
        ("producer", "delivery.timeout.ms", "2147483647", "2147483647"),
        ("producer", "max.block.ms", "3600000", "3600000"),
        ("producer", "max.block.ms", "9223372036854775807", "9223372036854775807"),
        ("producer", "buffer.memory", "67108864", "67108864"),
        (
            "producer",
            "partitioner.class",
            "org.apache.kafka.clients.producer.RoundRobinPartitioner",
            "org.apache.kafka.clients.producer.RoundRobinPartitioner",
        ),
        (
            "consumer",
            "partition.assignment.strategy",
            "org.apache.kafka.clients.consumer.RoundRobinAssignor",
            "org.apache.kafka.clients.consumer.RoundRobinAssignor",
        ),
    ],
)
def test_values_are_written_as_java_writes_them(side: Side, name: str, text: str, shown: str) -> None:
    row = found(apply(side, BASE | {"group.id": "g", name: text}))[name]
    assert (row.value, row.origin.names) == (shown, (name,))


def test_silence_is_a_default_or_ours() -> None:
    silent = origins(producer())
    assert silent["acks"] == Origin("default")
    assert silent["enable.idempotence"] == Origin("default")
    assert silent["linger.ms"].kind == silent["batch.size"].kind == silent[IN_FLIGHT].kind == "ours"
    assert silent["linger.ms"].reason.startswith("without effect")
    assert silent["bootstrap.servers"] == Origin("file", ("bootstrap.servers",))


def test_values_that_only_tune_say_their_reason() -> None:
    properties = {IN_FLIGHT: "1", "batch.size": "100"}
    tuned = origins(producer(properties))
    assert tuned[IN_FLIGHT] == Origin("file", (IN_FLIGHT,), "1 means order, which idempotence with five keeps")
    assert tuned["batch.size"].reason.startswith("a lower bound of ours")
    literally = origins(producer(properties, literal=True))
    assert literally[IN_FLIGHT] == Origin("file", (IN_FLIGHT,))
    assert literally["batch.size"] == Origin("file", ("batch.size",))


def test_what_decides_is_named() -> None:
    decided = origins(producer({"acks": "1", "request.timeout.ms": "9000"}))
    assert decided["enable.idempotence"] == Origin("file", ("acks",))
    assert decided[IN_FLIGHT] == Origin("file", ("acks",))
    assert decided["request.timeout.ms"] == Origin("file", ("request.timeout.ms",))
    assert decided["delivery.timeout.ms"] == Origin("default")
    shared = found(producer({"buffer.memory": "67108864"}, streams=4))["buffer.memory"]
    assert (shared.value, shared.origin.names) == ("16777216", ("buffer.memory",))
    assert shared.origin.reason.startswith("each stream has its share")


def test_a_default_spelled_out_is_the_file_s() -> None:
    assert origins(producer({"delivery.timeout.ms": "2147483647"}))["delivery.timeout.ms"].kind == "file"


def test_a_number_out_of_the_range_has_a_reason() -> None:
    client = apply(
        "consumer", BASE | {"group.id": "g", "fetch.min.bytes": "0", "retry.backoff.ms": "9223372036854775807"}
    )
    clamped = found(client)
    assert clamped["fetch.min.bytes"].value == "1"
    assert clamped["fetch.min.bytes"].origin.reason.startswith("with 0 brokers would answer at once")
    assert (clamped["retry.backoff.ms"].value, clamped["retry.backoff.ms"].origin.kind) == ("2147483647", "file")


def test_a_native_property_is_the_file_s() -> None:
    client = apply("producer", BASE | {"librdkafka.linger.ms": "7", "librdkafka.ssl.ca.location": "/ca"})
    assert origins(client)["linger.ms"] == Origin("file", ("librdkafka.linger.ms",))
    unnamed = found(client)["librdkafka.ssl.ca.location"]
    assert (unnamed.value, unnamed.origin) == ("/ca", Origin("file", ("librdkafka.ssl.ca.location",)))


def test_a_password_is_hidden() -> None:
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hush";'
    file = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": login}
    rows = found(producer(file))
    assert rows["sasl.jaas.config"].value == "[hidden]"
    assert "hush" not in repr(rows)


@pytest.mark.parametrize("row", [*CONSUMER_RULES, *PRODUCER_RULES], ids=lambda row: row.name)
def test_every_row_can_be_put_into_words(row: Rule) -> None:
    said = understood(row, row.name)
    assert said and "\n" not in said
    assert said != "translated" or isinstance(row.meaning, Computed)


def test_unknown_names() -> None:
    assert understood(None, "foo") == "unknown, ignored"
    assert understood(None, "librdkafka.x") == "read as librdkafka's x"
