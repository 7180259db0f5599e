"""A known difference is shown to those whom it concerns."""

from __future__ import annotations

import pytest

from legacy_mm.explain.differences import DIFFERENCES
from legacy_mm.explain.relevance import CommandLine, always, any_of, both, either_file, option, producer
from legacy_mm.features.rows import BY_NAME
from legacy_mm.words.java_clients.client_properties.apply import RULES
from legacy_mm.words.legacy_tool.legacy_options import ROWS
from legacy_mm.words.options.option_catalogue import ALL_OPTIONS

QUIET = {
    "linger.ms": "0",
    "max.block.ms": "9223372036854775807",
    "batch.size": "983040",
    "max.in.flight.requests.per.connection": "5",
    "compression.type": "none",
}
READ = {"auto.offset.reset": "earliest"}


def shown(command: CommandLine) -> set[str]:
    return {row.id for row in DIFFERENCES if row.applies is not always and row.applies(command)}


def test_a_file_that_spells_everything_out_concerns_nothing() -> None:
    assert shown(CommandLine(producer=QUIET)) == set()


def test_nothing_read_nothing_said() -> None:
    assert shown(CommandLine()) == set()


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (CommandLine(producer=QUIET, streams=2), "buffer-memory-divided"),
        (CommandLine(producer=QUIET | {"max.in.flight.requests.per.connection": "1"}), "in-flight-by-meaning"),
        (CommandLine(producer=QUIET | {"max.block.ms": "60000"}), "max-block-bounds-one-wait"),
        (CommandLine(producer=QUIET | {"batch.size": "100"}), "batch-size-by-meaning"),
        (
            CommandLine(producer={name: QUIET[name] for name in QUIET if name != "compression.type"}),
            "codec-of-the-source",
        ),
        (CommandLine(producer=QUIET, consumers=[READ | {"enable.auto.commit": " TRUE"}]), "auto-commit-after-copy"),
        (CommandLine(producer=QUIET, consumers=[READ | {"group.id": " "}]), "empty-group-id"),
        (
            CommandLine(producer=QUIET, consumers=[READ | {"interceptor.classes": "org.apache.kafka.X, a.B"}]),
            "java-code-refused",
        ),
        (CommandLine(producer=QUIET, consumers=[READ | {"librdkafka.x": "1"}]), "native-properties"),
        (CommandLine(producer=QUIET, options={"consumer.rebalance.listener": ["x"]}), "listener-made-last"),
        (CommandLine(producer=QUIET, options={"consumer.config": ["a", "b"]}), "consumer-file-once"),
        (CommandLine(producer=QUIET | {"security.protocol": "SSL"}), "refused-while-running"),
        (
            CommandLine(producer=QUIET | {"sasl.login.callback.handler.class": "a.B"}),
            "token-service-at-the-start",
        ),
        (CommandLine(producer=QUIET, consumers=[READ | {"ssl.keystore.location": "client.jks"}]), "stores-renewed"),
        (CommandLine(producer=QUIET, refused=True), "null-pointer-lines"),
        (CommandLine(producer=QUIET | {"topic.creation": "true"}), "flags-in-client-files"),
        (CommandLine(producer=QUIET, consumers=[READ | {"security.protocol": "SASL_SSL"}]), "logins-of-the-batches"),
        (CommandLine(producer=QUIET, consumers=[READ | {"refresh.topics.enabled": "false"}]), "refresh-of-topics"),
        (CommandLine(producer=QUIET, consumers=[READ, {}]), "skipped-is-reported"),
        (CommandLine(producer=QUIET, consumers=[{"auto.offset.reset": "largest "}]), "skipped-is-reported"),
    ],
)
def test_one_reason_one_row(command: CommandLine, wanted: str) -> None:
    assert shown(command) == {wanted}


def test_without_idempotence_one_in_flight_is_one() -> None:
    tuned = QUIET | {"max.in.flight.requests.per.connection": "1", "acks": "1"}
    assert shown(CommandLine(producer=tuned, idempotent=False)) == set()


@pytest.mark.parametrize("name", ["batch.size", "max.in.flight.requests.per.connection"])
def test_what_is_taken_literally_is_no_difference(name: str) -> None:
    assert shown(CommandLine(producer=QUIET | {name: "1"}, literal=True)) == set()
    assert shown(CommandLine(producer={key: QUIET[key] for key in QUIET if key != name}, literal=True))


def test_a_question_names_what_its_answer_depends_on() -> None:
    assert option("message.handler").labels == ("`--message.handler`",)
    assert both(producer("acks"), any_of(producer("acks"), option("a"))).labels == ("`acks`", "`--a`")
    assert either_file("a", "b", summary="two of them").labels == ("two of them",)
    assert always.labels == ("every mirror",)


def test_every_row_says_what_it_concerns() -> None:
    """A name is one that the legacy tool's options, our options or the clients' properties have."""
    options = {f"--{name}" for name in (*(row.option.name for row in ROWS), *(row.name for row in ALL_OPTIONS))}
    properties = {rule.name for rows in RULES.values() for rule in rows} | {*BY_NAME, "librdkafka.*"}
    for row in DIFFERENCES:
        assert row.applies.labels
        assert {*row.applies.concerns} <= options | properties, row.id
