"""The records that were copied since the last report, per partition: made only where receipts are asked for."""

from __future__ import annotations

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Portion


class Tally:
    """Counts records and their bytes."""

    def __init__(self) -> None:
        self._portions: dict[TopicPartition, list[int]] = {}

    def add(self, copied: Portion) -> None:
        """Add the next records of a partition."""
        portion = self._portions.setdefault(TopicPartition(*copied[:2]), [copied.begin, 0, 0, 0])
        portion[1] = copied.end
        portion[2] += copied.records
        portion[3] += copied.bytes

    def take(self) -> list[Portion]:
        """Take the portions added since the last call."""
        portions = [Portion(*place, *counted) for place, counted in self._portions.items()]
        self._portions.clear()
        return portions
