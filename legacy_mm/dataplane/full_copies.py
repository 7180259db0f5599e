"""A copy that holds records already where a partition begins at its first one: what is there of it comes twice.

It is seen where the first record of a partition gets an offset at the target that is not the first, so nothing is asked
for it. Only copies that keep the numbers of partitions tell: into others, records of other partitions come meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from legacy_mm.base.model import EARLIEST, Offsets
from legacy_mm.dataplane.acks import Part
from legacy_mm.logs import events

CountOfPartitions = Callable[[str], int]


class FullCopies:
    """Tells once for each topic; made where nobody has looked at both ends before."""

    def __init__(
        self, names: Mapping[str, str], starts: Offsets, source: CountOfPartitions, target: CountOfPartitions
    ) -> None:
        """Take what a copy job copies and where it begins; both ends return the number of partitions of a topic."""
        self._names = names
        self._source, self._target = source, target
        self._beginning = {partition for partition, start in starts.items() if start == EARLIEST}
        self._mixed: set[str] = set()
        """Topics into which a record came that changed the number of its partition; and those that were told."""

    def acknowledged(self, part: Part, base_offset: int) -> None:
        """Handle what a copy has from this offset on; -1: nobody knows."""
        if not self._beginning:
            return
        place = part.piece.partition
        if part.moved:
            self._mixed.add(place.topic)
        elif place in self._beginning:
            self._beginning.discard(place)
            copy = self._names[place.topic]
            if base_offset > 0 and place.topic not in self._mixed and self._source(place.topic) == self._target(copy):
                self._mixed.add(place.topic)
                events.emit(events.COPY_FULL, topic=copy, partition=place, count=base_offset)
