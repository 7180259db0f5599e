"""Every name that a Java consumer or producer of 0.8 to 4.x had, and every name of the clients before them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.explain.origin import understood
from legacy_mm.words.java_clients.client_properties.apply import RULES, apply
from legacy_mm.words.java_clients.client_properties.rule import Forgotten, Side
from legacy_mm.words.legacy_tool import zookeeper_files
from tests.fixtures.client_settings import texts

SIDES: tuple[Side, Side] = ("consumer", "producer")
RECORDED = json.loads(Path(__file__).with_name("java_properties.json").read_text())
BASE = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
UNUSED = "These configurations '[{}]' were supplied but are not used yet."
UNKNOWN_THOUGH_READ = ("sasl.oauthbearer.",)
"""Of Kafka 4, and given a meaning all the same: the logins of `security` read them."""


def names(side: Side, *, in_3_9: bool | None = None) -> Iterator[str]:
    """Names of that client, possibly only those that 3.9 knows, or does not know."""
    for name, sides, _, _, known in RECORDED["properties"]:
        if side in sides.split("/") and in_3_9 in (None, known):
            yield name


def file(side: Side, **more: str) -> dict[str, str]:
    """A file that has what the client needs."""
    return {name: text for name, text in BASE.items() if side == "consumer" or name != "group.id"} | more


def said(side: Side, name: str, text: str) -> list[str]:
    """What a line of the file leads to."""
    return [note.text for note in apply(side, file(side, **{name: text})).reading.notes]


@pytest.mark.parametrize("side", SIDES)
def test_every_name_has_one_row_and_every_row_a_name(side: Side) -> None:
    rows = [rule.name for rule in RULES[side]]
    assert sorted(rows) == sorted(names(side))


@pytest.mark.parametrize("side", SIDES)
def test_names_that_3_9_does_not_know_are_reported_as_it_does_whatever_their_value(side: Side) -> None:
    unknown = {name for name in names(side, in_3_9=False) if not name.startswith(UNKNOWN_THOUGH_READ)}
    assert unknown == {rule.name for rule in RULES[side] if isinstance(rule.meaning, Forgotten)}
    for name in sorted(unknown):
        assert said(side, name, "no such value") == [UNUSED.format(name)]
        assert texts(apply(side, file(side, **{name: "1"}))) == texts(apply(side, file(side)))
        assert "ignored" in understood(next(rule for rule in RULES[side] if rule.name == name), name)


@pytest.mark.parametrize("side", SIDES)
def test_names_that_3_9_knows_are_not_reported(side: Side) -> None:
    reported = []
    for rule in RULES[side]:
        if not isinstance(rule.meaning, Forgotten):
            values = {"1", "true", "none", "latest", "all", "", "PLAIN", "127.0.0.1:1", "INFO", "classic", "PLAINTEXT"}
            for text in sorted(values):
                try:
                    reported += [rule.name] if UNUSED.format(rule.name) in said(side, rule.name, text) else []
                except ConfigurationError:  # that value is not one of this property's
                    continue
                break
    assert reported == []


@pytest.mark.parametrize("side", SIDES)
def test_names_of_the_clients_before_are_reported_and_never_passed_on(side: Side) -> None:
    """Many of them are live in librdkafka: a left-over `request.required.acks=0` would weaken every send."""
    known = set(names(side))
    for name, _ in RECORDED["before_kafka_s_own_clients"]:
        if name in known or (side, name) == ("producer", "producer.type"):
            continue
        assert said(side, name, "7") == [UNUSED.format(name)]
        assert texts(apply(side, file(side, **{name: "7"}))) == texts(apply(side, file(side)))


def test_what_old_names_are_called_today_is_shown_by_explain() -> None:
    assert understood(None, "compression.codec") == "ignored since Kafka 2; today it is compression.type"
    assert understood(None, "offsets.storage") == "unknown, ignored"
    today = {name: zookeeper_files.new_name(name) for name, _ in RECORDED["before_kafka_s_own_clients"]}
    known = {*names("consumer"), *names("producer")}
    assert {name for name in today.values() if name} <= known
