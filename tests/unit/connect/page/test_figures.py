"""Numbers, durations and lags as people read them, and the lines of a chart."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from legacy_mm.connect.page import figures
from legacy_mm.connect.page.fail_over import FailOver
from legacy_mm.connect.page.flow_history import Course, FlowHistory, Point, Trend
from legacy_mm.connect.page.flow_numbers import FlowNumbers
from legacy_mm.connect.page.flow_views import FlowView, flow_view
from legacy_mm.metrics.health import Phase, State

FLOW = flow_view("f", FlowNumbers((), (), ()), (), FlowHistory(), State(Phase.RUNNING, (), {}), 0.0)


@pytest.mark.parametrize(
    ("value", "text", "large"),
    [
        (math.nan, "–", "–"),
        (0, "0", "0"),
        (0.25, "0.2", "0.2"),
        (9.96, "10.0", "10.0"),
        (12.4, "12", "12"),
        (9_999, "9,999", "9,999"),
        (41_200, "41,200", "41.2 k"),
        (1_200_000, "1,200,000", "1.2 M"),
        (3_000_000_000, "3,000,000,000", "3.0 G"),
    ],
)
def test_numbers(value: float, text: str, large: str) -> None:
    assert (figures.number(value), figures.large(value)) == (text, large)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (math.nan, "–"),
        (0, "0.0 s"),
        (0.84, "0.8 s"),
        (45.4, "45 s"),
        (241, "4 min"),
        (3_590, "1 h 0 min"),
        (7_800, "2 h 10 min"),
        (6 * 86_400 + 4 * 3_600, "6 d 4 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert figures.duration(seconds) == text


def test_lags_are_told_in_seconds_first() -> None:
    assert figures.lag(0.8, 12) == "0.8 s behind (12 records)"
    assert figures.lag(241, 12, is_longer=True) == "more than 4 min behind (12 records)"
    assert figures.lag(math.nan, 1_200_000) == "1.2 M records behind"
    assert figures.lag(math.nan, math.nan) == "not known yet"


@pytest.mark.parametrize(
    ("trend", "words"),
    [
        (Trend(Course.KEEPS_UP, 5, 5), "keeps up"),
        (Trend(Course.CATCHES_UP, 5, 1, 720), "done in about 12 min (14:32 UTC)"),
        (Trend(Course.FALLS_BEHIND, 100, 1_300), "falls behind by 1,200 records/s"),
        (Trend(Course.STANDS_STILL, 0, 0, 180), "stands still for 3 min"),
        (Trend(Course.UNKNOWN), ""),
    ],
)
def test_the_outlook_in_words(trend: Trend, words: str) -> None:
    at_14_20 = 14 * 3_600 + 20 * 60
    assert figures.outlook(replace(FLOW, trend=trend), at_14_20) == words


UP = Trend(Course.KEEPS_UP, 5, 5)


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (UP, Trend(Course.FALLS_BEHIND, 100, 150, span=900), "over 15 min it fell behind by 45.0 k records"),
        (UP, Trend(Course.CATCHES_UP, 150, 100, span=420), "over 7 min it caught up by 21.0 k records"),
        (Trend(Course.FALLS_BEHIND, 5, 9), Trend(Course.KEEPS_UP, 5, 5, span=900), "over 15 min it kept up"),
        (UP, Trend(Course.KEEPS_UP, 5, 5, span=900), ""),
        (UP, Trend(Course.UNKNOWN), ""),
        (Trend(Course.STANDS_STILL), Trend(Course.KEEPS_UP, 0, 0, span=900), ""),
        (Trend(Course.UNKNOWN), Trend(Course.FALLS_BEHIND, 1, 2, span=900), ""),
    ],
)
def test_the_time_before_is_told_where_it_was_otherwise(now: Trend, before: Trend, words: str) -> None:
    assert figures.long_outlook(replace(FLOW, trend=now, long_trend=before)) == words


@pytest.mark.parametrize(("seconds", "text"), [(math.inf, "none yet"), (0.84, "0.8 s ago"), (241, "4 min ago")])
def test_how_long_ago_something_was(seconds: float, text: str) -> None:
    assert figures.ago(seconds) == text


@pytest.mark.parametrize(
    ("ages", "groups", "words"),
    [
        ({"heartbeat": 1.0, "checkpoint": math.inf}, math.nan, "heartbeat 1.0 s ago, checkpoint none yet"),
        ({"checkpoint": 12.0}, 41, "checkpoint 12 s ago, checkpoints for 39 of 41 groups"),
    ],
)
def test_how_well_a_flow_could_be_failed_over(ages: dict[str, float], groups: float, words: str) -> None:
    assert figures.failing_over(FailOver(ages, groups, 2, (), {})) == words


def with_history(count: int) -> FlowView:
    history = FlowHistory()
    for step in range(count):
        history.add(Point(step * 10.0, step * (step + 1) * 50, 100.0 * step))
    return replace(FLOW, history=history, now=Point(count * 10.0, count * (count + 1) * 50, 100.0 * count))


def test_a_chart_begins_with_two_steps_and_ends_at_now() -> None:
    assert figures.chart(with_history(0)) is None
    assert figures.chart(with_history(1)) is None
    found = figures.chart(with_history(4))
    assert found is not None
    assert (found.most_rate, found.most_lag, found.minutes) == (40, 400, 10)
    assert found.lag_points == "570,74 580,50 590,26 600,2"
    assert found.rate_points.split()[-1] == "600,2"


def test_a_chart_of_an_hour_is_no_longer_than_it_must_be() -> None:
    found = figures.chart(with_history(360))
    assert found is not None
    assert (len(found.rate_points.split()), found.minutes) == (120, 60)
    assert found.rate_points.split()[-1] == "600,2"


def test_a_lag_that_nobody_knows_is_left_out_of_the_line() -> None:
    history = FlowHistory()
    for at, lag in ((0, math.nan), (10, 5.0), (20, math.nan)):
        history.add(Point(at, at, lag))
    found = figures.chart(replace(FLOW, history=history, now=Point(30, 30, 4.0)))
    assert found is not None
    assert len(found.lag_points.split()) == 2
    assert len(found.rate_points.split()) == 3


def test_a_moment_is_iso_8601() -> None:
    assert figures.moment(0) == "1970-01-01T00:00:00Z"
