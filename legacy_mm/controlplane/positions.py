"""Where a copy job starts, and where it goes on after a gap."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from legacy_mm import events
from legacy_mm.config.settings import OffsetReset
from legacy_mm.copyjob import Gap
from legacy_mm.errors import StreamFailure
from legacy_mm.kafka.membership import GroupMember
from legacy_mm.model import EARLIEST, LATEST, TopicPartition, describe_partitions


class PositionStore(Protocol):
    """Proposes start offsets for newly assigned partitions."""

    offset_reset: OffsetReset

    def propose(self, member: GroupMember, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """A start offset, or EARLIEST or LATEST, for each. Raises TimeoutError, StreamFailure."""


class SourceGroupPositions:
    """The group's committed offsets at the source, else `auto.offset.reset`: what the old tool does."""

    def __init__(self, offset_reset: OffsetReset, timeout: float) -> None:
        self.offset_reset = offset_reset
        self._timeout = timeout

    def propose(self, member: GroupMember, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """See `PositionStore`."""
        if not partitions:
            return {}
        committed = member.committed(partitions, self._timeout)
        missing = [partition for partition in partitions if partition not in committed]
        if missing and self.offset_reset == "none":
            raise StreamFailure("Undefined offset with no reset policy for partitions: " + describe_partitions(missing))
        logical = EARLIEST if self.offset_reset == "earliest" else LATEST
        return committed | dict.fromkeys(missing, logical)


def after_gap(gap: Gap, offset_reset: OffsetReset) -> int:
    """The offset to go on from, by the user's policy; counts and reports what is skipped (invariant F)."""
    partition = TopicPartition(gap.topic, gap.partition)
    if offset_reset == "none":
        raise StreamFailure(
            f"Fetch position {gap.wanted} of {partition} is out of range ({gap.low} to {gap.high}) "
            "and no reset policy is defined"
        )
    resumed = gap.low if offset_reset == "earliest" else gap.high
    events.emit(
        events.GAP,
        partition=partition,
        wanted=gap.wanted,
        low=gap.low,
        high=gap.high,
        reason=gap.reason,
        resumed=resumed,
        missed=max(0, resumed - gap.wanted),
    )
    return resumed
