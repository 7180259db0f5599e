"""Where a group goes on at the target, told from the pairs of offsets that are known, and how that is known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter

from legacy_mm.model import OffsetPair
from legacy_mm.policies.offset_map import OffsetMap


class How(StrEnum):
    """How a target offset is known, or why it is not; the values stand in JSON."""

    EXACT = "exact"
    """Nothing is missed and nothing is read again."""
    NEAREST_PAIR = "nearest-pair"
    """The exact map ends before the offset, or has a hole there: some records may be read again."""
    OFFSET_SYNC = "offset-sync"
    """By MirrorMaker 2's rule: some records may be read again."""
    NOTHING_TO_READ = "nothing-to-read"
    """The source partition holds no record, so none was copied: the end at the target."""
    NOT_MIRRORED = "not-mirrored"
    NO_COPY = "no-copy"
    """The target has no such partition."""
    TOO_OLD = "too-old"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one offset."""

    how: How
    offset: int | None = None
    """At the target; None: nobody can tell."""
    pair: OffsetPair | None = None
    """What it was told by, or the oldest pair that is known."""
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
            How.NOTHING_TO_READ: "the partition holds no records: the end at the target",
            How.NOT_MIRRORED: "the topic is not mirrored",
            How.NO_COPY: "the target has no such partition",
            How.TOO_OLD: f"older than all that is known, which begins at {oldest}",
            How.UNKNOWN: "nothing is known of this partition",
        }[self.how]


def answer(
    offset: int, pairs: OffsetMap, syncs: Sequence[OffsetPair], records_between: Callable[[int, int], bool]
) -> Answer:
    """Of a group that reads this source offset next.

    `syncs`: the newest first. `records_between`: whether the source has records from one offset to before another; it
    is asked when the map ends before the offset, which may stand behind a transaction's marker.
    """
    runs = pairs.runs
    exact = pairs.translate(offset)
    behind = not runs or offset > runs[-1].end.upstream
    if exact is not None and not (
        records_between(runs[-1].end.upstream, offset) if behind else _in_hole(pairs, offset)
    ):
        return Answer(How.EXACT, exact)
    sync = next((each for each in syncs if each.upstream <= offset), None)
    synced = -1 if sync is None else sync.downstream + (sync.upstream != offset)
    if exact is not None and exact >= synced:
        return Answer(How.NEAREST_PAIR, exact, _run_before(pairs, offset), behind)
    if sync is not None:
        return Answer(How.OFFSET_SYNC, synced, sync, behind)
    if syncs or runs:
        return Answer(How.TOO_OLD, pair=min([*syncs, *(OffsetPair(*run[:2]) for run in runs[:1])]))
    return Answer(How.UNKNOWN, behind=True)


def copied_until(pairs: OffsetMap) -> int:
    """The source offset to which the exact map knows that records were copied."""
    return pairs.runs[-1].end.upstream if pairs.runs else 0


def _in_hole(pairs: OffsetMap, offset: int) -> bool:
    run = pairs.runs[_index(pairs, offset)]
    return run.length == 0 and offset > run.upstream


def _run_before(pairs: OffsetMap, offset: int) -> OffsetPair:
    return pairs.runs[_index(pairs, offset)].end


def _index(pairs: OffsetMap, offset: int) -> int:
    return bisect_right(pairs.runs, offset, key=attrgetter("upstream")) - 1
