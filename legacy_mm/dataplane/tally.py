"""The records sent between two barriers, per partition: made only where receipts are asked for."""

from __future__ import annotations

from legacy_mm.control_channel.frames import Portion
from legacy_mm.model import Columns, TopicPartition


class Tally:
    """Counts records and their bytes."""

    def __init__(self) -> None:
        self._portions: dict[TopicPartition, list[int]] = {}

    def sent(self, records: Columns) -> None:
        """Add the records given to the producer, in the order of each partition."""
        for partition, found in records.by_partition():
            portion = self._portions.setdefault(partition, [found.offsets[0], 0, 0, 0])
            portion[1] = found.offsets[-1] + 1
            portion[2] += len(found)
            portion[3] += sum(map(len, filter(None, found.keys))) + sum(map(len, filter(None, found.values)))

    def take(self) -> list[Portion]:
        """Take the portions sent since the last call."""
        portions = [Portion(*place, *counted) for place, counted in self._portions.items()]
        self._portions.clear()
        return portions
