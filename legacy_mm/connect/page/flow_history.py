"""The last hour of a flow, in bounded memory, and what it says of the near future."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

INTERVAL = 10.0
"""Seconds between two points."""
_HOUR = 3_600.0
_MINUTE, _QUARTER = 60.0, 900.0
"""Seconds over which the two trends are taken."""
_SHORTEST, _SHORTEST_QUARTER = 5.0, 300.0
"""Seconds of history below which nothing is said of each."""
_KEEPS_UP_SECONDS = 5.0
"""A lag of as much as arrives in this time is no lag to speak of."""
_STILL_SECONDS = 60.0
_NOTABLE = 0.02
"""The part of the rate by which a lag must change to be told as a change."""

COUNTS = ("dropped", "gaps", "skipped", "quarantined", "failures")
"""Counters that stand still while all is well: records dropped, gaps, offsets skipped, records set aside, failures of
duties.
"""


class Point(NamedTuple):
    """A flow at one moment."""

    at: float
    """Monotonic seconds."""
    copied: float
    """Records copied since its mirror began."""
    lag: float
    """Records that are not copied yet; NaN where nobody knows."""
    seconds: float = math.nan
    """The lag in seconds; NaN where nobody knows."""
    counts: Mapping[str, float] = {}
    """The totals of `COUNTS`."""


class Course(Enum):
    """The direction of a flow's lag."""

    UNKNOWN = ""
    KEEPS_UP = "keeps up"
    CATCHES_UP = "catches up"
    FALLS_BEHIND = "falls behind"
    STANDS_STILL = "stands still"
    REWIND = "rewind"
    """A partition alone has it: copying went back, and what was copied is copied again."""


class Trend(NamedTuple):
    """The course of a flow over a while that ends now."""

    course: Course
    copied_rate: float = math.nan
    """Records a second."""
    arriving_rate: float = math.nan
    seconds: float = math.nan
    """Until the lag is gone, or since nothing has been copied."""
    span: float = math.nan
    """The length of that while, in seconds."""

    @property
    def growth(self) -> float:
        """Records by which the lag has grown; below 0 where it shrank."""
        return (self.arriving_rate - self.copied_rate) * self.span


class FlowHistory:
    """Points of the last hour, at most one for each `INTERVAL`."""

    def __init__(self) -> None:
        self._points: deque[Point] = deque(maxlen=int(_HOUR / INTERVAL) + 1)

    def add(self, point: Point) -> None:
        """Add a point, unless the last one is too young; a mirror that begins to count anew begins a new history."""
        if self._points and point.copied < self._points[-1].copied:
            self._points.clear()
        if not self._points or point.at - self._points[-1].at >= INTERVAL:
            self._points.append(point)

    def points(self, now: Point) -> list[Point]:
        """Return the points of the last hour, and this one at the end."""
        before = [each for each in tuple(self._points) if now.at - each.at <= _HOUR and each.copied <= now.copied]
        return [*before, now]

    def last_hour(self, now: Point) -> Mapping[str, float]:
        """Return by how much each of `COUNTS` has grown in the last hour, or since the history began."""
        first = self.points(now)[0]
        return {name: max(0.0, now.counts.get(name, 0.0) - first.counts.get(name, 0.0)) for name in COUNTS}

    def trend(self, now: Point) -> Trend:
        """Return where the flow goes, by the last minute."""
        points = self._known(now)
        found, still = _trend(points, _MINUTE, _SHORTEST), _still_seconds(points)
        if now.lag > 0 and still >= _STILL_SECONDS:
            return found._replace(course=Course.STANDS_STILL, seconds=still)
        return found._replace(course=Course.KEEPS_UP) if found.course is Course.UNKNOWN and now.lag == 0 else found

    def long_trend(self, now: Point) -> Trend:
        """Return where the flow went in the last 15 minutes, or in those of them that are known."""
        return _trend(self._known(now), _QUARTER, _SHORTEST_QUARTER)

    def _known(self, now: Point) -> list[Point]:
        """Return the points whose lag is known; none where that of now is not."""
        return [] if math.isnan(now.lag) else [each for each in self.points(now) if not math.isnan(each.lag)]

    def steps(self, now: Point) -> Iterator[tuple[float, float, float]]:
        """Yield the age of each point, the rate up to it, and the lag there: in seconds where all are known."""
        points = self.points(now)
        for before, point in zip(points, points[1:], strict=False):
            elapsed = point.at - before.at
            if elapsed > 0:
                yield now.at - point.at, (point.copied - before.copied) / elapsed, point.lag


def _trend(points: list[Point], look_back: float, shortest: float) -> Trend:
    """Return the trend from the last point that is older than `look_back`, or from the first one, to now."""
    if not points or points[-1].at - points[0].at < shortest:
        return Trend(Course.UNKNOWN)
    now = points[-1]
    begin = next((each for each in reversed(points) if now.at - each.at >= look_back), points[0])
    elapsed = now.at - begin.at
    copied = (now.copied - begin.copied) / elapsed
    growth = (now.lag - begin.lag) / elapsed
    arriving = max(0.0, copied + growth)
    found = Trend(Course.KEEPS_UP, copied, arriving, span=elapsed)
    if now.lag <= _KEEPS_UP_SECONDS * max(copied, arriving):
        return found
    if growth < -_NOTABLE * copied:
        return found._replace(course=Course.CATCHES_UP, seconds=now.lag / -growth)
    return found._replace(course=Course.FALLS_BEHIND) if growth > _NOTABLE * arriving else found


def _still_seconds(points: list[Point]) -> float:
    """Return for how long nothing has been copied although there was a lag."""
    if not points:
        return 0.0
    now, since = points[-1], points[-1].at
    for point in reversed(points):
        if point.copied != now.copied or not point.lag > 0:
            break
        since = point.at
    return now.at - since
