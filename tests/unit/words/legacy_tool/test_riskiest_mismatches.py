"""The rules that come before any mapping, and the ten ways in which a Java file goes wrong on librdkafka, by name.

What needs brokers is shown elsewhere: headers and partitions in `side_by_side/test_records.py`, patterns in
`brokers/test_recorded_runs.py`, logins in `brokers/test_secrets.py`.
"""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.clients.librdkafka.client import MemberErrors, client_properties
from legacy_mm.clients.librdkafka.property_texts import property_texts, refusal
from legacy_mm.logs import events
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.java_clients.client_properties.apply import apply
from legacy_mm.words.java_clients.client_properties.rule import Side
from tests.fixtures import client_settings

SIDES: tuple[Side, Side] = ("consumer", "producer")
BASE = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
PACKAGE = Path(properties_file.__file__).parents[2]


def properties(side: Side, **given: str) -> dict[str, str]:
    """What librdkafka gets for these Java properties."""
    base = BASE if side == "consumer" else {"bootstrap.servers": "127.0.0.1:1"}
    return dict(
        client_settings.texts(apply(side, base | {name.replace("_", "."): text for name, text in given.items()}))
    )


def test_rule_1_every_value_is_trimmed() -> None:
    loaded = properties_file.loads(b"acks=all \nenable.idempotence=\ttrue\t\nretries= 5 \n")
    got = client_settings.texts(apply("producer", BASE | loaded))
    assert (got["acks"], got["enable.idempotence"], got["retries"]) == ("all", "true", "5")


@pytest.mark.parametrize("text", ["0x10", "10k", "1e3", "5.0", "4294967297", "9223372036854775807", "", "1_000"])
def test_rule_2_a_number_is_decimal_or_refused(text: str) -> None:
    assert properties("producer", retries="010")["retries"] == "10"
    with pytest.raises(ConfigurationError, match="Not a number of type INT"):
        properties("producer", retries=text)


@pytest.mark.parametrize("name", ["metadata.max.age.ms", "ssl.keystore.location", "sasl.kerberos.kinit.cmd"])
@pytest.mark.parametrize("side", SIDES)
def test_rule_4_a_false_friend_is_never_passed_on(side: Side, name: str) -> None:
    given = {"metadata.max.age.ms": "5000"}.get(name, "/tmp/x")
    assert name not in client_settings.texts(apply(side, BASE | {name: given}))


def test_rule_4_request_timeout_is_the_socket_s_and_max_poll_records_nothing() -> None:
    read = properties("consumer", request_timeout_ms="20000", max_poll_records="7")
    assert read["socket.timeout.ms"] == "20000"
    assert not {"request.timeout.ms", "max.poll.records"} & set(read)
    assert properties("producer", request_timeout_ms="20000")["socket.timeout.ms"] == "20000"


def test_rule_6_an_empty_group_id_would_end_the_process() -> None:
    """Difference empty-group-id: refused in `translate`, because no exception could be caught here."""
    text = 'from confluent_kafka import Consumer; Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": ""})'
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGABRT


@pytest.mark.parametrize(
    ("alias", "name", "text"),
    [
        ("queue.buffering.max.ms", "linger.ms", "3"),
        ("request.required.acks", "acks", "3"),
        ("message.send.max.retries", "retries", "3"),
        ("delivery.timeout.ms", "message.timeout.ms", "3"),
        ("compression.codec", "compression.type", "lz4"),
    ],
)
def test_rule_7_one_key_per_property_whatever_its_alias(alias: str, name: str, text: str) -> None:
    got = apply("producer", BASE | {f"librdkafka.{alias}": text})
    assert client_settings.texts(got)[name] == text
    assert list(got.native.given.values()) == [f"librdkafka.{alias}"]


