"""What a reader of an internal topic gets, poll by poll. librdkafka's consumer is a stand-in: what a real one
finds at once is chance.
"""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from legacy_mm import clock
from legacy_mm.clients.librdkafka import internal_log
from legacy_mm.clients.librdkafka.internal_log import InternalLog
from legacy_mm.clock import Deadline
from legacy_mm.config import property_names
from legacy_mm.errors import HostError

SECONDS = 20.0
Poll = list[int | KafkaError]


class Broker:
    """A topic whose records are their offsets, and what each question of a consumer finds in it, a second later."""

    def __init__(self) -> None:
        self.now = 100.0
        self.assigned: list[int] = []
        self.ends: list[int] = []
        self.polls: list[Poll] = []

    def __call__(self, settings: Any) -> Broker:
        return self

    def assign(self, partitions: list[Any]) -> None:
        self.assigned += [each.offset for each in partitions]

    def get_watermark_offsets(self, place: Any, timeout: float) -> tuple[int, int]:
        return 0, self.ends.pop(0)

    def consume(self, count: int, timeout: float) -> list[Any]:
        self.now += 1.0
        return [_message(each) for each in self.polls.pop(0)]

    def close(self) -> None:
        pass


def _message(given: int | KafkaError) -> Any:
    error = given if isinstance(given, KafkaError) else None
    offset = int(given.str()) if isinstance(given, KafkaError) else given
    fields = {"error": error, "offset": offset, "key": b"%d" % offset, "value": b"v"}
    return SimpleNamespace(**{name: lambda value=value: value for name, value in fields.items()})


def end(offset: int) -> KafkaError:
    """What librdkafka says at the end of a partition."""
    return KafkaError(KafkaError._PARTITION_EOF, str(offset))


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    made = Broker()
    monkeypatch.setattr(internal_log, "Consumer", made)
    monkeypatch.setattr(clock, "monotonic", lambda: made.now)
    return made


@pytest.fixture
def log() -> InternalLog:
    return InternalLog(property_names.read_connection({"bootstrap.servers": "one:1"}), "t", "test")


def read(log: InternalLog, seconds: float = SECONDS) -> list[int]:
    """What was given, also if it was not all."""
    found = []
    with suppress(HostError):
        for key, _ in log.read(Deadline.after(seconds)):
            found.append(int(key or b""))  # noqa: PERF401 - what was given before it failed counts
    return found


def test_what_is_written_while_it_is_read_is_not_lost(broker: Broker, log: InternalLog) -> None:
    broker.ends = [2, 5, 5]
    broker.polls = [[0, 1, end(2), 2, 3], [4]]
    assert [read(log), read(log), read(log)] == [[0, 1, 2, 3], [4], []]


def test_the_end_may_be_behind_the_last_record(broker: Broker, log: InternalLog) -> None:
    """Compaction leaves the end where it was; so do transactions that were aborted."""
    broker.ends = [3, 3, 9]
    broker.polls = [[0], [], [end(3)], [5, end(9)]]
    assert [read(log), read(log), read(log)] == [[0], [], [5]]


def test_a_read_that_takes_too_long_is_gone_on_with(broker: Broker, log: InternalLog) -> None:
    broker.ends = [5, 6]
    broker.polls = [[0, 1], [2], [3, 4], [5]]
    assert [read(log, seconds=2), read(log, seconds=2)] == [[0, 1, 2], [3, 4, 5]]
    assert broker.assigned == [0, 3]


def test_records_that_were_not_taken_are_given_again(broker: Broker, log: InternalLog) -> None:
    broker.ends = [3, 4]
    broker.polls = [[0, 1, 2], [3]]
    assert next(log.read(Deadline.after(SECONDS))) == (b"0", b"v")
    assert read(log) == [1, 2, 3]


def test_a_topic_that_is_gone_is_read_from_its_start_when_it_is_back(broker: Broker, log: InternalLog) -> None:
    broker.ends = [3, 2]
    broker.polls = [[0, KafkaError(KafkaError._UNKNOWN_PARTITION, "1")], [0, 1]]
    assert [read(log), read(log)] == [[0], [0, 1]]
    assert broker.assigned == [0, 0]
