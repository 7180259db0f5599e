"""How long a partition and a flow are behind, and until when they will have caught up."""

from __future__ import annotations

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import SAMPLE_INTERVAL, LogPosition
from legacy_mm.metrics.lag import FRESH_SECONDS, MOST_ENDS, REWIND_SECONDS, TREND_SECONDS, Behind, FlowLag, PartitionLag

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def noted(*reports: tuple[float, int, int]) -> PartitionLag:
    """A partition of which these times, places of copying and ends were reported."""
    lag = PartitionLag()
    for now, copied, end in reports:
        lag.note(copied, end, now)
    return lag


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        pytest.param([(0, 0, 0)], Behind(0), id="an empty log"),
        pytest.param([(0, 50, 50), (900, 50, 50)], Behind(0), id="idle for long"),
        pytest.param([(0, 60, 50)], Behind(0), id="copying has seen a later end than the report"),
        pytest.param([(0, 10, 50)], Behind(0, is_longer=True), id="an old backlog, just seen"),
        pytest.param([(0, 10, 50), (8, 49, 90)], Behind(8, is_longer=True), id="still before the first end seen"),
        pytest.param([(0, 10, 50), (8, 50, 90)], Behind(8), id="at the first end seen"),
        pytest.param([(0, 10, 50), (8, 60, 90)], Behind(6), id="a quarter of what came in 8 s is copied"),
        pytest.param([(0, 50, 50), (5, 50, 50), (10, 50, 150)], Behind(5), id="the log was last idle at 5"),
        pytest.param(
            [(0, 50, 50), (5, 40, 150), (10, 50, 150)], Behind(10), id="what is not asked for stays as it was"
        ),
        pytest.param([(0, 99, 100), (5, 7, 20)], Behind(0, is_longer=True), id="a log that was cut begins anew"),
    ],
)
def test_a_partition_is_behind_for_as_long_as_its_log_ended_there(
    reports: list[tuple[float, int, int]], expected: Behind
) -> None:
    assert noted(*reports).read(reports[-1][0], reports=True) == expected


def test_records_read_while_there_was_no_room_are_as_old_as_they_are() -> None:
    """The target is away for 600 s, so nothing is fetched; then all that came meanwhile is seen at once."""
    lag = noted((0, 100, 100), (5, 100, 110))
    for now in range(10, 605, 5):
        lag.note(100, 110, now)
    assert lag.read(600, reports=True).seconds == 600
    lag.note(110, 1310, 605)
    assert lag.read(605, reports=True).seconds == 600
    lag.note(710, 1310, 610)
    assert lag.read(610, reports=True).seconds == 610 - (5 + 600 / 2)


def test_many_ends_are_thinned_out_and_reach_back_as_far_as_copying() -> None:
    lag, rate, hour = noted((0, 0, 0)), 100, 3_600
    for now in range(5, hour + 5, 5):
        lag.note(0, now * rate, now)
        assert len(lag._ends) <= MOST_ENDS
    for copied in range(0, hour * rate, 7 * rate):
        lag.note(copied, hour * rate, hour)
        assert lag.read(hour, reports=True).seconds == pytest.approx(hour - copied / rate, abs=1)


def test_without_reports_the_time_since_the_last_is_added() -> None:
    """A paused copy job reports nothing, and neither does one that hangs."""
    idle, late = noted((100, 50, 50)), noted((90, 50, 50), (100, 50, 60))
    within, later = 100 + FRESH_SECONDS, 101 + FRESH_SECONDS
    assert [lag.read(within, reports=True).seconds for lag in (idle, late)] == [0, 10]
    assert [lag.read(within, reports=False).seconds for lag in (idle, late)] == [FRESH_SECONDS, 10 + FRESH_SECONDS]
    assert [lag.read(later, reports=True).seconds for lag in (idle, late)] == [1 + FRESH_SECONDS, 11 + FRESH_SECONDS]


def test_copying_that_goes_back_is_told_for_a_while() -> None:
    lag = noted((0, 10, 50), (5, 40, 50), (10, 40, 60))
    assert lag.rewound(10) == 0
    lag.note(15, 60, 15)
    assert (lag.rewound(15), lag.rewound(14 + REWIND_SECONDS), lag.rewound(15 + REWIND_SECONDS)) == (25, 25, 0)
    lag.note(60, 60, 20)
    assert lag.rewound(20) == 25, "it is copied again, and still told of"


