"""Estimates how many seconds a flow is behind its source, and until when it will have caught up.

Each report of a copy job brings, for each partition, where the log ends and up to where the target has it
(`LogPosition`). A partition is as many seconds behind as the end of its log stood where copying stands now. Between two
reports it is taken as if it had grown evenly. Copying that stands before the first end that was seen is behind for
longer than that.

A partition that is copied to its end is 0 behind while reports come. Without them, nobody knows what has been written
since, and the time since the last one is added.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import SAMPLE_INTERVAL, LogPosition

MOST_ENDS = 20
FRESH_SECONDS = 3 * SAMPLE_INTERVAL
"""Reports come more often than that while a copy job is well."""
TREND_SECONDS = 60.0
REWIND_SECONDS = 300.0
"""The time for which it is told that copying went back."""
_KEPT_SECONDS = 60.0
"""A partition that is away for longer, in a rebalance, begins anew."""


class _End(NamedTuple):
    time: float
    """The last moment at which the log was known to end there."""
    offset: int


class Behind(NamedTuple):
    """The time that something is behind."""

    seconds: float
    is_longer: bool = False
    """It is behind for longer than that."""


_NOT_BEHIND = Behind(0.0)


class PartitionLag:
    """The ends of the log of one partition, of which the first alone may be copied."""

    def __init__(self) -> None:
        self.records = 0
        """The offsets between copying and the end, at the last report."""
        self._ends: list[_End] = []
        self._told = _NOT_BEHIND
        self._told_at = -math.inf
        self._copied = 0
        self._rewound = 0
        self._rewound_at = -math.inf

    def note(self, copied: int, end: int, now: float) -> None:
        """Note a report."""
        ends, self._told_at = self._ends, now
        if copied < self._copied:
            self._rewound, self._rewound_at = self._copied - copied, now
        self._copied = copied
        if copied >= end:
            ends[:] = [_End(now, end)]
            self.records, self._told = 0, _NOT_BEHIND
            return
        if ends and end < ends[-1].offset:  # the log was cut, or is another topic's
            ends.clear()
        if not ends or end > ends[-1].offset:  # else nobody may have asked since, because there is no room for more
            ends.append(_End(now, end))
        while len(ends) > 1 and ends[1].offset <= copied:
            del ends[0]
        if len(ends) > MOST_ENDS:
            _thin_out(ends)
        self.records, self._told = end - copied, self._behind(copied, now)

    def _behind(self, copied: int, now: float) -> Behind:
        first = self._ends[0]
        if copied < first.offset:
            return Behind(now - first.time, is_longer=True)
        second = self._ends[1]
        share = (copied - first.offset) / (second.offset - first.offset)
        return Behind(now - first.time - share * (second.time - first.time))

    def read(self, now: float, *, reports: bool) -> Behind:
        """Return how long it is behind; `reports`: a copy job is there to report."""
        age = now - self._told_at
        return self._told if reports and age <= FRESH_SECONDS else self._told._replace(seconds=self._told.seconds + age)

    def rewound(self, now: float) -> int:
        """Return the offsets by which copying went back in the last minutes, the last time it did; 0: it did not."""
        return self._rewound if now - self._rewound_at < REWIND_SECONDS else 0


def _thin_out(ends: list[_End]) -> None:
    """Leave out the end that is nearest, in time, to both of its neighbours; never the first and the last."""
    del ends[min(range(1, len(ends) - 1), key=lambda at: ends[at + 1].time - ends[at - 1].time)]


@dataclass(slots=True)
class _StreamLag:
    """The partitions of one stream."""

    owned: frozenset[TopicPartition] = frozenset()
    reports: bool = False
    told: set[TopicPartition] = field(default_factory=set)
    """The owned ones of which something is known."""
    records: int = 0


class _Left(NamedTuple):
    """A point of a flow's trend."""

    begin: float
    """The time of its first report."""
    time: float
    """The time of its last report."""
    records: int
    """The offsets that were left to copy then."""


class FlowLag:
    """The lag of one flow, of all its streams. Its caller holds the lock of the registry."""

    def __init__(self) -> None:
        self._partitions: defaultdict[TopicPartition, PartitionLag] = defaultdict(PartitionLag)
        self._left_at: dict[TopicPartition, float] = {}
        self._streams: defaultdict[int, _StreamLag] = defaultdict(_StreamLag)
        self._trend: deque[_Left] = deque()

    def owns(self, stream: int, owned: frozenset[TopicPartition], now: float) -> None:
        """Note which partitions a stream has; those that it left are remembered for a moment."""
        found = self._streams[stream]
        self._left_at |= dict.fromkeys(found.owned - owned, now)
        for partition in owned:
            self._left_at.pop(partition, None)
        for partition in [partition for partition, at in self._left_at.items() if now - at > _KEPT_SECONDS]:
            del self._left_at[partition]
            self._partitions.pop(partition, None)
        if found.owned != owned:
            self._trend.clear()
        found.owned, found.told = owned, found.told & owned

    def note(self, stream: int, positions: Iterable[LogPosition], now: float) -> None:
        """Note a report of a stream's copy job."""
        found = self._streams[stream]
        found.reports, found.records = True, 0
        for each in positions:
            partition = TopicPartition(each.topic, each.partition)
            if partition not in found.owned:
                continue
            if partition not in found.told:
                found.told.add(partition)
                self._trend.clear()
            lag = self._partitions[partition]
            lag.note(each.copied, each.end, now)
            found.records += lag.records
        self._note_trend(sum(each.records for each in self._streams.values()), now)

    def _note_trend(self, records: int, now: float) -> None:
        """Note what is left; streams that report one after another make one point."""
        trend = self._trend
        if trend and now - trend[-1].begin < SAMPLE_INTERVAL:
            trend[-1] = trend[-1]._replace(time=now, records=records)
            return
        trend.append(_Left(now, now, records))
        while now - trend[0].time > TREND_SECONDS:
            trend.popleft()

    def copy_ended(self, stream: int) -> None:
        """Note that nobody reports for a stream until its next copy job does."""
        self._streams[stream].reports = False

    def partitions(self, now: float) -> Mapping[TopicPartition, Behind]:
        """Return how long each partition is behind, of those that were told of."""
        return {
            partition: self._partitions[partition].read(now, reports=found.reports)
            for found in self._streams.values()
            for partition in found.told
        }

    def records(self, partition: TopicPartition) -> int:
        """Return the offsets between copying and the end of the log of a partition, at its last report."""
        return self._partitions[partition].records

    def rewound(self, partition: TopicPartition, now: float) -> int:
        """Return the offsets by which copying of a partition went back lately."""
        return self._partitions[partition].rewound(now)

    def caught_up_seconds(self, now: float, worst: Behind) -> float | None:
        """Return the seconds until nothing is left; None where that is unknown, or never comes as it goes now."""
        if not worst.is_longer and worst.seconds < SAMPLE_INTERVAL:  # nearer than it can be measured
            return 0.0
        if not self._trend or now - self._trend[-1].time > FRESH_SECONDS:
            return None
        before, left = self._trend[0], self._trend[-1]
        if left.records >= before.records:
            return None
        seconds = left.records * (left.time - before.time) / (before.records - left.records)
        return max(0.0, seconds - (now - left.time))
