"""The four kinds of measures, and all measures of one place together.

A *source* is a client whose counters begin at 0 when it is made. A total outlives its sources: each one's last word is
remembered, and only what it grew by is added.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container

from legacy_mm.base.reports import Measured
from legacy_mm.metrics.window import Window, WindowReading

Source = str


class Counter:
    """A total that only grows."""

    def __init__(self) -> None:
        self._total = 0.0
        self._seen: dict[Source, float] = {}
        self._window = Window()

    def observe(self, source: Source, total: float, now: float, *, restarts: bool = False) -> None:
        """Note the total of a source. A sum falls when librdkafka drops a broker; what `restarts` began at 0."""
        growth = total - self._seen.get(source, 0.0)
        if growth < 0:
            growth = total if restarts else 0.0
        self.add(growth, now)
        self._seen[source] = total

    def add(self, growth: float, now: float) -> None:
        """Add this much."""
        self._total += growth
        self._window.record(growth, now)

    def forget(self, source: Source) -> None:
        """Forget a source that will begin at 0 again."""
        self._seen.pop(source, None)

    def read(self, now: float) -> WindowReading:
        return self._window.read(self._total, now)


class Gauge:
    """A value of now: the sum of what its sources say; NaN where none does."""

    def __init__(self) -> None:
        self._values: dict[Source, float] = {}
        self._window = Window()

    def observe(self, source: Source, value: float, now: float) -> None:
        """Note the present value of a source."""
        self._values[source] = value
        self._window.record(value, now)

    def forget(self, source: Source) -> None:
        """Forget a source and its value."""
        self._values.pop(source, None)

    def read(self, now: float) -> WindowReading:
        return self._window.read(sum(self._values.values()) if self._values else math.nan, now)


class LatencySpread:
    """Measurements of which sum, number and extremes are kept."""

    def __init__(self) -> None:
        self._window = Window()

    def observe(self, total: float, count: float, maximum: float, minimum: float, now: float) -> None:
        """Add measurements that were added up elsewhere."""
        self._window.record_many(total, count, maximum, minimum, now)

    def read(self, now: float) -> WindowReading:
        return self._window.read(0.0, now)


class Age:
    """Seconds since something last happened."""

    def __init__(self) -> None:
        self._at = -math.inf

    def observe(self, age: float, now: float) -> None:
        """Note an event of this age; the latest time counts."""
        self._at = max(self._at, now - age)

    def read(self, now: float) -> WindowReading:
        return Window().read(now - self._at, now)


class Meters:
    """All measures of one place, each made when it is first heard of."""

    def __init__(self) -> None:
        self.counters: defaultdict[str, Counter] = defaultdict(Counter)
        self.gauges: defaultdict[str, Gauge] = defaultdict(Gauge)
        self.spreads: defaultdict[str, LatencySpread] = defaultdict(LatencySpread)
        self.ages: defaultdict[str, Age] = defaultdict(Age)

    def observe(self, source: Source, row: Measured, now: float) -> None:
        """Note a row of a client's statistics."""
        for name, total in row.counters.items():
            self.counters[name].observe(source, total, now, restarts=row.level == "node")
        for name, value in row.gauges.items():
            self.gauges[name].observe(source, value, now)
        for name, spread in row.spreads.items():
            self.spreads[name].observe(*spread, now)
        for name, age in row.ages.items():
            self.ages[name].observe(age, now)

    def forget(self, source: Source) -> None:
        """Forget a source that has ended: its counts stay, its present values go."""
        for counter in self.counters.values():
            counter.forget(source)
        for gauge in self.gauges.values():
            gauge.forget(source)

    def read(self, now: float, only: Container[str] | None = None) -> dict[str, WindowReading]:
        """Return the measures as they are now: all, or those of these names."""
        kinds = (self.counters, self.gauges, self.spreads, self.ages)
        return {
            name: measure.read(now) for kind in kinds for name, measure in kind.items() if only is None or name in only
        }
