"""Where librdkafka's properties come from, and why they have another value than the file."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from legacy_mm.explain.origin import Origin, origins, understood
from legacy_mm.words.java_clients.client_properties.apply import (
    CONSUMER_RULES,
    OURS,
    PRODUCER_RULES,
    Translated,
    apply,
)
from legacy_mm.words.java_clients.client_properties.rule import Computed, Rule

BASE = {"bootstrap.servers": "127.0.0.1:1"}
IN_FLIGHT = "max.in.flight.requests.per.connection"


def producer(properties: Mapping[str, str] | None = None, streams: int = 1, literal: bool = False) -> Translated:
    return apply("producer", BASE | dict(properties or {}), streams=streams, literal=literal)


@pytest.mark.parametrize("side", ["consumer", "producer"])
def test_every_property_has_an_origin(side: str) -> None:
    client = apply("consumer" if side == "consumer" else "producer", BASE | {"group.id": "g"})
    assert set(origins(client)) == set(client.properties)


def test_silence_is_a_default_or_ours() -> None:
    found = origins(producer())
    assert found["acks"] == Origin("default")
    assert found["enable.idempotence"] == Origin("default")
    assert found["linger.ms"] == Origin("ours", (), OURS["producer"]["linger.ms"].reason)
    assert found[IN_FLIGHT].kind == "ours"
    assert found["bootstrap.servers"] == Origin("file", ("bootstrap.servers",))


def test_values_that_only_tune_say_their_reason() -> None:
    properties = {IN_FLIGHT: "1", "batch.size": "100"}
    found = origins(producer(properties))
    assert found[IN_FLIGHT] == Origin("file", (IN_FLIGHT,), "1 means order, which idempotence with five keeps")
    assert found["batch.size"].reason.startswith("a lower bound of ours")
    literally = origins(producer(properties, literal=True))
    assert literally[IN_FLIGHT] == Origin("file", (IN_FLIGHT,))
    assert literally["batch.size"] == Origin("file", ("batch.size",))


def test_what_decides_is_named() -> None:
    found = origins(producer({"acks": "1", "request.timeout.ms": "9000"}))
    assert found["enable.idempotence"] == Origin("file", ("acks",))
    assert found[IN_FLIGHT] == Origin("file", ("acks",))
    assert found["socket.timeout.ms"].names == ("request.timeout.ms",)
    assert found["message.timeout.ms"] == Origin("default")
    shared = origins(producer({"buffer.memory": "67108864"}, streams=4))
    assert shared["queue.buffering.max.kbytes"].names == ("buffer.memory",)


def test_a_default_spelled_out_is_the_file_s() -> None:
    found = origins(producer({"delivery.timeout.ms": "2147483647"}))
    assert found["message.timeout.ms"].names == ("delivery.timeout.ms",)


def test_the_nearest_value_is_called_so() -> None:
    client = apply("consumer", BASE | {"group.id": "g", "fetch.max.wait.ms": "400000", "fetch.min.bytes": "2"})
    found = origins(client)
    nearest = Origin("file", ("fetch.max.wait.ms",), "the nearest value this client has")
    assert found["fetch.wait.max.ms"] == nearest
    assert found["fetch.min.bytes"] == Origin("file", ("fetch.min.bytes",))


def test_a_native_property_is_the_file_s() -> None:
    client = apply("producer", BASE | {"librdkafka.linger.ms": "7"})
    assert origins(client)["linger.ms"] == Origin("file", ("librdkafka.linger.ms",))


@pytest.mark.parametrize("row", [*CONSUMER_RULES, *PRODUCER_RULES], ids=lambda row: row.name)
def test_every_row_can_be_put_into_words(row: Rule) -> None:
    said = understood(row, row.name)
    assert said and "\n" not in said
    assert said != "translated" or isinstance(row.meaning, Computed)


def test_unknown_names() -> None:
    assert understood(None, "foo") == "unknown, ignored"
    assert understood(None, "librdkafka.x") == "read as librdkafka's x"
