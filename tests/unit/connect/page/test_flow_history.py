"""The last hour of a flow: how much of it is kept, and what it says of the near future."""

from __future__ import annotations

import math

import pytest

from legacy_mm.connect.page.flow_history import COUNTS, INTERVAL, Course, FlowHistory, Point

NONE = dict.fromkeys(COUNTS, 0.0)


def history(*points: tuple[float, float, float]) -> tuple[FlowHistory, Point]:
    """Return what remembers all of these points but the last, and the last: time, records copied, lag."""
    found = FlowHistory()
    *before, now = (Point(at, copied, lag, counts=NONE) for at, copied, lag in points)
    for each in before:
        found.add(each)
    return found, now


def course_of(*points: tuple[float, float, float]) -> Course:
    found, now = history(*points)
    return found.trend(now).course


def test_an_hour_is_kept_and_no_more_however_often_it_is_told() -> None:
    found = FlowHistory()
    for second in range(3 * 3_600):
        found.add(Point(float(second), second, 0.0))
    points = found.points(Point(3 * 3_600.0, 3 * 3_600, 0.0))
    assert len(points) == 3_600 / INTERVAL + 1
    assert points[0].at == 2 * 3_600
    assert {after.at - before.at for before, after in zip(points, points[1:], strict=False)} == {INTERVAL}


def test_a_mirror_that_counts_anew_begins_a_new_history() -> None:
    found, now = history((0, 500, 9), (10, 20, 9), (20, 600, 8))
    assert [each.at for each in found.points(now)] == [10, 20]


@pytest.mark.parametrize(
    ("points", "course"),
    [
        ([(0, 0, math.nan), (60, 600, math.nan)], Course.UNKNOWN),
        ([(0, 0, math.nan), (60, 600, 100)], Course.UNKNOWN),
        ([(0, 0, math.nan), (10, 1_000, 0), (40, 1_000, 2_000)], Course.FALLS_BEHIND),
        ([(0, 0, 100), (4, 600, 100)], Course.UNKNOWN),
        ([(0, 0, 0), (4, 600, 0)], Course.KEEPS_UP),
        ([(0, 0, 0), (60, 0, 0)], Course.KEEPS_UP),
        ([(0, 0, 40), (60, 600, 50)], Course.KEEPS_UP),
        ([(0, 0, 9_000), (60, 600, 9_001)], Course.KEEPS_UP),
        ([(0, 0, 9_000), (60, 6_000, 6_000)], Course.CATCHES_UP),
        ([(0, 0, 9_000), (60, 6_000, 12_000)], Course.FALLS_BEHIND),
        ([(0, 0, 0), (60, 0, 12_000)], Course.FALLS_BEHIND),
        ([(0, 7, 9_000), (30, 7, 9_000), (60, 7, 9_500)], Course.STANDS_STILL),
        ([(0, 6, 9_000), (30, 7, 9_000), (60, 7, 9_000)], Course.KEEPS_UP),
    ],
)
def test_where_a_flow_goes(points: list[tuple[float, float, float]], course: Course) -> None:
    assert course_of(*points) is course


def test_the_last_minute_counts_and_not_what_was_before() -> None:
    early = [(at, at * 1_000, 1_000_000 - at * 900) for at in range(0, 120, 10)]
    late = [(120 + at, 120_000 + at * 100, 892_000 + at * 50) for at in range(0, 61, 10)]
    found, now = history(*early, *late)
    trend = found.trend(now)
    assert (trend.course, trend.copied_rate, trend.arriving_rate) == (Course.FALLS_BEHIND, 100, 150)


def test_a_quarter_of_an_hour_is_seen_beside_the_minute() -> None:
    early = [(at, at * 1_000, 100_000 + at * 200) for at in range(0, 1_200, 10)]
    late = [(1_200 + at, 1_200_000 + at * 1_000, 340_000 - at * 100) for at in range(0, 61, 10)]
    found, now = history(*early, *late)
    assert found.trend(now).course is Course.CATCHES_UP
    trend = found.long_trend(now)
    assert (trend.course, trend.span, trend.copied_rate) == (Course.FALLS_BEHIND, 900, 1_000)
    assert trend.growth == pytest.approx(840 * 200 - 60 * 100)


@pytest.mark.parametrize(("seconds", "course"), [(290, Course.UNKNOWN), (300, Course.FALLS_BEHIND)])
def test_nothing_is_said_of_a_quarter_of_an_hour_before_a_third_of_it_is_known(seconds: int, course: Course) -> None:
    found, now = history(*((at, at * 1_000, at * 500) for at in range(0, seconds + 1, 10)))
    assert (found.trend(now).course, found.long_trend(now).course) == (Course.FALLS_BEHIND, course)
    assert found.long_trend(now._replace(lag=math.nan)).course is Course.UNKNOWN


def test_when_it_will_be_done_and_since_when_it_stands_still() -> None:
    found, now = history((0, 0, 9_000), (60, 6_000, 6_000))
    assert (found.trend(now).seconds, found.trend(now).arriving_rate) == (120, 50)
    found, now = history((0, 0, 10), (10, 5, 10), (100, 5, 10), (190, 5, 11))
    assert found.trend(now).seconds == 180


def test_counts_of_the_last_hour_are_those_that_came_in_it() -> None:
    found = FlowHistory()
    for at, gaps in ((0, 1), (1_000, 3), (4_000, 4)):
        found.add(Point(at, at, 0.0, counts={**NONE, "gaps": gaps}))
    now = Point(4_500, 4_500, 0.0, counts={**NONE, "gaps": 6})
    assert found.last_hour(now) == {**NONE, "gaps": 3}
    assert FlowHistory().last_hour(now) == NONE


def test_steps_have_the_rate_between_two_points() -> None:
    found, now = history((0, 0, 5), (10, 100, 6), (20, 400, 7))
    assert list(found.steps(now)) == [(10, 10, 6), (0, 30, 7)]
