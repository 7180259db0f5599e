"""How records are shared out among several senders; the senders are stand-ins, because theirs is not the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.clients.librdkafka.client import NetworkLine
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.clients.librdkafka.sender import FailedSend, RecordSender
from legacy_mm.clients.librdkafka.senders import Senders
from legacy_mm.config import property_names
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.control_channel.frames import Measured, Statistics
from legacy_mm.model import NO_RECORDS, Columns, TopicPartition
from tests.fakes.sender import FakeSender
from tests.unit.source_records import Row, number_of, offset_of, row, rows

FAR, NEAR = 0.04, 0.001
BROKEN = FailedSend("", None, None, "reason", "_FATAL", fatal=True, refuses_idempotence=False)
PARTITIONS = [TopicPartition("t", number) for number in range(96)]


class Sender(FakeSender):
    """Takes `room` records."""

    def __init__(self, settings: ProducerSettings, report: Callable[[Statistics], None]) -> None:
        super().__init__(settings, {}, lambda failed: None)
        self.properties, self.report = property_texts(settings), report
        self.room = 1_000
        self.sent: list[Any] = []
        self.calls = 0
        self.empty, self.closed, self.purged = True, False, False
        self.broken: FailedSend | None = None
        self.far: NetworkLine | None = NetworkLine(FAR, 1)
        self.asked = 0

    @override
    def send(self, records: Columns, begin: int = 0) -> int:
        return self.send_outgoing(rows(records), begin)

    @override
    def send_outgoing(
        self, records: Sequence[Any], begin: int = 0, origins: Any = None, *, are_rows: bool = False
    ) -> int:
        assert origins == (records if are_rows else None)
        self.calls += 1
        taken = records[begin : begin + self.room]
        self.room -= len(taken)
        self.sent += taken
        return begin + len(taken)

    @override
    def line(self, *, short: float) -> NetworkLine | None:
        assert NEAR < short < FAR
        self.asked += 1
        return self.far

    @override
    def flush(self, seconds: float) -> bool:
        self.calls += 1
        return self.empty

    @override
    def fatal(self) -> FailedSend | None:
        return self.broken

    @override
    def partitions(self, topic: str) -> int:
        return 7

    @override
    def purge(self) -> None:
        self.purged = True

    @override
    def close(self) -> None:
        self.closed = True


class Group:
    """Senders for some partitions, what was made for them, and what they reported."""

    def __init__(self, partitions: Sequence[TopicPartition] = PARTITIONS[:24], **properties: str) -> None:
        self.made: list[Sender] = []
        self.reports: list[Statistics] = []
        settings = {name.replace("_", "."): value for name, value in properties.items()}
        self.senders = Senders(property_names.read_producer(settings), self._make, partitions, self.reports.append)

    def divided(self) -> Group:
        self.senders.divide()
        return self

    @property
    def now(self) -> list[Sender]:
        return [sender for sender in self.made if not sender.closed]

    def _make(self, settings: ProducerSettings, report: Callable[[Statistics], None]) -> RecordSender:
        self.made.append(Sender(settings, report))
        return self.made[-1]


def record(partition: int, number: int) -> Row:
    return row(b"%d" % number, number, partition)


def numbers(sender: Sender) -> list[int]:
    return list(map(offset_of, sender.sent))


@pytest.mark.parametrize(
    ("partitions", "leaders", "under_way", "senders"),
    [(16, 1, 5, 2), (24, 1, 5, 3), (31, 1, 5, 3), (24, 3, 5, 1), (48, 3, 5, 2), (16, 2, 5, 1), (96, 1, 5, 8)],
)
def test_on_a_long_line_each_has_eight_partitions_at_each_leader(
    partitions: int, leaders: int, under_way: int, senders: int
) -> None:
    group = Group(PARTITIONS[:partitions], max_in_flight_requests_per_connection=str(under_way))
    undecided = group.senders.undecided
    group.made[0].far = NetworkLine(FAR, leaders)
    group.divided()
    assert (undecided, group.senders.undecided) == (True, False)
    assert len(group.now) == senders
    assert group.senders.several == (senders > 1)


@pytest.mark.parametrize("line", [NetworkLine(NEAR, 1), None], ids=["a short line", "nobody answers"])
def test_else_the_one_sender_stays(line: NetworkLine | None) -> None:
    group = Group()
    group.made[0].far = line
    group.divided()
    assert group.now == group.made
    assert (len(group.made), group.made[0].asked, group.senders.undecided) == (1, 1, False)


def test_nothing_is_asked_for_few_partitions() -> None:
    assert not Group(PARTITIONS[:15]).senders.undecided
    assert not Group([]).senders.undecided


def test_who_asks_for_one_request_under_way_has_one() -> None:
    assert not Group(max_in_flight_requests_per_connection="1").senders.undecided


def test_the_senders_share_the_memory_but_each_can_hold_the_largest_record() -> None:
    group = Group(queue_buffering_max_kbytes="9000").divided()
    assert [sender.properties["queue.buffering.max.kbytes"] for sender in group.made] == ["9000", *["3000"] * 3]
    group = Group(queue_buffering_max_kbytes="9000", message_max_bytes=str(5 << 20)).divided()
    assert {sender.properties["queue.buffering.max.kbytes"] for sender in group.now} == {"5120"}
    group = Group(queue_buffering_max_kbytes="1000", message_max_bytes=str(5 << 20)).divided()
    assert {sender.properties["queue.buffering.max.kbytes"] for sender in group.now} == {"1000"}
    # librdkafka would have such a record wait for room for ever
    assert {sender.properties["message.max.bytes"] for sender in group.made} == {str(1000 << 10)}


@pytest.mark.parametrize(("outgoing", "are_rows"), [(False, False), (True, False), (True, True)])
def test_a_partition_keeps_its_sender_and_its_order(*, outgoing: bool, are_rows: bool) -> None:
    group = Group().divided()
    records = [record(number % 5 // 2 * 2 + number % 2, number) for number in range(200)]
    if outgoing:
        assert group.senders.send_outgoing(records, 3, records, are_rows=are_rows) == 200
    else:
        assert group.senders.send(Columns.from_rows(records), 3) == 200
    assert sorted(number for sender in group.now for number in numbers(sender)) == list(range(3, 200))
    owners = [{*map(number_of, sender.sent)} for sender in group.now]
    assert all(owners)
    assert sum(map(len, owners)) == len(set.union(*owners))
    for sender in group.now:
        assert numbers(sender) == sorted(numbers(sender))


def test_behind_a_record_that_does_not_fit_none_is_sent() -> None:
    """What is reported as sent is always the beginning."""
    group = Group().divided()
    first, second, _ = group.now
    first.room = 3
    records = Columns.from_rows([record(number // 2 % 2, number) for number in range(12)])
    assert group.senders.send(records) == 5
    assert numbers(first) == [0, 1, 4]
    assert numbers(second) == [2, 3]
    first.room = 100
    assert group.senders.send(records, 5) == 12
    assert numbers(first) == [0, 1, 4, 5, 8, 9]


def test_who_has_nothing_to_send_is_called_nevertheless() -> None:
    """librdkafka tells its errors only then."""
    group = Group().divided()
    group.senders.send(Columns.from_rows([record(0, 1)]))
    assert [sender.calls for sender in group.now] == [1, 1, 1]
    group.senders.send(NO_RECORDS)
    assert [sender.calls for sender in group.now] == [2, 2, 2]


def test_all_is_acknowledged_when_each_has_it_and_one_that_cannot_go_on_is_heard() -> None:
    group = Group().divided()
    assert group.senders.flush(1.0)
    group.now[0].empty = False
    assert not group.senders.flush(1.0)
    assert [sender.calls for sender in group.now] == [2, 2, 2]
    assert group.senders.fatal() is None
    group.now[2].broken = BROKEN
    assert group.senders.fatal() is BROKEN
    group.senders.purge()
    assert all(sender.purged for sender in group.now)
    assert group.senders.partitions("t") == 7


def test_statistics_tell_which_sender_they_are_of() -> None:
    """What the closed one counted stays, and what it said of the present is over."""
    group = Group()
    counted, trips = {"sent_records": 3}, {"latency_ms": (1.0, 1.0, 1.0, 1.0)}
    told = Measured("client", "", counted, {"connections": 2}, trips, {"metadata": 9})
    group.made[0].report(Statistics("producer", [told]))
    group.divided()
    over = Measured("client", "", counted, {"connections": 0}, {}, {})
    assert group.reports == [Statistics("producer", [told]), Statistics("producer", [over])]
    for sender in group.now:
        sender.report(Statistics("producer", [told]))
    assert [report.number for report in group.reports[2:]] == [1, 2, 3]
