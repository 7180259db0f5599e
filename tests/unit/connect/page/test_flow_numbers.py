"""Partitions and streams of a snapshot: lags, where each goes, and which are the worst."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from legacy_mm.base.reports import JOB, LogPosition, Measured, Statistics
from legacy_mm.connect.page.flow_history import Course
from legacy_mm.connect.page.flow_numbers import (
    MEASURES,
    PartitionRow,
    StreamRow,
    numbers_of,
    topic_rows,
    worst,
)
from tests.fixtures.counted_flows import CountedFlow


class Ticks:
    """A clock that is set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def rows_of(flow: CountedFlow) -> list[PartitionRow]:
    return [*numbers_of([flow.registry.snapshot(MEASURES)]).rows]


def streams_of(flow: CountedFlow, *outside: str) -> list[StreamRow]:
    return [*numbers_of([flow.registry.snapshot(MEASURES)], outside).streams]


def row(topic: str = "t", partition: int = 0, seconds: float = math.nan, records: float = math.nan) -> PartitionRow:
    return PartitionRow("f", topic, partition, seconds, records, False, "s", {}, {})


def test_a_partition_has_its_lag_its_stream_and_its_flow() -> None:
    flow = CountedFlow(topics={"a-b": 2}).assigned()
    flow.reports(lambda each: each.partition * 7.0)
    assert [(each.flow, each.topic, each.partition, each.records, each.stream) for each in rows_of(flow)] == [
        ("east->west", "a-b", 0, 0, "mirror-0"),
        ("east->west", "a-b", 1, 7, "mirror-0"),
    ]
    assert all(math.isnan(each.rate) for each in rows_of(flow))


def test_a_partition_is_late_since_its_log_ended_where_copying_stands() -> None:
    clock = Ticks()
    flow = CountedFlow(topics={"t": 1}, clock=clock).assigned()
    flow.reports(3)
    clock.now += 12
    flow.reports(5)
    assert [(each.seconds, each.is_longer, each.records) for each in rows_of(flow)] == [(12, True, 5)]
    flow.reports(0, 1_005)
    assert [(each.seconds, each.is_longer, each.records) for each in rows_of(flow)] == [(0, False, 0)]


def test_records_that_were_read_and_wait_for_the_target_are_behind() -> None:
    flow = CountedFlow(topics={"t": 1}).assigned()
    read = Measured("partition", "t-0", {}, {"lag": 0, "lead": 1_000}, {}, {})
    flow.stream.statistics(Statistics("consumer", [read], positions=[LogPosition("t", 0, 400, 1_000)]))
    assert [each.records for each in rows_of(flow)] == [600]


@pytest.mark.parametrize("remote", ["east.{}".format, "{}".format])
def test_a_rate_comes_from_the_copy_whatever_it_is_called(remote: Callable[[str], str]) -> None:
    flow = CountedFlow(topics={"t": 1}, remote=remote).assigned()
    flow.reports(3)
    assert math.isnan(rows_of(flow)[0].rate)
    flow.stream.statistics(Statistics(JOB, [Measured("partition", "t-0", {"records": 90}, {}, {}, {})]))
    assert rows_of(flow)[0].rate == 3


@pytest.mark.parametrize(
    ("lags", "positions", "course"),
    [
        ([0, 0, 0, 0], [1, 1, 1, 1], Course.KEEPS_UP),
        ([5, 5, 5], [1, 1, 1], Course.UNKNOWN),
        ([5, 5, 5, 5], [1, 1, 1, 1], Course.STANDS_STILL),
        ([5, 6, 7, 8], [1, 1, 1, 1], Course.STANDS_STILL),
        ([0, 6, 7, 8], [1, 1, 1, 1], Course.STANDS_STILL),
        ([5, 6, 7, 8], [1, 2, 3, 4], Course.FALLS_BEHIND),
        ([8, 7, 6, 5], [1, 2, 3, 4], Course.CATCHES_UP),
        ([5, 8, 5, 7], [1, 2, 3, 4], Course.KEEPS_UP),
    ],
)
def test_where_a_partition_goes(lags: Sequence[float], positions: Sequence[float], course: Course) -> None:
    clock = Ticks()
    flow = CountedFlow(topics={"t": 1}, clock=clock).assigned()
    for lag, position in zip(lags, positions, strict=True):
        clock.now += 5
        flow.reports(lag, position)
    assert [each.course for each in rows_of(flow)] == [course]


def test_a_partition_that_went_back_says_so_whatever_else_it_does() -> None:
    flow = CountedFlow(topics={"t": 2}).assigned()
    flow.reports(0, 500)
    assert [each.course for each in rows_of(flow)] == [Course.KEEPS_UP] * 2
    flow.reports(300, 200)
    assert [(each.course, each.rewound) for each in rows_of(flow)] == [(Course.REWIND, 300)] * 2
    flow.reports(0, 500)
    assert {each.course for each in rows_of(flow)} == {Course.REWIND}


def test_a_partition_of_which_nobody_has_told_has_no_lag() -> None:
    flow = CountedFlow(topics={"t": 1}).assigned()
    flow.stream.statistics(Statistics("consumer", [Measured("partition", "t-0", {}, {"lead": 5}, {}, {})]))
    (found,) = rows_of(flow)
    assert (math.isnan(found.records), math.isnan(found.seconds), found.course) == (True, True, Course.UNKNOWN)


def test_a_stream_tells_its_group_its_partitions_and_its_commits() -> None:
    clock = Ticks()
    flow = CountedFlow(clock=clock).assigned()
    flow.stream.commit_sent()
    flow.stream.commit_settled()
    clock.now += 30
    assert streams_of(flow) == [("east->west", "mirror-0", True, 2, 1, 30, 1)]
    assert not streams_of(flow, "mirror-0")[0].is_member


def test_a_stream_without_an_assignment_has_no_numbers_yet() -> None:
    (found,) = streams_of(CountedFlow(), "mirror-0")
    assert found[:3] == ("east->west", "mirror-0", False)
    assert all(math.isnan(each) for each in found[3:])
    assert math.isnan(numbers_of([CountedFlow().registry.snapshot()]).lag)
    assert numbers_of([CountedFlow(topics={}).assigned().registry.snapshot()]).lag == 0


def test_the_worst_are_those_with_most_seconds_then_with_most_records() -> None:
    none, unknown = row("none", 0, 0, 0), row("unknown")
    rows = [none, row("a", 0, records=9), row("b", 0, 1, 5), row("c", 0, 2, 1), unknown, row("d", 0, 1, 6)]
    assert [each.topic for each in worst(rows, 10)] == ["c", "d", "b", "a"]
    assert [each.topic for each in worst(rows, 2)] == ["c", "d"]


def test_topics_are_summed_and_as_late_as_their_worst_partition() -> None:
    rows = [row("a", 0, 1, 5), row("a", 1, 3, 6), row("b", 0, math.nan, 100), row("c", 0)]
    found = topic_rows(rows)
    assert [(each.topic, each.partitions, each.seconds) for each in found[:1]] == [("a", 2, 3)]
    assert [(each.topic, each.records) for each in found[:2]] == [("a", 11), ("b", 100)]
    assert math.isnan(found[2].records)
