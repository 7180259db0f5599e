"""What may be committed: the safe offset of each partition. No Kafka in it.

Invariant A: a safe offset moves only at a barrier, when everything sent before it is acknowledged or dropped on
purpose, and it is always one past a *data record*, never past a control record or a hole. So it is counted from the
records that were sent; librdkafka's own position passes control records and would commit more than the old tool.
"""

from __future__ import annotations

from legacy_mm.model import Offsets, TopicPartition


class SafeOffsets:
    """Sent and safe offsets of one copy job, and which safe ones moved since they were last reported."""

    def __init__(self) -> None:
        self._sent: dict[TopicPartition, int] = {}
        self._safe: dict[TopicPartition, int] = {}
        self._moved: set[TopicPartition] = set()

    def sent(self, offsets: Offsets) -> None:
        """Everything below these was given to the producer."""
        self._sent |= offsets

    def barrier(self) -> None:
        """Everything sent so far is acknowledged."""
        for partition, offset in self._sent.items():
            before = self._safe.get(partition, -1)
            assert offset >= before, f"invariant B: {partition} went back from {before} to {offset}"
            if offset > before:
                self._safe[partition] = offset
                self._moved.add(partition)

    def restart(self, partition: TopicPartition) -> None:
        """The partition goes on elsewhere after a gap; what counted before is over."""
        self._sent.pop(partition, None)
        self._safe.pop(partition, None)
        self._moved.discard(partition)

    def unacknowledged(self) -> dict[TopicPartition, int]:
        """How far sending went where it is not safe yet."""
        return {partition: sent for partition, sent in self._sent.items() if self._safe.get(partition) != sent}

    def take_moved(self) -> dict[TopicPartition, int]:
        """Safe offsets that moved since the last call."""
        moved = {partition: self._safe[partition] for partition in self._moved}
        self._moved.clear()
        return moved
