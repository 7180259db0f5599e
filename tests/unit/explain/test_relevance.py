"""A known difference is shown to those whom it concerns."""

from __future__ import annotations

import pytest

from legacy_mm.explain.differences import DIFFERENCES
from legacy_mm.explain.relevance import Command, always

QUIET = {
    "linger.ms": "0",
    "max.block.ms": "9223372036854775807",
    "batch.size": "262144",
    "max.in.flight.requests.per.connection": "5",
    "compression.type": "none",
}
READ = {"auto.offset.reset": "earliest"}


def shown(command: Command) -> set[str]:
    return {row.id for row in DIFFERENCES if row.applies is not always and row.applies(command)}


def test_a_file_that_spells_everything_out_concerns_nothing() -> None:
    assert shown(Command(producer=QUIET)) == set()


def test_nothing_read_nothing_said() -> None:
    assert shown(Command()) == set()


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (Command(producer=QUIET, streams=2), "buffer-memory-divided"),
        (Command(producer=QUIET | {"max.in.flight.requests.per.connection": "1"}), "in-flight-by-meaning"),
        (Command(producer=QUIET | {"max.block.ms": "60000"}), "max-block-bounds-one-wait"),
        (Command(producer=QUIET | {"batch.size": "100"}), "batch-size-by-meaning"),
        (Command(producer={name: QUIET[name] for name in QUIET if name != "compression.type"}), "codec-of-the-source"),
        (Command(producer=QUIET, consumers=[READ | {"enable.auto.commit": " TRUE"}]), "auto-commit-after-copy"),
        (Command(producer=QUIET, consumers=[READ | {"group.id": " "}]), "empty-group-id"),
        (
            Command(producer=QUIET, consumers=[READ | {"interceptor.classes": "org.apache.kafka.X, a.B"}]),
            "java-code-refused",
        ),
        (Command(producer=QUIET, consumers=[READ | {"librdkafka.x": "1"}]), "native-properties"),
        (Command(producer=QUIET, options={"consumer.rebalance.listener": ["x"]}), "listener-made-last"),
        (Command(producer=QUIET, options={"consumer.config": ["a", "b"]}), "consumer-file-once"),
        (Command(producer=QUIET | {"security.protocol": "SSL"}), "refused-while-running"),
        (
            Command(producer=QUIET | {"sasl.login.callback.handler.class": "a.B"}),
            "token-service-at-the-start",
        ),
        (Command(producer=QUIET, consumers=[READ | {"ssl.keystore.location": "client.jks"}]), "stores-renewed"),
        (Command(producer=QUIET, refused=True), "null-pointer-lines"),
        (Command(producer=QUIET | {"topic.creation": "true"}), "flags-in-client-files"),
        (Command(producer=QUIET, consumers=[READ | {"security.protocol": "SASL_SSL"}]), "logins-of-the-batches"),
        (Command(producer=QUIET, consumers=[READ | {"refresh.topics.enabled": "false"}]), "refresh-of-topics"),
        (Command(producer=QUIET, consumers=[READ, {}]), "skipped-is-reported"),
        (Command(producer=QUIET, consumers=[{"auto.offset.reset": "largest "}]), "skipped-is-reported"),
    ],
)
def test_one_reason_one_row(command: Command, wanted: str) -> None:
    assert shown(command) == {wanted}


def test_without_idempotence_one_in_flight_is_one() -> None:
    tuned = QUIET | {"max.in.flight.requests.per.connection": "1", "acks": "1"}
    assert shown(Command(producer=tuned, idempotent=False)) == set()


@pytest.mark.parametrize("name", ["batch.size", "max.in.flight.requests.per.connection"])
def test_what_is_taken_literally_is_no_difference(name: str) -> None:
    assert shown(Command(producer=QUIET | {name: "1"}, literal=True)) == set()
    assert shown(Command(producer={key: QUIET[key] for key in QUIET if key != name}, literal=True))
