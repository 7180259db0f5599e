"""Whether a copy was emptied: told by the offset that a record got at the target."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.dataplane.acks import Part, Piece
from legacy_mm.dataplane.empty_copies import EmptyCopies
from legacy_mm.model import EARLIEST, LATEST, TopicPartition
from tests.fakes.cluster import FakeCluster

P = TopicPartition("orders", 3)
OFFSETS: Any = None
PLACES = [TopicPartition("orders", number) for number in range(4)]


class OneTopic(FakeCluster):
    """A cluster with one topic, whose partitions end somewhere."""

    def __init__(self, ends: Mapping[int, int], count: int) -> None:
        super().__init__()
        self.become("first", ends, count)

    def become(self, topic_id: str, ends: Mapping[int, int], count: int) -> None:
        self._id, self.ends, self._count = topic_id, ends, count

    @override
    def topic_ids(self) -> Mapping[str, object]:
        return {"up.orders": self._id}

    @override
    def partitions(self, topic: str) -> int:
        return self._count

    @override
    def offsets_of_led(
        self, partitions: Collection[TopicPartition], which: int, *, patient: bool = True
    ) -> dict[TopicPartition, int]:
        assert (which, patient) == (LATEST, False)
        return {place: self.ends[place.partition] for place in partitions if place.partition in self.ends}


SOURCE = OneTopic({}, 4)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize(
    ("start", "safe", "begin", "moved", "partitions", "count"),
    [
        (400, {}, 100, False, 4, 300),  # deleted while the mirror was stopped
        (EARLIEST, {P: 400}, 100, False, 4, 300),  # deleted under the mirror
        (LATEST, {P: 400}, 100, False, 4, 300),
        (EARLIEST, {}, 100, False, 4, 0),  # the first start; what it skips with `latest` has its own line
        (LATEST, {}, 100, False, 4, 0),
        (100, {}, 100, False, 4, 0),
        (50, {}, 100, False, 4, 0),  # a gap
        (400, {}, -1, False, 4, 0),
        (400, {}, 100, True, 4, 0),  # other partitions have records of before
        (400, {}, 100, False, 6, 0),
    ],
)
def test_what_the_copy_lacks_is_told(
    start: int,
    safe: dict[TopicPartition, int],
    begin: int,
    moved: bool,
    partitions: int,
    count: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    target = OneTopic(dict.fromkeys(range(partitions), 500), partitions)
    copies = EmptyCopies({"orders": "up.orders"}, {P: start}, lambda: safe, lambda _: begin, (SOURCE, target))
    copies.first(Part(Piece(P, 500, 1), OFFSETS, None, moved))
    lines = told(caplog)
    assert len(lines) == (count > 0)
    if count:
        assert f"{P} in topic up.orders " in lines[0]
        assert f"the {count} offsets from {begin} on" in lines[0]


def first_of(place: TopicPartition) -> Part:
    return Part(Piece(place, 500, 1), OFFSETS, None, True)


def test_what_brokers_have_made_with_one_partition_lacks_all(caplog: pytest.LogCaptureFixture) -> None:
    """Each partition is told, how far it had come when the first record arrived, and once."""
    safe = {PLACES[0]: 150, PLACES[1]: 200, PLACES[2]: 100}
    target = OneTopic({0: 50, 1: 50, 2: 50, 3: 0}, 4)
    names = {"orders": "up.orders", "other": "up.other"}
    starts = dict.fromkeys([*PLACES, TopicPartition("other", 0)], 90)
    copies = EmptyCopies(names, starts, lambda: safe, lambda _: 100, (SOURCE, target))
    copies.first(first_of(PLACES[0]))
    assert told(caplog) == [], "the other partitions have what was copied before"
    target.become("second", {0: 10}, 1)
    copies.first(first_of(PLACES[1]))
    assert [line.split()[3] for line in told(caplog)] == ["orders-0", "orders-1"]
    assert ["the 50 offsets from 100" in line for line in told(caplog)] == [True, False]
    copies.first(first_of(PLACES[1]))
    assert len(told(caplog)) == 2


def test_a_partition_that_is_added_proves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A mirror that began with an empty topic has seen the first record of each partition."""
    target = OneTopic({0: 10}, 1)
    safe: dict[TopicPartition, int] = {}
    copies = EmptyCopies(
        {"orders": "up.orders"}, dict.fromkeys(PLACES, EARLIEST), lambda: safe, lambda _: 0, (SOURCE, target)
    )
    copies.first(first_of(PLACES[0]))
    safe |= dict.fromkeys(PLACES, 100)
    target.become("first", {0: 400, 1: 10}, 2)
    copies.first(first_of(PLACES[0]))
    assert told(caplog) == []


def test_nothing_is_told_where_the_target_does_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    target = OneTopic({0: 10}, 2)
    copies = EmptyCopies({"orders": "up.orders"}, dict.fromkeys(PLACES, 100), dict, lambda _: 0, (SOURCE, target))
    copies.first(first_of(PLACES[0]))
    assert told(caplog) == []
    target.ends = {0: 10, 1: 0}
    copies.first(first_of(PLACES[0]))
    assert len(told(caplog)) == 4
