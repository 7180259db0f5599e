"""The last stable offsets of the source: a transaction that hangs there keeps a committed reader from all behind it.

Brokers end a transaction after its time-out, but not one that they have lost count of (KAFKA-20734, KAFKA-14402).
"""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.logs import events

_LONG_TIMEOUT = 60.0
"""The time of a transaction unless its producer sets another `transaction.timeout.ms`; some have up to 15 minutes."""


@dataclass(slots=True)
class _Kept:
    """A last stable offset before the end of its log."""

    offset: int
    end: int
    since: float
    reported: bool = False


class StableOffsets:
    """The offsets of one copy job. One thread for each partition calls `note`."""

    def __init__(self) -> None:
        self._kept: dict[TopicPartition, _Kept] = {}

    def note(self, partition: TopicPartition, offset: int, end: int) -> None:
        """Note the last stable offset of a partition, and the end of its log."""
        kept = self._kept.get(partition)
        if offset >= end:
            if kept is not None:
                del self._kept[partition]
        elif kept is None or kept.offset != offset:
            self._kept[partition] = _Kept(offset, end, monotonic())
        else:
            kept.end = end

    def poll(self, now: float) -> None:
        """Tell, once, of each that has stayed where it is for longer than a transaction lasts by default."""
        for partition, kept in list(self._kept.items()):
            if not kept.reported and now - kept.since >= _LONG_TIMEOUT:
                kept.reported = True
                events.emit(
                    events.STABLE_OFFSET_STANDS_STILL,
                    partition=partition,
                    offset=kept.offset,
                    end=kept.end,
                    seconds=f"{_LONG_TIMEOUT:g}",
                    topic=partition.topic,
                    number=partition.partition,
                )
