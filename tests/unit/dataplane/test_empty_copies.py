"""Whether a copy was emptied: told by the offset that a record got at the target."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.base.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.clients.cluster.topology import Broker
from legacy_mm.dataplane.acks import Part, Piece
from legacy_mm.dataplane.empty_copies import Copying, EmptyCopies
from legacy_mm.dataplane.keep_alive import KeepAlive
from legacy_mm.logs import events
from tests.fakes.cluster import FakeCluster

P = TopicPartition("orders", 3)
OFFSETS: Any = None
PLACES = [TopicPartition("orders", number) for number in range(4)]


class OneTopic(FakeCluster):
    """A cluster with one topic, whose partitions end somewhere."""

    def __init__(self, ends: Mapping[int, int], count: int) -> None:
        super().__init__()
        self.asked = 0
        self.become("first", ends, count)

    @override
    def leader(self, partition: TopicPartition) -> Broker | None:
        return Broker(1, "there", 1, None) if partition.partition in self.ends else None

    def become(self, topic_id: str, ends: Mapping[int, int], count: int) -> None:
        self._id, self.ends, self._count = topic_id, ends, count

    @override
    def topic_ids(self, *, fresh: bool = True) -> Mapping[str, object]:
        return {"up.orders": self._id}

    @override
    def partitions(self, topic: str) -> int:
        return self._count

    @override
    def of_led(
        self, partitions: Collection[TopicPartition], which: int, *, patient: bool = True
    ) -> dict[TopicPartition, int]:
        assert (which, patient) == (LATEST, False)
        self.asked += 1
        return {place: self.ends[place.partition] for place in partitions if place.partition in self.ends}


SOURCE = OneTopic({}, 4)


NAMES = {"orders": "up.orders"}


def copies_of(copying: Copying, target: OneTopic) -> EmptyCopies:
    return EmptyCopies(copying, (SOURCE, target), KeepAlive(lambda: None))


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
    copies = copies_of(Copying(NAMES, {P: start}, lambda: safe, lambda _: begin), target)
    copies.acknowledged(Part(Piece(P, 500, 1), OFFSETS, None, moved), 0)
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
    copies = copies_of(Copying(names, starts, lambda: safe, lambda _: 100), target)
    copies.acknowledged(first_of(PLACES[0]), 0)
    assert told(caplog) == [], "the other partitions have what was copied before"
    target.become("second", {0: 10}, 1)
    copies.acknowledged(first_of(PLACES[1]), 0)
    assert [line.split()[3] for line in told(caplog)] == ["orders-0", "orders-1"]
    assert ["the 50 offsets from 100" in line for line in told(caplog)] == [True, False]
    copies.acknowledged(first_of(PLACES[1]), 0)
    assert len(told(caplog)) == 2


def test_a_partition_that_is_added_proves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A mirror that began with an empty topic has seen the first record of each partition."""
    target = OneTopic({0: 10}, 1)
    safe: dict[TopicPartition, int] = {}
    copies = copies_of(Copying(NAMES, dict.fromkeys(PLACES, EARLIEST), lambda: safe, lambda _: 0), target)
    copies.acknowledged(first_of(PLACES[0]), 0)
    safe |= dict.fromkeys(PLACES, 100)
    target.become("first", {0: 400, 1: 10}, 2)
    copies.acknowledged(first_of(PLACES[0]), 0)
    assert told(caplog) == []


def test_a_partition_of_a_topic_that_we_have_begun_may_get_its_first_record_late(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Keys took the first records of the source's partition to others. One that is empty again has lost something."""
    target = OneTopic(dict.fromkeys(range(4), 10), 4)
    safe: dict[TopicPartition, int] = {}
    copies = copies_of(Copying(NAMES, {P: EARLIEST}, lambda: safe, lambda _: 0), target)
    copies.acknowledged(first_of(P), 0)
    safe[P] = 100
    own = Part(Piece(P, 500, 1), OFFSETS, None)
    copies.acknowledged(own, 0)
    assert told(caplog) == []
    copies.acknowledged(own, 0)
    assert len(told(caplog)) == 1, "also where the new topic's id is not known yet"


def test_nothing_is_told_where_the_target_does_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    target = OneTopic({0: 10}, 2)
    copies = copies_of(Copying(NAMES, dict.fromkeys(PLACES, 100), dict, lambda _: 0), target)
    copies.acknowledged(first_of(PLACES[0]), 0)
    assert told(caplog) == []
    target.ends = {0: 10, 1: 0}
    copies.acknowledged(first_of(PLACES[0]), 0)
    assert len(told(caplog)) == 4


def test_what_no_answer_tells_is_asked_for_before_it_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    """With `acks=0`: one question for the topic that the job finds."""
    target = OneTopic({0: 0, 1: 7, 2: 0}, 4)  # nobody leads the last one
    copies = copies_of(Copying(NAMES, dict.fromkeys(PLACES, 100), dict, lambda _: 0), target)
    for place in PLACES * 2:
        copies.before_sending(part_of(place), place.partition)
    assert target.asked == 1
    assert [line.split()[3] for line in told(caplog)] == ["orders-0", "orders-2"]
    target.ends = {**target.ends, 3: 0}
    copies.before_sending(part_of(PLACES[3]), 3)
    assert (target.asked, told(caplog)[2:][0].split()[3]) == (2, "orders-3")


def test_with_acks_0_a_topic_that_is_made_again_was_empty(caplog: pytest.LogCaptureFixture) -> None:
    """Some may have been sent there before its new id is known; before that nothing was copied, so nobody is asked."""
    safe: dict[TopicPartition, int] = {}
    target = OneTopic({0: 0, 1: 7, 2: 0, 3: 0}, 4)
    copies = copies_of(Copying(NAMES, dict.fromkeys(PLACES, EARLIEST), lambda: safe, lambda _: 0), target)
    for place in PLACES:
        copies.before_sending(part_of(place), place.partition)
    assert (target.asked, told(caplog)) == (0, [])
    safe |= dict.fromkeys(PLACES, 100)
    target.become("second", {0: 3, 1: 0, 2: 2, 3: 0}, 4)
    for place in PLACES * 2:
        copies.before_sending(part_of(place), place.partition)
    assert [line.split()[3] for line in told(caplog)] == [f"orders-{number}" for number in range(4)]
    assert target.asked == 0


def part_of(place: TopicPartition, *, in_copy: bool = True) -> Part:
    return Part(Piece(place, 500, 1), range(5), None, in_copy=in_copy)


@pytest.mark.parametrize(
    ("start", "before", "in_copy", "count"),
    [
        (400, None, True, 300),  # deleted while the mirror was stopped
        (EARLIEST, None, True, 0),  # all was dropped until now
        (EARLIEST, 50, True, 400),  # deleted under the mirror
        (400, None, False, 0),  # a topic that the handler names
    ],
)
def test_of_a_handler_it_is_said_what_may_be(
    start: int, before: int | None, in_copy: bool, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    target = OneTopic(dict.fromkeys(range(4), 500), 4)
    copies = copies_of(Copying(NAMES, {P: start}, lambda: {P: 500}, lambda _: 100, handled=True), target)
    if before is not None:
        copies.acknowledged(part_of(P), before)
    copies.acknowledged(part_of(P, in_copy=in_copy), 0)
    assert len(told(caplog)) == (count > 0)
    if count:
        assert events.COPY_PERHAPS_EMPTY.text.split("{")[0] in told(caplog)[0]
        assert f"had of the {count} offsets from 100 on, which the source still holds, may be" in told(caplog)[0]
