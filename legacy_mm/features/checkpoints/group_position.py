"""The position at which a group resumes at the target, found from the known pairs of offsets, and its origin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from legacy_mm.base.model import OffsetPair
from legacy_mm.features.offset_syncs.offset_map import Nearest, OffsetMap
from legacy_mm.features.offset_syncs.offset_sync_store import by_sync, sync_for

_WAY_OUT = "; with --from-first: the copy's first record"


class How(StrEnum):
    """The origin of a target offset, or the reason why it is unknown; the values stand in JSON."""

    EXACT = "exact"
    """Nothing is missed and nothing is read again."""
    NEAREST_PAIR = "nearest-pair"
    """The exact map ends before the offset, has a hole there, or is less exact so far back: some records may be read
    again."""
    OFFSET_SYNC = "offset-sync"
    """By MirrorMaker 2's rule: some records may be read again."""
    NOTHING_TO_READ = "nothing-to-read"
    """The source partition holds no record, and the group has read all there were, or the copy holds none either."""
    CHECKPOINT = "checkpoint"
    """By what the mirror told of the group before: some records may be read again."""
    AT_THE_END = "at-the-end"
    """Nothing is known, but group and mirror have read every partition of the topic to its end."""
    FIRST_RECORD = "first-record"
    """The begin of the copy, as the user says."""
    NOT_MIRRORED = "not-mirrored"
    NO_COPY = "no-copy"
    """The target has no such partition."""
    COPY_RECREATED = "copy-made-again"
    """The known pairs belong to an earlier copy that was longer than the current one."""
    TOO_OLD = "too-old"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class GroupPosition:
    """The answer for one offset."""

    how: How
    offset: int | None = None
    """The offset at the target; None: unknown."""
    pair: OffsetPair | None = None
    """The pair that gave the answer, or the oldest known pair."""
    behind: bool = False
    """The exact map has not come to the offset yet: once it has, the answer may be better."""

    @property
    def text(self) -> str:
        """The answer's reason."""
        pair = self.pair and f"{self.pair.upstream} -> {self.pair.downstream}"
        oldest = self.pair and self.pair.upstream
        return {
            How.EXACT: "exactly",
            How.NEAREST_PAIR: f"by the nearest known pair, {pair}; some records may be read again",
            How.OFFSET_SYNC: f"by the offset sync {pair}; some records may be read again",
            How.NOTHING_TO_READ: "the partition holds no records for it: the end at the target",
            How.CHECKPOINT: f"by the mirror's checkpoint {pair}; some records may be read again",
            How.AT_THE_END: "the group and the mirror are at the end of every partition of the topic: the end at the "
            "target, on condition that nobody else writes there",
            How.FIRST_RECORD: "the copy's first record, as asked: what the source held before it is not there, and "
            "some records may be read again",
            How.NOT_MIRRORED: "the topic is not mirrored",
            How.NO_COPY: "the target has no such partition",
            How.COPY_RECREATED: "its copy ends before all that is known: it was deleted and recreated",
            How.TOO_OLD: f"older than all that is known, which begins at {oldest}{_WAY_OUT}",
            How.UNKNOWN: f"nothing is known of this partition{_WAY_OUT}",
        }[self.how]


def best(offset: int, nearest: Nearest, syncs: Sequence[OffsetPair]) -> GroupPosition:
    """Return the better of the exact map and the offset syncs, newest first, for a source offset: the greater one.

    A sync is used only where it knows more than the map. A sync of records from before the map whose target offset is
    after the map's beginning is void: the target's topic was recreated since.
    """
    pair, first, slack = nearest
    if pair is not None and pair.upstream == offset and not slack:
        return GroupPosition(How.EXACT, pair.downstream)
    sync = sync_for(offset, syncs)
    if pair is None and sync is not None and first is not None and sync.downstream >= first.downstream:
        return GroupPosition(How.TOO_OLD, pair=first)
    if sync is not None and (pair is None or pair.upstream <= sync.upstream):
        synced = by_sync(offset, sync)
        if pair is None or synced > pair.downstream:
            return GroupPosition(How.OFFSET_SYNC, synced, sync)
    if pair is not None:
        return GroupPosition(How.NEAREST_PAIR, pair.downstream, pair)
    if syncs or first is not None:
        return GroupPosition(How.TOO_OLD, pair=min(filter(None, [*syncs, first])))
    return GroupPosition(How.UNKNOWN)


def by_checkpoint(
    position: GroupPosition, offset: int, checkpoint: OffsetPair | None, first: OffsetPair | None
) -> GroupPosition:
    """Return the mirror's earlier checkpoint of the group, where it is greater than `position`.

    `first`: the begin of the exact map; an older checkpoint with a greater target offset is of a former copy.
    """
    if checkpoint is None or checkpoint.upstream > offset:
        return position
    if first is not None and checkpoint.upstream < first.upstream and checkpoint.downstream >= first.downstream:
        return position
    if position.offset is None or position.offset < checkpoint.downstream:
        return GroupPosition(How.CHECKPOINT, checkpoint.downstream, checkpoint, position.behind)
    return position


def answer(
    offset: int, pairs: OffsetMap, syncs: Sequence[OffsetPair], records_between: Callable[[int, int], bool]
) -> GroupPosition:
    """Answer for a group that reads this source offset next.

    `syncs`: the newest first. `records_between`: True if the source has records from one offset to before another; it
    is called when the map ends before the offset, which may come after a transaction's marker.
    """
    end = pairs.runs[-1].end if pairs.runs else None
    if end is not None and end.upstream < offset and not records_between(end.upstream, offset):
        return GroupPosition(How.EXACT, end.downstream)
    found = best(offset, pairs.nearest(offset), syncs)
    may_improve = found.how in (How.NEAREST_PAIR, How.OFFSET_SYNC, How.UNKNOWN)
    return replace(found, behind=may_improve and (end is None or end.upstream < offset))


def first_known(first: OffsetPair | None, syncs: Sequence[OffsetPair]) -> int | None:
    """Return the lowest source offset that the exact map, which begins with `first`, or a sync knows; None: neither."""
    return min((each.upstream for each in (*syncs, first) if each is not None), default=None)


def copied_until(pairs: OffsetMap) -> int:
    """Return the source offset to which the exact map has records as copied."""
    return pairs.runs[-1].end.upstream if pairs.runs else 0
