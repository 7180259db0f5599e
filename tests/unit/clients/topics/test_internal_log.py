"""What a reader of an internal topic gets, answer by answer. The partition's log is a stand-in: what a real broker
gives at once is chance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from types import SimpleNamespace

import pytest
from typing_extensions import override

from legacy_mm.base import clock
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import CorruptRecords, HostError
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.fetch.partition_log import LogPart, LogRecord
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.clients.topics import internal_log
from legacy_mm.clients.topics.internal_log import InternalLog, decoded
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fakes.cluster import FakeCluster
from tests.fixtures import client_settings

SECONDS = 20.0
AWAY = ConnectionLost("it is down")


class Broker(FakeCluster):
    """A topic whose records are their offsets, and what each question finds in it, a second later."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.asked: list[int] = []
        self.ends: list[int] = []
        self.parts: list[tuple[list[int], int] | ConnectionLost] = []
        self.missing = False
        self.topic_id = "first"

    @override
    def refresh(self, node: int | None = None) -> None:
        pass

    @override
    def problem(self, topic: str) -> int | None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if self.missing else None

    @override
    def topic_ids(self, *, fresh: bool = True) -> Mapping[str, object]:
        return {"t": self.topic_id}

    @override
    def of(self, partitions: Collection[TopicPartition], which: int) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, self.ends.pop(0))

    def next_part(self, offset: int) -> LogPart:
        self.now += 1.0
        self.asked.append(offset)
        found = self.parts.pop(0)
        if isinstance(found, ConnectionLost):
            raise found
        offsets, after = found
        return LogPart([LogRecord(each, 0, False, b"%d" % each, b"v", ()) for each in offsets], after)


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    made = Broker()
    monkeypatch.setattr(internal_log, "Cluster", lambda *_: made)
    log = SimpleNamespace(read=made.next_part, close=made.close)
    monkeypatch.setattr(internal_log, "PartitionLog", lambda *_: log)
    monkeypatch.setattr(clock, "monotonic", lambda: made.now)
    return made


@pytest.fixture
def log(broker: Broker) -> InternalLog:
    return InternalLog(client_settings.read_connection({"bootstrap.servers": "one:1"}), "t", "test")


def read(log: InternalLog, seconds: float = SECONDS) -> list[int]:
    """What was given, also if it was not all."""
    found = []
    with suppress(HostError):
        for key, _ in log.read(Deadline.after(seconds)):
            found.append(int(key or b""))  # noqa: PERF401 - what was given before it failed counts
    return found


def test_what_is_written_while_it_is_read_is_not_lost(broker: Broker, log: InternalLog) -> None:
    broker.ends = [2, 5, 5]
    broker.parts = [([0, 1, 2, 3], 4), ([4], 5)]
    assert [read(log), read(log), read(log)] == [[0, 1, 2, 3], [4], []]


def test_the_end_may_be_behind_the_last_record(broker: Broker, log: InternalLog) -> None:
    """Compaction leaves the end where it was; so do transactions that were aborted."""
    broker.ends = [3, 3, 9]
    broker.parts = [([0], 1), ([], 3), ([5], 9)]
    assert [read(log), read(log), read(log)] == [[0], [], [5]]


def test_a_broker_that_is_away_for_a_moment_is_asked_again(broker: Broker, log: InternalLog) -> None:
    broker.ends = [4]
    broker.parts = [([0, 1], 2), AWAY, ([2, 3], 4)]
    assert read(log) == [0, 1, 2, 3]
    assert broker.asked == [0, 2, 2]


def test_a_read_that_takes_too_long_is_gone_on_with(broker: Broker, log: InternalLog) -> None:
    broker.ends = [5, 6]
    broker.parts = [([0, 1], 2), ([2], 3), AWAY, ([3, 4], 5), ([5], 6)]
    assert [read(log, seconds=3), read(log, seconds=3)] == [[0, 1, 2], [3, 4, 5]]
    assert broker.asked == [0, 2, 3, 3, 5]


def test_that_it_took_too_long_is_an_error_with_the_reason(broker: Broker, log: InternalLog) -> None:
    broker.ends, broker.parts = [5], [AWAY] * 3
    with pytest.raises(HostError, match="reading t failed: it is down"):
        list(log.read(Deadline.after(2.5)))


def test_records_that_were_not_taken_are_given_again(broker: Broker, log: InternalLog) -> None:
    broker.ends = [3, 4]
    broker.parts = [([0, 1, 2], 3), ([3], 4)]
    assert next(log.read(Deadline.after(SECONDS))) == (b"0", b"v")
    assert read(log) == [1, 2, 3]


def test_a_topic_that_is_gone_is_read_from_its_start_when_it_is_back(broker: Broker, log: InternalLog) -> None:
    broker.ends = [1, 2]
    broker.parts = [([0], 1), ([0, 1], 2)]
    assert read(log) == [0]
    broker.missing = True
    assert read(log) == []
    broker.missing = False
    assert read(log) == [0, 1]


@pytest.mark.parametrize("is_longer", [False, True])
def test_a_topic_that_was_made_again_is_read_from_its_start(broker: Broker, log: InternalLog, is_longer: bool) -> None:
    """Also where the new one has as many records: its id is another."""
    broker.ends = [2, 3 if is_longer else 1]
    broker.parts = [([0, 1], 2), ([0], 1), ([1, 2], 3)]
    assert read(log) == [0, 1]
    broker.topic_id = "second"
    assert read(log) == ([0, 1, 2] if is_longer else [0])


def test_after_close_it_is_read_from_its_start(broker: Broker, log: InternalLog) -> None:
    broker.ends, broker.parts = [1, 1], [([0], 1), ([0], 1)]
    assert read(log) == [0]
    log.close()
    assert read(log) == [0]


def test_what_cannot_be_decoded_is_skipped() -> None:
    def key_of(key: bytes | None, value: bytes | None) -> bytes:
        if key is None:
            raise CorruptRecords("no key")
        return key

    assert list(decoded([(b"a", None), (None, b"x"), (b"b", None)], key_of)) == [b"a", b"b"]