@pytest.mark.parametrize(
    "given",
    [
        {"session.timeout.ms": "600000"},
        {"fetch.max.bytes": "1"},
        {"fetch.max.bytes": "2147483647"},
        {"reconnect.backoff.ms": "5000", "reconnect.backoff.max.ms": "10"},
        {"max.poll.interval.ms": "2147483647"},
        {"request.timeout.ms": "305000"},
        {"connections.max.idle.ms": "9223372036854775807"},
        {"metadata.max.age.ms": "9223372036854775807"},
    ],
)
def test_rule_9_what_java_takes_librdkafka_is_given_in_a_form_it_takes(given: dict[str, str]) -> None:
    made = property_texts(apply("consumer", BASE | given).consumer)
    Consumer({**made, "log_level": "0"}).close()
    assert not [name for name, text in made.items() if refusal(name, text)]


def test_risk_1_isolation_is_java_s_default() -> None:
    assert properties("consumer")["isolation.level"] == "read_uncommitted"
    assert properties("consumer", isolation_level="read_committed")["isolation.level"] == "read_committed"


def test_risk_2_a_callback_never_raises_into_librdkafka(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception in a callback that is served inside consume() loses the records in hand."""
    called: list[object] = []

    def broken(*_: object, **__: object) -> None:
        called.append(_)
        raise RuntimeError("no space left on device")

    monkeypatch.setattr(events, "emit", broken)
    monkeypatch.setattr("logging.Logger.debug", broken)
    made = client_properties(client_settings.read_connection(BASE), MemberErrors("c"))
    made["error_cb"](KafkaError(KafkaError._ALL_BROKERS_DOWN))
    made["logger"].log(3, "text %s", "x")
    assert len(called) == 2, "both have failed"


def test_risk_3_dead_scala_names_stay_dead() -> None:
    left = {"request.required.acks": "0", "message.send.max.retries": "3", "queue.buffering.max.ms": "5000"}
    assert client_settings.texts(apply("producer", BASE | left)) == client_settings.texts(apply("producer", BASE))


@pytest.mark.parametrize("given", ["", "org.apache.kafka.clients.producer.internals.DefaultPartitioner"])
def test_risk_4_keys_stay_in_their_partitions(given: str) -> None:
    assert properties("producer", partitioner_class=given)["partitioner"] == "murmur2_random"
    with pytest.raises(ConfigurationError, match=r"partitioner\.class=com\.acme\.P is not supported"):
        properties("producer", partitioner_class="com.acme.P")


def test_risk_5_nothing_calls_produce_batch() -> None:
    """It drops headers and ignores partitions."""
    named = {
        node.attr
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
    }
    assert "produce" in named
    assert "produce_batch" not in named


def test_risk_6_nothing_is_lost_or_reordered_by_a_default() -> None:
    got = properties("producer")
    assert (got["acks"], got["enable.idempotence"], got["message.timeout.ms"]) == ("all", "true", "0")
    assert got["max.in.flight.requests.per.connection"] == "5"
    assert int(got["topic.metadata.propagation.max.ms"]) > 30 * 60 * 1000
    with pytest.raises(ConfigurationError, match="keeps the order"):
        apply("producer", BASE | {"librdkafka.enable.idempotence": "false"})


def test_max_block_bounds_the_wait_for_a_topic_alone() -> None:
    """Difference max-block-bounds-one-wait."""
    assert properties("producer", max_block_ms="5000") == {
        **properties("producer"),
        "topic.metadata.propagation.max.ms": "5000",
    }


def test_risk_9_what_the_old_tool_could_copy_fits() -> None:
    assert properties("producer")["message.max.bytes"] == "1048576"
    read = properties("consumer")
    assert read["receive.message.max.bytes"] == "2147483647"


def test_risk_10_assignors_are_java_classes() -> None:
    package = "org.apache.kafka.clients.consumer."
    mixed = f"{package}RangeAssignor,{package}CooperativeStickyAssignor"
    assert properties("consumer", partition_assignment_strategy=mixed)["partition.assignment.strategy"] == "range"
    for refused in ("range", f"{package}StickyAssignor"):
        with pytest.raises(ConfigurationError):
            properties("consumer", partition_assignment_strategy=refused)
