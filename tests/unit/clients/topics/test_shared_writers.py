"""Flows that write to the same topic of the same cluster share a writer, and each hears of its own records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.topics.internal_topic import OnResult
from legacy_mm.clients.topics.shared_writers import SharedWriters

HERE, THERE = (ConnectionSettings((f"127.0.0.1:{port}",), further={"a": "b"}) for port in (1, 2))


class FakeWriter:
    """Writes a record when it is told to."""

    def __init__(self, settings: ConnectionSettings, topic: str, on_result: OnResult) -> None:
        self.place = settings, topic
        self.records: list[bytes] = []
        self.closed = self.full = False
        self._on_result = on_result

    def send(self, key: bytes, value: bytes, timestamp: int | None = None) -> bool:
        self.records += [] if self.full else [key]
        return not self.full

    def write(self, reason: str | None) -> None:
        for key in self.records:
            self._on_result(key, reason)
        self.records = []

    def waiting(self) -> int:
        return len(self.records)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def made() -> list[FakeWriter]:
    return []


@pytest.fixture
def writers(made: list[FakeWriter]) -> Iterator[SharedWriters]:
    def make(*arguments: Any) -> Any:
        made.append(FakeWriter(*arguments))
        return made[-1]

    yield SharedWriters(make)


def ignore(key: bytes, reason: str | None) -> None:
    """Nobody asks."""


def test_one_writer_for_each_topic_of_a_cluster(writers: SharedWriters, made: list[FakeWriter]) -> None:
    for settings, topic in ((HERE, "a"), (HERE, "b"), (THERE, "a"), (HERE, "a")):
        writers.open(settings, topic, ignore)
    assert [each.place for each in made] == [(HERE, "a"), (HERE, "b"), (THERE, "a")]


def test_each_hears_of_its_own_records(writers: SharedWriters, made: list[FakeWriter]) -> None:
    told: list[tuple[str, bytes, str | None]] = []
    a, b = (writers.open(HERE, "t", lambda key, why, name=name: told.append((name, key, why))) for name in "ab")  # type: ignore[misc]
    assert a.send(b"1", b"") and b.send(b"2", b"")
    assert (a.waiting(), b.waiting()) == (1, 1)
    made[0].write("away")
    assert told == [("a", b"1", "away"), ("b", b"2", "away")]
    assert (a.waiting(), b.waiting()) == (0, 0)


def test_a_record_without_room_is_not_waited_for(writers: SharedWriters, made: list[FakeWriter]) -> None:
    share = writers.open(HERE, "t", ignore)
    made[0].full = True
    assert not share.send(b"1", b"")
    assert share.waiting() == 0


def test_the_last_who_leaves_closes_it(writers: SharedWriters, made: list[FakeWriter]) -> None:
    first, second = (writers.open(HERE, "t", ignore) for _ in range(2))
    closed = []
    for share in (first, second):
        share.close()
        closed.append(made[0].closed)
    assert closed == [False, True]
    writers.open(HERE, "t", ignore)
    assert len(made) == 2
