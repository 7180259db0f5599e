"""What the `records` engine may send: records of a topic that the target lacks wait at the source, others do not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from legacy_mm.config import property_names
from legacy_mm.config.settings import HandlerSettings
from legacy_mm.control_channel.frames import TaskConfig
from legacy_mm.dataplane.target_gate import TargetGate
from legacy_mm.dataplane.unmade_topics import UnmadeTopics
from legacy_mm.handlers.api import CREATE_TIME
from legacy_mm.logs.events import NOT_COPIED
from legacy_mm.model import Columns, TopicPartition
from tests.fakes.reader import FakeReader

MISSING = "UNKNOWN_TOPIC_OR_PARTITION"
A, B, B1 = TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("b", 1)


class Gate:
    """A gate between a source of `a` and `b`, and a target that has topic `a`."""

    def __init__(
        self, names: Mapping[str, str], target: Mapping[str, str], to_be_made: Collection[str] = (), **more: Any
    ) -> None:
        consumer = property_names.read_consumer({})
        producer = property_names.read_producer({"retry.backoff.ms": "0", **target})
        config = TaskConfig({}, names, consumer, producer, 5.0, 60.0, True, False, **more)
        self.source = FakeReader()
        self.problems: dict[str, str | None] = {names["b"]: MISSING}
        self.to_be_made = set(to_be_made)
        unmade = UnmadeTopics(config, lambda topics: self.to_be_made & set(topics))
        self.gate = TargetGate(config, self.source, lambda topic: self.problems.get(topic, ""), unmade)

    def passed(
        self, batch: Columns, positions: Mapping[TopicPartition, int] | None = None
    ) -> list[tuple[str, int, int]]:
        return [row[:3] for row in self.gate.passed(batch, positions or {}).rows()]

    def tend(self) -> None:
        self.gate.tend(lambda: {A: 1})


@pytest.fixture(autouse=True)
def _each_look_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("legacy_mm.dataplane.retry_backoff._MOST_BACKOFF", 0.0)
    monkeypatch.setattr("legacy_mm.dataplane.unmade_topics._LOOK_INTERVAL", 0.0)


@pytest.fixture
def gate() -> Gate:
    return Gate({"a": "a", "b": "b"}, {})


def columns(*places: tuple[TopicPartition, int]) -> Columns:
    return Columns.from_rows([(*place, offset, CREATE_TIME, 0, b"k", b"v", ()) for place, offset in places])


MIXED = columns((A, 5), (B, 7), (B1, 2), (B, 8), (A, 6))


def test_only_what_is_missing_waits(gate: Gate) -> None:
    assert gate.passed(MIXED, {B: 7, A: 5}) == [("a", 0, 5), ("a", 0, 6)]
    assert gate.source.held == {B: 7, B1: 2}
    assert gate.source.positions == {A: 7, B: 7, B1: 2}, "the others go on, the held ones stand at their first record"


def test_it_is_read_again_from_there_once_the_topic_is_there(gate: Gate) -> None:
    gate.passed(MIXED)
    gate.tend()
    assert gate.source.held == {B: 7, B1: 2}
    assert gate.gate.reasons == {"b": MISSING}
    gate.problems["b"] = ""
    gate.tend()
    assert (gate.source.held, gate.source.positions, gate.gate.reasons) == ({}, {A: 1}, {})
    assert gate.passed(columns((B, 7))) == [("b", 0, 7)]


def test_what_resumes_elsewhere_is_forgotten(gate: Gate) -> None:
    gate.passed(columns((B, 7), (B1, 2)))
    gate.gate.forget(B)
    del gate.source.held[B]
    gate.problems["b"] = ""
    gate.tend()
    assert gate.source.held == {}


def test_without_an_answer_records_pass_and_the_target_is_asked_again(gate: Gate) -> None:
    """librdkafka waits for it then; nothing is known to be missing."""
    gate.problems["b"] = None
    assert len(gate.passed(columns((B, 7)))) == 1
    gate.problems["b"] = MISSING
    assert gate.passed(columns((B, 8))) == []


@pytest.mark.parametrize(
    ("problem", "copy", "passes"),
    [
        ("TOPIC_AUTHORIZATION_FAILED", "b", True),
        ("INVALID_TOPIC_EXCEPTION", "b", True),
        ("INVALID_TOPIC_EXCEPTION", "w.b", False),
        (MISSING, "w.b", False),
    ],
)
def test_what_no_waiting_mends_is_left_to_the_sender(problem: str, copy: str, passes: bool) -> None:
    """Its records fail there, as in Java; a name that renaming made is waited for."""
    gate = Gate({"a": "a", "b": copy}, {})
    gate.problems = {copy: problem}
    assert bool(gate.passed(columns((B, 7)))) is passes


def test_a_topic_that_is_missing_for_too_long_is_left_to_the_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [50.0]
    monkeypatch.setattr("legacy_mm.clock.monotonic", lambda: now[0])
    gate = Gate({"a": "a", "b": "b"}, {"message.timeout.ms": "120000"})
    assert gate.passed(columns((B, 7))) == []
    now[0] += 1_000_000.0
    gate.tend()
    assert gate.source.held == {}


def test_a_topic_that_a_duty_makes_is_not_asked_for() -> None:
    """A broker would make it with its own defaults."""
    gate = Gate({"a": "a", "b": "b"}, {}, ["b"], topics_made=True, keeps_partition=frozenset({"b"}))
    gate.problems["b"] = ""
    assert gate.passed(columns((B, 7))) == []
    assert gate.gate.reasons == {"b": "topic.creation has not made it yet"}
    gate.to_be_made.clear()
    gate.tend()
    assert gate.source.held == {}


def test_a_topic_that_is_gone_is_shut_and_asked_for_anew(gate: Gate) -> None:
    gate.problems["b"] = ""
    assert len(gate.passed(MIXED)) == 5
    gate.problems["b"] = MISSING
    assert len(gate.passed(MIXED)) == 5, "one that was open is not asked for with each batch"
    assert gate.gate.shut(["a", "b"]) == ["b"]
    assert len(gate.passed(MIXED)) == 2


def test_a_handlers_topics_have_the_names_of_the_target() -> None:
    gate = Gate({"a": "w.a", "b": "w.b"}, {}, handler=HandlerSettings("x"))
    gate.problems = {"b": MISSING}
    gate.gate.expect(["b", "other"])
    assert gate.gate.reasons == {"b": MISSING}


def test_at_the_end_it_is_told_what_waited(gate: Gate, caplog: pytest.LogCaptureFixture) -> None:
    gate.passed(MIXED)
    gate.gate.tell_of_the_end()
    (line,) = (vars(line) for line in caplog.records)
    assert line["event"] == NOT_COPIED
    assert line["fields"] == {"topic": "b", "partitions": 2, "reason": MISSING}


def test_at_the_end_nothing_is_told_of_what_was_copied(gate: Gate, caplog: pytest.LogCaptureFixture) -> None:
    gate.problems = {}
    gate.passed(MIXED)
    gate.gate.tell_of_the_end()
    assert caplog.records == []
