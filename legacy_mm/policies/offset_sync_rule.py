"""When a source partition's offset sync is due, as MirrorMaker 2 has it: after the first record, after a gap at the
source, when the target's offsets go back, and when a reader's translation has become too stale."""

from __future__ import annotations

from legacy_mm.model import OffsetPair


class PartitionSyncs:
    """The syncs of one source partition that wait to be sent: a due one, and one for the next flush."""

    def __init__(self, lag_max: int) -> None:
        self._lag_max = lag_max
        self._next_upstream: int | None = None
        self._previous_downstream = 0
        self._synced_downstream = 0
        self._pending: OffsetPair | None = None
        self._delayed: OffsetPair | None = None

    def acknowledged(self, upstream: int, downstream: int, count: int) -> None:
        """`count` records at consecutive source offsets were written at consecutive target offsets, from these on."""
        step = self._first_due(upstream, downstream)
        last = count - 1
        if step <= last:
            step += (last - step) // (self._lag_max + 1) * (self._lag_max + 1)
            self._pending = OffsetPair(upstream + step, downstream + step)
            self._synced_downstream = downstream + step
        self._delayed = OffsetPair(upstream + last, downstream + last) if step != last else None
        self._next_upstream = upstream + count
        self._previous_downstream = downstream + last

    def promote_delayed(self) -> None:
        """The flush: the newest record's sync is due, whatever the lag."""
        if self._delayed is not None:
            self._pending, self._delayed = self._delayed, None

    def take_pending(self) -> OffsetPair | None:
        """The newest due sync, once."""
        pending, self._pending = self._pending, None
        return pending

    def _first_due(self, upstream: int, downstream: int) -> int:
        """Which record of a run is the first with a sync due: 0 is the run's own first."""
        if upstream != self._next_upstream or downstream < self._previous_downstream:
            return 0
        # A reader translates to one past the last sync: from there the lag counts.
        return max(0, self._synced_downstream + 1 + self._lag_max - downstream)
