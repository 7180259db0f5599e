"""What was sent between two barriers, per partition: made only where receipts are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from legacy_mm.copyjob import Portion


class Tally:
    """Counts records and their bytes."""

    def __init__(self) -> None:
        self._portions: dict[tuple[str, int], list[int]] = {}

    def sent(self, records: Iterable[Any]) -> None:
        """These were given to the producer, in the order of each partition."""
        for record in records:
            offset = record.offset()
            portion = self._portions.setdefault((record.topic(), record.partition()), [offset, 0, 0, 0])
            portion[1] = offset + 1
            portion[2] += 1
            portion[3] += len(record.key() or b"") + len(record.value() or b"")

    def take(self) -> list[Portion]:
        """What was sent since the last call."""
        portions = [Portion(*place, *counted) for place, counted in self._portions.items()]
        self._portions.clear()
        return portions
