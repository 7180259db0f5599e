"""When a source partition's offset sync is due, as MirrorMaker 2 has it: after the first record, after a gap at the
source, when the target's offsets go back, and when a reader's translation has become too stale.

Where many have become due at once, a selection is sent: the newest, and ever fewer of those before it. That is as a
reader's store keeps them (`offset_sync_store.py`), so a group that stands some way behind the newest one is translated
to about as far before it as with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from legacy_mm.base.model import OffsetPair

_MOST_AT_ONCE = 1_000
"""Due ones of a partition that wait to be selected from."""


class PartitionSyncs:
    """The syncs of one source partition that wait to be sent: due ones, and one for the next flush."""

    def __init__(self, lag_max: int) -> None:
        self._every = lag_max + 1
        self._next_upstream: int | None = None
        self._previous_downstream = 0
        self._synced_downstream = 0
        self._pending: list[OffsetPair] = []
        self._delayed: OffsetPair | None = None

    def acknowledged(self, upstream: int, downstream: int, count: int) -> None:
        """Record that `count` records at consecutive source offsets have consecutive target offsets, from these on."""
        step = self._first_due(upstream, downstream)
        last = count - 1
        if step <= last:
            more = (last - step) // self._every
            steps = [step + self._every * number for number in _ever_fewer(more)]
            self._add(OffsetPair(upstream + each, downstream + each) for each in steps)
            step = steps[-1]
            self._synced_downstream = downstream + step
        self._delayed = OffsetPair(upstream + last, downstream + last) if step != last else None
        self._next_upstream = upstream + count
        self._previous_downstream = downstream + last

    def promote_delayed(self) -> None:
        """Make the newest record's sync due at the flush, whatever the lag."""
        if self._delayed is not None:
            self._add([self._delayed])
            self._delayed = None

    def take_pending(self) -> list[OffsetPair]:
        """Take the due syncs that are worth sending, in their order, once."""
        pending, self._pending = self._pending, []
        return selected(pending)

    def _add(self, due: Iterable[OffsetPair]) -> None:
        self._pending += due
        if len(self._pending) > _MOST_AT_ONCE:
            self._pending = selected(self._pending)

    def _first_due(self, upstream: int, downstream: int) -> int:
        """Return the index of the first record of a run with a sync due: 0 is the run's own first."""
        if upstream != self._next_upstream or downstream < self._previous_downstream:
            return 0
        # A reader translates to one past the last sync: from there the lag counts.
        return max(0, self._synced_downstream + self._every - downstream)


def selected(syncs: Sequence[OffsetPair]) -> list[OffsetPair]:
    """Select, of syncs in the order in which they became due, the first, the last, and ever fewer the farther before
    the last.

    Each omitted sync has a kept one before it, at most twice as far from the last one. Syncs from before a way back, at
    the source or at the target, are void.
    """
    begin = next((at for at in range(len(syncs) - 1, 0, -1) if _goes_back(syncs[at - 1], syncs[at])), 0)
    kept: list[OffsetPair] = []
    nearest = None
    for sync in syncs[begin:]:
        distance = (syncs[-1].upstream - sync.upstream).bit_length()
        if nearest is None or distance < nearest or sync is syncs[-1]:
            kept.append(sync)
            nearest = distance
    return kept


def _goes_back(sync: OffsetPair, following: OffsetPair) -> bool:
    return following.upstream < sync.upstream or following.downstream < sync.downstream


def _ever_fewer(last: int) -> list[int]:
    """Return 0, `last`, and of the numbers between them those that are a power of two before `last`."""
    return sorted({0, last, *(last - (1 << exponent) for exponent in range(last.bit_length()))})
