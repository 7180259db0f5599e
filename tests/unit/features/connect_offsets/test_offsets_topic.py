"""The one book of a flow's positions: who is believed, what is written, what becomes of a refusal."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import MembershipSettings
from legacy_mm.base.model import EARLIEST, CommittedOffset, TopicPartition
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.features.connect_offsets import stored_positions as records
from legacy_mm.features.connect_offsets.feature import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.offset_records import Connector, key_of, value_of
from legacy_mm.features.connect_offsets.offsets_topic import FORGOTTEN, OffsetsTopic
from legacy_mm.features.connect_offsets.source_logs import Examined
from legacy_mm.features.connect_offsets.stored_positions import MARK, SourceLog, StoredPosition
from tests.fakes.internal_topic import FakeInternalTopic

SETTINGS = ConnectOffsetSettings("stored", 25, 1, "MirrorSourceConnector", "A", MembershipSettings("A-mm2"))
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
LOG = SourceLog("cluster", "id")


def record(place: TopicPartition, value: bytes | None, mark: bytes | None = None, *, cluster: str = "A") -> LogRecord:
    headers = () if mark is None else ((MARK.encode(), mark),)
    return LogRecord(0, 1_000, False, key_of(Connector("MirrorSourceConnector", cluster), place), value, headers)


class Topic:
    """The topic and the source, as the book sees them."""

    def __init__(self, *there: LogRecord, partitions: int = 25, foreign: Mapping[TopicPartition, str] = {}) -> None:
        self.written = FakeInternalTopic()
        self.made = 0
        self.outcomes: list[tuple[TopicPartition, int, str | None]] = []
        self.unreadable = False
        self.log = LOG
        self._there = {each.key or b"": each for each in there}
        self._partitions = partitions
        self._foreign = foreign
        self.book = OffsetsTopic(SETTINGS, self, self, self._writer)

    def read(self, silence: float) -> Mapping[bytes, LogRecord]:
        if self.unreadable:
            raise HostError("reading failed")
        return self._there

    def partitions(self) -> int:
        return self._partitions

    def logs(self, topics: Collection[str]) -> Mapping[str, SourceLog]:
        return dict.fromkeys(topics, self.log)

    def examine(self, positions: Mapping[TopicPartition, StoredPosition], topics: Collection[str]) -> Examined:
        return Examined(self.logs(topics), {each: why for each, why in self._foreign.items() if each in positions})

    def write(self, offsets: Mapping[TopicPartition, int], metadata: str = "") -> list[Any]:
        self.book.write(offsets, metadata, lambda *outcome: self.outcomes.append(outcome))
        self.book.poll()
        return self.outcomes

    def _writer(self, on_result: Any) -> FakeInternalTopic:
        self.made += 1
        return self.written.writer(on_result)


@pytest.mark.parametrize(
    ("there", "positions"),
    [
        ([], {}),
        ([record(T0, value_of(41))], {T0: CommittedOffset(42)}),
        ([record(T0, value_of(41), records.mark(LOG, "m")), record(T1, value_of(0))], {T0: (42, "m"), T1: (1, "")}),
        ([record(T0, value_of(41), None), record(T1, value_of(-1), b"")], {T0: (42, ""), T1: (0, "")}),
        ([record(T0, value_of(-1))], {}),
        ([record(T0, None)], {}),
        ([record(T0, b"not JSON"), record(T1, b'{"offset":"7"}')], {}),
        ([record(T0, value_of(41), cluster="C")], {}),
        ([record(T0, value_of(41), b"not JSON")], {T0: (42, "")}),
    ],
    ids=["empty", "theirs", "ours", "ours at 0", "none of theirs", "taken back", "of others", "flow", "odd mark"],
)
def test_the_last_word_is_believed_whoever_wrote_it(
    there: list[LogRecord], positions: dict[TopicPartition, CommittedOffset]
) -> None:
    assert Topic(*there).book.positions([T0, T1], 1.0) == positions


def test_a_position_of_another_log_is_none_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    topic = Topic(record(T0, value_of(41)), record(T1, value_of(6)), foreign={T0: "the log ends at offset 7"})
    assert topic.book.positions([T0, T1], 1.0) == {T0: (EARLIEST, ""), T1: (7, "")}
    assert caplog.messages == [
        "Offset 42 of t-0 in topic stored is not of the log that the source has now, so it is copied from its first "
        "record: the log ends at offset 7",
        "The flow continues where MirrorMaker 2 has stopped: 1 partitions from topic stored",
    ]


def test_a_topic_that_cannot_be_read_gives_no_position() -> None:
    topic = Topic(record(T0, value_of(41)))
    topic.unreadable = True
    with pytest.raises(HostError):
        topic.book.positions([T0], 1.0)


def test_a_position_is_written_as_mirror_maker_2_writes_it_and_with_a_mark() -> None:
    topic = Topic()
    topic.book.positions([T0, T1], 1.0)
    assert topic.write({T0: 43, T1: 0}, "m") == [(T0, 43, None), (T1, 0, None)]
    keys = [b'["MirrorSourceConnector",{"cluster":"A","partition":%d,"topic":"t"}]' % number for number in (0, 1)]
    assert topic.written.written == [(keys[0], b'{"offset":42}'), (keys[1], b'{"offset":-1}')]
    mark = b'{"cluster":"cluster","topic_id":"id","metadata":"m"}'
    assert [headers for _, headers in topic.written.places] == [((MARK, mark),)] * 2


@pytest.mark.parametrize("partitions", [1, 10, 25, 50])
def test_a_key_goes_where_java_puts_it_whatever_the_file_says(partitions: int) -> None:
    topic = Topic(partitions=partitions)
    for offset in (1, 2):
        topic.write({TopicPartition("orders-1", 3): offset})
    java = {1: 0, 10: 4, 25: 24, 50: 24}  # Utils.toPositive(Utils.murmur2(key)) % partitions, by Kafka 3.9.1
    assert [partition for partition, _ in topic.written.places] == [java[partitions]] * 2


def test_what_finds_no_room_waits_and_the_latest_counts() -> None:
    topic = Topic()
    topic.written.full = True
    assert topic.write({T0: 1, T1: 1}) == []
    topic.written.full = False
    assert topic.write({T0: 2}) == [(T0, 2, None), (T1, 1, None)]
    assert len(topic.written.written) == 2


def test_a_refusal_names_the_topic_and_is_told() -> None:
    topic = Topic()
    topic.written.refuses = "TOPIC_AUTHORIZATION_FAILED"
    assert topic.write({T0: 1}) == [(T0, 1, "topic stored: TOPIC_AUTHORIZATION_FAILED")]
    assert topic.book.flush(Deadline.after(0.1))


def test_nothing_is_written_into_a_topic_that_is_missing() -> None:
    topic = Topic(partitions=0)
    assert topic.write({T0: 1}) == [(T0, 1, "topic stored is missing at the target")]
    assert topic.made == 0


def test_a_partition_that_goes_on_elsewhere_is_of_the_log_of_then() -> None:
    topic = Topic()
    topic.book.positions([T0, T1], 1.0)
    topic.log = SourceLog("cluster", "another")
    topic.book.moved([T0])
    topic.write({T0: 5, T1: 6})
    assert [b'"another"' in (headers[0][1] or b"") for _, headers in topic.written.places] == [True, False]


def test_every_position_of_the_flow() -> None:
    there = record(T0, value_of(1)), record(TopicPartition("gone", 0), None)
    topic = Topic(*there, record(TopicPartition("c", 0), value_of(1), cluster="C"))
    assert topic.book.every_position(1.0) == {T0: (2, "")}


def test_a_position_that_is_forgotten_is_a_record_without_a_value() -> None:
    """MirrorMaker 2 reads it as none, too."""
    topic = Topic()
    topic.write({T0: 7, T1: FORGOTTEN})
    assert [value is None for _, value in topic.written.written] == [False, True]
    assert topic.outcomes == [(T0, 7, None), (T1, FORGOTTEN, None)]
