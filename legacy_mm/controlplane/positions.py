"""Where a copy job starts, and where it goes on after a gap."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from legacy_mm import events
from legacy_mm.config.settings import OffsetReset
from legacy_mm.copyjob import Gap
from legacy_mm.errors import SourceGap, StreamFailure
from legacy_mm.group import Member
from legacy_mm.model import EARLIEST, LATEST, TopicPartition, describe_partitions


class PositionStore(Protocol):
    """Proposes start offsets for newly assigned partitions."""

    def propose(self, member: Member, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """A start offset, or EARLIEST or LATEST, for each. Raises TimeoutError, StreamFailure."""


class SourceGroupPositions:
    """The group's committed offsets at the source, else `auto.offset.reset`: what the old tool does."""

    def __init__(self, offset_reset: OffsetReset, timeout: float) -> None:
        self._offset_reset = offset_reset
        self._timeout = timeout

    def propose(self, member: Member, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """See `PositionStore`."""
        if not partitions:
            return {}
        committed = member.committed(partitions, self._timeout)
        missing = [partition for partition in partitions if partition not in committed]
        if missing and self._offset_reset == "none":
            raise StreamFailure("Undefined offset with no reset policy for partitions: " + describe_partitions(missing))
        logical = EARLIEST if self._offset_reset == "earliest" else LATEST
        return committed | dict.fromkeys(missing, logical)


class GapGuard:
    """What happens at offsets that the source cannot give any more: said, counted, passed or fatal (invariant F).

    What `latest` skips where the group has no offset is said and counted, too; it is never fatal.
    """

    def __init__(
        self,
        offset_reset: OffsetReset,
        count: Callable[[int], None],
        count_skipped: Callable[[int], None],
        *,
        fail: bool,
    ) -> None:
        self._offset_reset = offset_reset
        self._count = count
        self._count_skipped = count_skipped
        self._fail = fail
        self._begun: dict[TopicPartition, int] = {}

    def begun(self, partition: TopicPartition, low: int, start: int) -> None:
        """A partition without a committed offset begins here; the log's first offset is `low`.

        One that was begun before, and nothing committed since, skips only what came after that.
        """
        before = self._begun.get(partition, low)
        self._begun[partition] = start
        skipped_from = before if low <= before <= start else low
        if start > skipped_from:
            self._count_skipped(start - skipped_from)
            events.emit(events.SKIPPED, partition=partition, start=skipped_from, end=start, count=start - skipped_from)

    def after(self, gap: Gap) -> int:
        """The offset to go on from, by the user's policy; raises StreamFailure where there is none."""
        partition = gap.topic_partition
        resumed = gap.low if self._offset_reset == "earliest" else gap.high
        if gap.parts_at >= 0:
            resumed = gap.parts_at  # as Java's consumer, whichever of the two the policy names
        missed = max(0, resumed - gap.wanted)
        self._count(missed)
        events.emit(
            events.GAP,
            partition=partition,
            start=gap.wanted,
            end=resumed,
            count=missed,
            reason=_reason(gap),
            low=gap.low,
            high=gap.high,
            detail=gap.reason,
        )
        if self._fail:
            raise SourceGap(f"{partition} has no offset {gap.wanted} any more: {_reason(gap)}")
        if self._offset_reset == "none":
            raise StreamFailure(
                f"Fetch position {gap.wanted} of {partition} is out of range ({gap.low} to {gap.high}) "
                "and no reset policy is defined"
            )
        return resumed

    def recreated(self, topic: str, before: str, now: str) -> None:
        """A topic was deleted and made again while the mirror ran; raises SourceGap where that is fatal."""
        self._count(0)
        events.emit(events.TOPIC_RECREATED, topic=topic, before=before, now=now)
        if self._fail:
            raise SourceGap(f"topic {topic} was deleted and made again")


def _reason(gap: Gap) -> str:
    if gap.parts_at >= 0:
        return f"the log was truncated at {gap.parts_at} and goes on with other records"
    if gap.wanted < gap.low:
        return "retention or a deletion of records came before the mirror"
    if gap.wanted <= gap.high:
        return "the topic was deleted and made again"
    return "the log is shorter than what was read: it was truncated, or the topic made again"
