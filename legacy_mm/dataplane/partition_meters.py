"""Count and age of the records of a partition that went to the target: MirrorMaker 2's measures.

Made only where pairs of offsets are asked for, and fed per batch or per read, never per record. The header of an
unopened batch (`batch_contents.py`) has the times of its newest and of its first record, and the number of records. So
its youngest age is exact, its greatest one is that of its first record, and the average takes its records as evenly
spread between the two. Records without a time, or with 0, are counted only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from legacy_mm.base.clock import epoch_ms, monotonic
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import JOB, SAMPLE_INTERVAL, Measured, Statistics
from legacy_mm.clients.net.traffic import Spread

if TYPE_CHECKING:
    from legacy_mm.protocol.record_batch import Header


class Times(NamedTuple):
    """The known times of some records; milliseconds since 1970."""

    records: int
    total: float
    oldest: int
    newest: int

    @classmethod
    def of_batch(cls, header: Header, begin: int = 0) -> Times | None:
        """Return the times from the header alone, without records before offset `begin`."""
        newest = header.max_timestamp
        if newest <= 0:
            return None
        unlike = header.has_append_time or header.delete_horizon is not None
        oldest = newest if unlike or header.base_offset < begin else max(0, header.base_timestamp) or newest
        count = min(header.records, header.next_offset - begin)
        return cls(count, (oldest + newest) / 2 * count, oldest, newest)


class Sized(NamedTuple):
    """When some records were made, and how large their values are together."""

    times: Times | None
    value_bytes: int
    estimated: bool = False


class PartitionMeters:
    """The meters of one copy job. Not for several threads."""

    def __init__(self, partitions: Iterable[TopicPartition]) -> None:
        """Create the meters; other partitions are ignored."""
        self._meters = {partition: _Meter() for partition in partitions}
        self._next = monotonic() + SAMPLE_INTERVAL

    def read(self, partition: TopicPartition, next_offset: int, sizes: Sized) -> None:
        """Note that records up to `next_offset` were read."""
        if (meter := self._meters.get(partition)) is None:
            return
        if sizes.times is not None:
            meter.age.note(sizes.times)
            meter.waiting.append((next_offset, sizes.times.oldest))
        meter.value_bytes += sizes.value_bytes
        if sizes.estimated:
            meter.estimated_bytes += sizes.value_bytes

    def acknowledged(self, partition: TopicPartition, records: int, times: Times | None) -> None:
        """Note that the target has the records."""
        if (meter := self._meters.get(partition)) is None:
            return
        meter.records += records
        if times is not None:
            meter.latency.note(times)

    def passed(self, partition: TopicPartition, offset: int) -> None:
        """Note that everything below this offset is copied, or dropped on purpose."""
        if (meter := self._meters.get(partition)) is not None:
            while meter.waiting and meter.waiting[0][0] <= offset:
                meter.waiting.popleft()

    def restart(self, partition: TopicPartition) -> None:
        """Restart the partition at another position."""
        if partition in self._meters:
            self._meters[partition].waiting.clear()

    def statistics_when_due(self, safe: Offsets, *, last: bool = False) -> Statistics | None:
        """Return the statistics, every few seconds, and the `last` ones at any time; `safe`: as for `passed`."""
        now = monotonic()
        if now < self._next and not last:
            return None
        self._next = now + SAMPLE_INTERVAL
        for partition, offset in safe.items():
            self.passed(partition, offset)
        rows = [meter.row(partition, epoch_ms()) for partition, meter in self._meters.items()]
        return Statistics(JOB, rows)


class _Ages:
    def __init__(self) -> None:
        self.last: float | None = None
        self.spread = Spread()

    def note(self, times: Times) -> None:
        now = epoch_ms()
        self.last = now - times.newest
        self.spread.add_many(now * times.records - times.total, times.records, now - times.oldest, self.last)


class _Meter:
    def __init__(self) -> None:
        self.records = 0
        self.value_bytes = self.estimated_bytes = 0
        self.age, self.latency = _Ages(), _Ages()
        self.waiting: deque[tuple[int, int]] = deque()
        """Read and not known to be copied: one past the last of some records, and the time of the first."""

    def row(self, partition: TopicPartition, now: int) -> Measured:
        counters = {
            "records": self.records,
            "value_bytes": self.value_bytes,
            "estimated_bytes": self.estimated_bytes,
        }
        gauges, spreads = {}, {}
        for name, ages in (("age_ms", self.age), ("latency_ms", self.latency)):
            if ages.last is not None:
                gauges[f"last_{name}"] = ages.last
            if (spread := ages.spread.take()) is not None:
                spreads[name] = spread
        if self.waiting:
            gauges["uncopied_seconds"] = max(0, now - self.waiting[0][1]) / 1000
        return Measured("partition", str(partition), counters, gauges, spreads, {})
