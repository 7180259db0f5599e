"""What may be committed: the safe offset of each partition. No Kafka in it.

Invariant A: a safe offset moves only at a barrier, when everything sent before it is acknowledged or dropped on
purpose, and it is always one past a *data record*, never past a control record or a hole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legacy_mm.model import Offsets, TopicPartition


class SafeOffsets:
    """Safe offsets of one copy job, and which of them moved since they were last reported."""

    def __init__(self) -> None:
        self._safe: dict[TopicPartition, int] = {}
        self._moved: set[TopicPartition] = set()

    def barrier(self, sent: Offsets) -> None:
        """Everything below `sent` is acknowledged."""
        for partition, offset in sent.items():
            before = self._safe.get(partition, -1)
            assert offset >= before, f"invariant B: {partition} went back from {before} to {offset}"
            if offset > before:
                self._safe[partition] = offset
                self._moved.add(partition)

    def restart(self, partition: TopicPartition) -> None:
        """The partition goes on elsewhere after a gap; what counted before is over."""
        self._safe.pop(partition, None)
        self._moved.discard(partition)

    def take_moved(self) -> dict[TopicPartition, int]:
        """Safe offsets that moved since the last call."""
        moved = {partition: self._safe[partition] for partition in self._moved}
        self._moved.clear()
        return moved


def sent_offsets(positions: Offsets, unsent: Sequence[Any], sent: Sequence[Any]) -> dict[TopicPartition, int]:
    """One past the last *sent* record per partition, where the reader is already past `unsent` records too.

    `positions` is what the reader handed out; `sent` and `unsent` are the two parts of its last batch. A partition
    with unsent records counts up to its last sent one in this batch, and not at all if there is none (then an earlier
    barrier's offset stands).
    """
    if not unsent:
        return dict(positions)
    waiting = {TopicPartition(record.topic(), record.partition()) for record in unsent}
    offsets = {partition: offset for partition, offset in positions.items() if partition not in waiting}
    for record in sent:
        partition = TopicPartition(record.topic(), record.partition())
        if partition in waiting:
            offsets[partition] = record.offset() + 1
    return offsets
