"""Numbers and times as people read them; what nobody knows is a dash."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import NamedTuple

from legacy_mm.connect.page.fail_over import FailOver
from legacy_mm.connect.page.flow_history import Course
from legacy_mm.connect.page.flow_views import FlowView

UNKNOWN = "–"
_WIDTH, _HEIGHT = 600.0, 100.0
_MOST_POINTS = 120
_SHORTEST = 600.0
"""Seconds that a chart spans at least; it ends at now."""
_PLAIN = (Course.UNKNOWN, Course.STANDS_STILL)
"""Courses beside which nothing needs to be said of the time before."""
_WENT = {
    Course.KEEPS_UP: "it kept up",
    Course.CATCHES_UP: "it caught up by {} records",
    Course.FALLS_BEHIND: "it fell behind by {} records",
}


def number(value: float) -> str:
    """Return a number in groups of three digits, a small one with a digit after the point."""
    if math.isnan(value):
        return UNKNOWN
    return f"{value:.1f}" if 0 < value < 10 and value % 1 else f"{value:,.0f}"


def large(value: float) -> str:
    """Return a number with the letter for its thousands: 1.2 M."""
    if math.isnan(value):
        return UNKNOWN
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            return f"{value / (1e3 if letter == 'k' else limit):,.1f} {letter}"
    return number(value)


def duration(seconds: float) -> str:
    """Return a duration in its one or two largest units: 0.8 s, 4 min, 2 h 10 min, 6 d 4 h."""
    if math.isnan(seconds):
        return UNKNOWN
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"


def ago(seconds: float) -> str:
    """Return how long ago something was; infinity: never."""
    return "none yet" if math.isinf(seconds) else f"{duration(seconds)} ago"


def moment(wall: float) -> str:
    """Return a time as ISO 8601 writes it, in UTC."""
    return datetime.fromtimestamp(wall, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def lag(seconds: float, records: float, *, is_longer: bool = False) -> str:
    """Return how far something is behind: seconds first."""
    if not math.isnan(seconds):
        return f"{'more than ' * (is_longer and seconds >= 1)}{duration(seconds)} behind ({large(records)} records)"
    if math.isnan(records):
        return "not known yet"
    return f"{large(records)} records behind"


def outlook(flow: FlowView, now: float) -> str:
    """Return where a flow goes, in words; `now` is in seconds since 1970."""
    trend = flow.trend
    match trend.course:
        case Course.CATCHES_UP:
            return f"done in about {duration(trend.seconds)} ({moment(now + trend.seconds)[11:16]} UTC)"
        case Course.FALLS_BEHIND:
            return f"falls behind by {number(trend.arriving_rate - trend.copied_rate)} records/s"
        case Course.STANDS_STILL:
            return f"stands still for {duration(trend.seconds)}"
    return str(trend.course.value)


def long_outlook(flow: FlowView) -> str:
    """Return where a flow went in the last quarter of an hour, where that is not where it goes now; else nothing."""
    trend = flow.long_trend
    if trend.course is Course.UNKNOWN or flow.trend.course in (trend.course, *_PLAIN):
        return ""
    return f"over {duration(trend.span)} {_WENT[trend.course].format(large(abs(trend.growth)))}"


def failing_over(found: FailOver) -> str:
    """Return in one line how well a flow could be failed over now."""
    parts = [f"{what} {ago(seconds)}" for what, seconds in found.ages.items()]
    if not math.isnan(found.groups):
        parts.append(f"checkpoints for {number(found.translated)} of {number(found.groups)} groups")
    return ", ".join(parts)


class Chart(NamedTuple):
    """Two lines over the last hour or less, each as high as its greatest value."""

    rate_points: str
    lag_points: str
    most_rate: float
    most_lag: float
    minutes: int


def chart(flow: FlowView) -> Chart | None:
    """Return the chart of a flow; None before there is anything to draw."""
    steps = list(flow.history.steps(flow.now))
    if len(steps) < 2:
        return None
    every = math.ceil(len(steps) / _MOST_POINTS)
    steps = steps[::-1][::every][::-1]
    most_rate = max(rate for _, rate, _ in steps)
    most_lag = max((lag for _, _, lag in steps if not math.isnan(lag)), default=0.0)
    span = max(_SHORTEST, steps[0][0])
    return Chart(
        _line([(age, rate) for age, rate, _ in steps], most_rate, span),
        _line([(age, lag) for age, _, lag in steps if not math.isnan(lag)], most_lag, span),
        most_rate,
        most_lag,
        round(span / 60),
    )


def _line(values: list[tuple[float, float]], most: float, span: float) -> str:
    return " ".join(
        f"{_WIDTH * (1 - age / span):.0f},{_HEIGHT - (_HEIGHT - 4) * (value / most if most else 0) - 2:.0f}"
        for age, value in values
    )