class Flow:
    """A flow with two streams; the first has `a`, the second `b`."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.lag = FlowLag()
        self.lag.owns(0, frozenset({A0, A1}), self.now)
        self.lag.owns(1, frozenset({B0}), self.now)

    def tell(self, stream: int, **positions: tuple[int, int]) -> None:
        rows = [LogPosition(name[0], int(name[1]), *places) for name, places in positions.items()]
        self.lag.note(stream, rows, self.now)

    def seconds(self) -> dict[str, float]:
        return {str(each): behind.seconds for each, behind in self.lag.partitions(self.now).items()}

    def until(self) -> float | None:
        worst = max(self.lag.partitions(self.now).values(), key=lambda each: each.seconds)
        return self.lag.caught_up_seconds(self.now, worst)


def test_only_owned_partitions_that_were_told_of_are_behind() -> None:
    flow = Flow()
    flow.tell(0, a0=(5, 5), b0=(1, 9))
    assert flow.seconds() == {"a-0": 0}
    flow.now += 10
    flow.tell(0, a0=(5, 9), a1=(7, 7))
    flow.tell(1, b0=(9, 9))
    assert flow.seconds() == {"a-0": 10, "a-1": 0, "b-0": 0}
    flow.lag.owns(0, frozenset({A1}), flow.now)
    assert flow.seconds() == {"a-1": 0, "b-0": 0}


def test_a_rebalance_forgets_no_ends_but_an_absence_does() -> None:
    flow = Flow()
    flow.tell(0, a0=(5, 5))
    for away, expected in ((30, Behind(30)), (61, Behind(0, is_longer=True))):
        flow.lag.owns(0, frozenset(), flow.now)
        assert flow.seconds() == {}
        flow.now += away
        flow.lag.owns(1, frozenset(), flow.now)
        flow.lag.owns(0, frozenset({A0}), flow.now)
        flow.tell(0, a0=(5, 9))
        assert flow.lag.partitions(flow.now) == {A0: expected}
        flow.tell(0, a0=(9, 9))


def test_each_stream_s_copy_job_reports_for_itself() -> None:
    flow = Flow()
    flow.tell(0, a0=(5, 5))
    flow.tell(1, b0=(5, 5))
    flow.lag.copy_ended(1)
    flow.now += 2
    assert flow.seconds() == {"a-0": 0, "b-0": 2}
    flow.tell(1, b0=(5, 5))
    assert flow.seconds() == {"a-0": 0, "b-0": 0}


def test_a_backlog_that_shrinks_is_gone_when_it_goes_on_so() -> None:
    flow = Flow()
    found: list[float | None] = []
    for copied, end in ((0, 1_000), (90, 1_040), (180, 1_080), (270, 1_120), (1_160, 1_160)):
        flow.now += 10
        flow.tell(1, b0=(copied, end))
        found.append(flow.until())
    # each 10 s 90 are copied and 40 come
    assert found == [None, pytest.approx(950 / 5), pytest.approx(900 / 5), pytest.approx(850 / 5), 0]
    flow.now += 5
    assert flow.until() == 0


def test_the_time_until_then_passes_between_reports() -> None:
    flow = Flow()
    for copied in (0, 100):
        flow.now += 10
        flow.tell(1, b0=(copied, 1_000))
    flow.now += 3
    assert flow.until() == pytest.approx(87)


@pytest.mark.parametrize("positions", [[(0, 1_000), (10, 1_010)], [(0, 1_000), (10, 2_000)], [(0, 1_000), (0, 1_000)]])
def test_a_backlog_that_does_not_shrink_has_no_end(positions: list[tuple[int, int]]) -> None:
    flow = Flow()
    for copied, end in positions:
        flow.now += 10
        flow.tell(1, b0=(copied, end))
    assert flow.until() is None


def test_nobody_knows_the_end_of_what_is_not_reported() -> None:
    flow = Flow()
    for copied in (0, 100):
        flow.now += 10
        flow.tell(1, b0=(copied, 1_000))
    flow.lag.copy_ended(1)
    flow.now += FRESH_SECONDS + 1
    assert flow.until() is None


def test_partitions_that_come_are_no_growth() -> None:
    """Both streams shrink their backlogs, one after another, and one gets a partition of another host."""
    flow = Flow()
    for copied in (0, 10):
        flow.now += SAMPLE_INTERVAL
        flow.tell(0, a0=(copied, 100))
    assert flow.until() == pytest.approx(45)
    flow.tell(1, b0=(0, 5_000))
    assert flow.until() is None
    flow.now += SAMPLE_INTERVAL
    flow.tell(1, b0=(1_000, 5_000))
    flow.tell(0, a0=(20, 100))
    flow.now += SAMPLE_INTERVAL
    flow.tell(1, b0=(2_000, 5_000))
    assert flow.until() == pytest.approx((3_000 + 80) / 1_005 * 5, rel=0.01)


def test_what_was_long_ago_is_no_trend() -> None:
    """A backlog that has grown for ten minutes and shrinks now ends, from a minute on."""
    flow = Flow()
    for lag in (*range(0, 6_000, 50), *range(6_000, 4_800, -100)):
        flow.now += SAMPLE_INTERVAL
        flow.tell(1, b0=(10_000 - lag, 10_000))
    assert flow.until() == pytest.approx(4_900 / 100 * SAMPLE_INTERVAL, abs=TREND_SECONDS)
    assert len(flow.lag._trend) <= TREND_SECONDS / SAMPLE_INTERVAL + 1
