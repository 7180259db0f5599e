"""Which source partitions wait for the target, from where they go on, and what is told of them at the end."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import TopicPartition
from legacy_mm.dataplane import held_partitions
from legacy_mm.dataplane.held_partitions import HeldPartitions
from legacy_mm.dataplane.target_topics import TargetTopics
from legacy_mm.logs.events import NOT_COPIED
from legacy_mm.policies import growing_pauses
from tests.fakes.appender import FakeAppender
from tests.fakes.fetcher import FakeFetcher

A, B, C = (TopicPartition(topic, 0) for topic in "abc")
A_THERE, A1_THERE = TopicPartition("w.a", 0), TopicPartition("w.a", 1)
MISSING = "UNKNOWN_TOPIC_OR_PARTITION"


class Topics(TargetTopics):
    """The target's topics, with this many partitions each."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.stuck: Collection[TopicPartition] = ()

    @override
    def may_go_on(self, topic: str, least: int) -> bool:
        return self.counts.get(topic, 0) >= least

    @override
    def problem(self, topic: str) -> str:
        return MISSING

    @override
    def poll(self, stuck: Collection[TopicPartition]) -> None:
        self.stuck = stuck


class Copying:
    """Held partitions between a source and a target."""

    def __init__(self) -> None:
        self.source, self.topics, self.queues = FakeFetcher(), Topics(), FakeAppender()
        config: Any = SimpleNamespace(records_may_wait=True, names={"a": "w.a"})
        self.config = config
        self.held = HeldPartitions(config, self.source, self.topics, self.queues)


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> Copying:
    monkeypatch.setattr(held_partitions, "_LOOK_INTERVAL", 0.0)
    return Copying()


def test_a_partition_waits_for_its_topic_alone(copying: Copying) -> None:
    copying.held.hold(A, 5, "w.a", 1)
    copying.held.hold(B, 7, "w.b", 1)
    copying.topics.counts["w.b"] = 1
    copying.held.poll()
    assert (copying.source.held, len(copying.held)) == ({A: 5}, 1)
    assert copying.held.reasons() == {"w.a": MISSING}


def test_a_topic_with_too_few_partitions_is_waited_for(copying: Copying) -> None:
    copying.held.hold(A, 5, "w.a", 3)
    for count, waits in ((1, True), (2, True), (3, False)):
        copying.topics.counts["w.a"] = count
        copying.held.poll()
        assert bool(len(copying.held)) is waits


def test_one_that_has_records_for_several_target_partitions_waits_for_all_of_them(copying: Copying) -> None:
    copying.queues.troubles = {A_THERE: "no leader", A1_THERE: "no leader"}
    copying.held.hold(A, 5, "w.a", 2, [A_THERE, A1_THERE])
    copying.topics.counts["w.a"] = 2
    for through in (A_THERE, A1_THERE):
        copying.held.poll()
        assert {place.topic for place in copying.topics.stuck} == {"w.a"}
        assert copying.source.held == {A: 5}
        del copying.queues.troubles[through]
    copying.held.poll()
    assert copying.source.held == {}


def test_what_was_just_read_of_a_held_one_is_dropped_and_read_again_from_there(copying: Copying) -> None:
    """The fetcher had it under way: without the second hold it would go on behind it."""
    copying.held.hold(A, 5, "w.a", 1)
    copying.source.held[A] = 9
    assert copying.held.stays(A)
    assert copying.source.held == {A: 5}
    assert not copying.held.stays(B)


def test_one_that_resumes_elsewhere_is_not_released_by_us(copying: Copying) -> None:
    copying.held.hold(A, 5, "w.a", 1)
    copying.held.forget(A)
    copying.held.forget(B)
    copying.topics.counts["w.a"] = 1
    copying.held.poll()
    assert copying.source.held == {A: 5}, "its new owner knows better"
    assert not copying.held.stays(A)


def test_it_does_not_look_at_each_turn_of_the_loop(copying: Copying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_partitions, "_LOOK_INTERVAL", 60.0)
    copying.held.poll()
    copying.held.hold(A, 5, "w.a", 1)
    copying.topics.counts["w.a"] = 1
    copying.held.poll()
    assert copying.source.held == {A: 5}


def test_at_the_end_what_waited_is_counted_once(copying: Copying, caplog: pytest.LogCaptureFixture) -> None:
    """What has unacknowledged records is told of elsewhere."""
    copying.queues.troubles = {A_THERE: "no leader"}
    copying.held.hold(A, 5, "w.a", 1, [A_THERE])
    copying.held.hold(TopicPartition("a", 1), 5, "w.a", 2, [A_THERE])
    copying.held.hold(B, 7, "w.b", 1)
    copying.held.hold(C, 1, "w.c", 1)
    copying.held.tell_of_the_end({C: 1})
    lines: list[Any] = [vars(line) for line in caplog.records]
    assert [line["event"] for line in lines] == [NOT_COPIED] * 2
    assert [line["fields"] for line in lines] == [
        {"topic": "w.a", "partitions": 2, "reason": "w.a-0: no leader"},
        {"topic": "w.b", "partitions": 1, "reason": MISSING},
    ]


def test_what_is_copied_on_at_once_is_not_told_at_the_end(copying: Copying, caplog: pytest.LogCaptureFixture) -> None:
    """Another job goes on with it after a rebalance."""
    copying.held.hold(B, 7, "w.b", 1)
    copying.held.stops_for_good = False
    copying.held.tell_of_the_end({})
    assert caplog.records == []


def test_a_partition_waits_at_a_record_until_its_pause_is_over(
    copying: Copying, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_pauses, "_FIRST", 3600.0)
    copying.held.wait_at(A, 5, CorruptRecords("a-0: torn"))
    copying.held.poll()
    assert copying.held.stays(A)
    assert copying.held.reasons() == {"w.a": "a-0 waits at offset 5: a-0: torn"}
    copying.held.forget(A)
    monkeypatch.setattr(growing_pauses, "_FIRST", 0.0)
    copying.held.wait_at(A, 5, CorruptRecords("a-0: torn"))
    copying.held.poll()
    assert not copying.held.stays(A)


def test_where_no_record_may_wait_it_is_the_end(copying: Copying) -> None:
    copying.config.records_may_wait = False
    with pytest.raises(CorruptRecords):
        copying.held.wait_at(A, 5, CorruptRecords("a-0: torn"))
    assert not copying.held.stays(A)
