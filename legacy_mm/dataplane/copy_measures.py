"""The measures of what a copy job has copied: offset pairs, meters, receipts.

Each is made only where it is asked for (invariant E).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import Frame, Portion, Statistics
from legacy_mm.dataplane.acks import Part
from legacy_mm.dataplane.batch_contents import BatchContents
from legacy_mm.dataplane.offset_pairs import OffsetPairs
from legacy_mm.dataplane.partition_meters import PartitionMeters, Sized
from legacy_mm.dataplane.plain_stage import Outbound
from legacy_mm.dataplane.routes import Router
from legacy_mm.dataplane.tally import Tally
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.runtime.channel.frames import Copied, Pairs, TaskConfig


class BatchMeasures(NamedTuple):
    """The measures of a source batch."""

    sized: Sized | None
    counted: Portion | None


class CopyMeasures:
    """The measures of one copy job. For one thread."""

    def __init__(self, config: TaskConfig, router: Router) -> None:
        self._router = router
        self._keeps_partition = frozenset(config.keeps_partition)
        self._pairs = OffsetPairs() if config.pairs else None
        keeps_partition = [partition for partition in config.offsets if partition.topic in self._keeps_partition]
        self._meters = PartitionMeters(keeps_partition) if config.pairs else None
        self._contents = BatchContents(router.contents)
        self.tally = Tally() if config.receipts else None
        """The portions that are safe are added to it."""

    def outbound(self, source: TopicPartition, arrived: Arrived, begin: int, outbound: Outbound) -> BatchMeasures:
        """Measure a batch, from this offset on, that is about to be sent; raise CorruptRecords."""
        batch, sized, counted = arrived.batch, None, None
        if self._meters is not None:
            sized = self._contents.measure(source, batch, outbound.contents)
            self._meters.read(source, outbound.next_offset, sized)
        if self.tally is not None:
            contents = outbound.contents or self._router.contents(batch, begin)
            size = contents.key_bytes + contents.value_bytes
            first = max(begin, batch.header.base_offset)
            counted = Portion(*source, first, outbound.next_offset, outbound.records, size)
        return BatchMeasures(sized, counted)

    def note(self, part: Part, base_offset: int) -> None:
        """Note where the records of a batch are at the target, if its offset there says where a consumer resumes."""
        if self._pairs is not None and part.is_copy and part.piece.partition.topic in self._keeps_partition:
            self._pairs.batch(part.piece.partition, part.offsets, base_offset)

    def acknowledged(self, part: Part, base_offset: int) -> None:
        """Note that the target has a batch, from this offset on."""
        self.note(part, base_offset)
        if self._meters is not None:
            self._meters.acknowledged(part.piece.partition, len(part.offsets), part.times)

    def restart(self, partition: TopicPartition) -> None:
        """Restart the partition at another position."""
        if self._meters is not None:
            self._meters.restart(partition)

    def frames(self, dropped: Mapping[str, int]) -> Iterator[Frame]:
        """Yield what the driver must have before the next `Progress`; `dropped`: reason -> records not sent."""
        if self._pairs is not None and (runs := self._pairs.take()):
            yield Pairs(runs)
        if self.tally is not None and ((portions := self.tally.take()) or dropped):
            yield Copied(portions, dropped)

    def statistics_when_due(self, safe: Offsets, *, last: bool = False) -> Statistics | None:
        """Return the statistics of the meters, every few seconds, and the `last` ones at any time.

        `safe`: offsets below which all is copied.
        """
        return None if self._meters is None else self._meters.statistics_when_due(safe, last=last)
