"""Recent recordings and their summary, with the numbers of Kafka's own sampled statistics.

Kafka keeps two samples of 30 s each. A rate is the amount in them over the time they span, but at least one full
sample, so that a first record does not look like a burst.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

SAMPLE_INTERVAL = 30.0
SAMPLES = 2


class WindowReading(NamedTuple):
    """One measure at one moment: its present value (a counter's total), and what was recorded lately."""

    value: float
    amount: float
    recordings: float
    seconds: float
    maximum: float
    minimum: float

    def with_value(self, value: float) -> WindowReading:
        """Return the same recordings beside another present value."""
        return WindowReading(value, *self[1:])

    def rate(self) -> float:
        """Return the rate per second."""
        return self.amount / self.seconds

    def average(self) -> float:
        """Return the average of recordings; NaN if there was none, as in Kafka."""
        return self.amount / self.recordings if self.recordings else math.nan

    def with_other(self, other: WindowReading) -> WindowReading:
        """Combine the same measure of two clients that are shown as one; NaN adds nothing."""
        return WindowReading(
            _known(sum, self.value, other.value),
            self.amount + other.amount,
            self.recordings + other.recordings,
            max(self.seconds, other.seconds),
            _known(max, self.maximum, other.maximum),
            _known(min, self.minimum, other.minimum),
        )


def _known(amount_to: Callable[[list[float]], float], *values: float) -> float:
    known = [value for value in values if not math.isnan(value)]
    return amount_to(known) if known else math.nan


NOTHING_YET = WindowReading(math.nan, 0.0, 0, SAMPLE_INTERVAL, math.nan, math.nan)
"""A measure that nobody has recorded."""


@dataclass(slots=True)
class _Sample:
    start: float
    amount: float
    count: float
    maximum: float
    minimum: float


class Window:
    """The recordings of the last 30 to 60 seconds."""

    __slots__ = ("_samples",)

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque()

    def record(self, amount: float, now: float) -> None:
        """Record one amount."""
        self.record_many(amount, 1, amount, amount, now)

    def record_many(self, amount: float, count: float, maximum: float, minimum: float, now: float) -> None:
        """Record amounts that were added up elsewhere."""
        self._forget(now)
        if not self._samples or now - self._samples[-1].start >= SAMPLE_INTERVAL:
            self._samples.append(_Sample(now, amount, count, maximum, minimum))
            return
        sample = self._samples[-1]
        sample.amount += amount
        sample.count += count
        sample.maximum = max(sample.maximum, maximum)
        sample.minimum = min(sample.minimum, minimum)

    def read(self, value: float, now: float) -> WindowReading:
        """Return the window as it is now, beside the present value."""
        self._forget(now)
        samples = self._samples
        if not samples:
            return WindowReading(value, 0.0, 0, SAMPLE_INTERVAL, math.nan, math.nan)
        first, last = samples[0], samples[-1]
        seconds = max(now - first.start, SAMPLE_INTERVAL * (SAMPLES - 1))
        if first is last:
            return WindowReading(value, first.amount, first.count, seconds, first.maximum, first.minimum)
        return WindowReading(
            value,
            first.amount + last.amount,
            first.count + last.count,
            seconds,
            max(first.maximum, last.maximum),
            min(first.minimum, last.minimum),
        )

    def _forget(self, now: float) -> None:
        while self._samples and now - self._samples[0].start >= SAMPLES * SAMPLE_INTERVAL:
            self._samples.popleft()
