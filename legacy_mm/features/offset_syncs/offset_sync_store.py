"""MirrorMaker 2's offset translation: 64 syncs of one source partition, dense near the newest, ever sparser behind it.

Slot 0 has the newest sync, slot 63 the oldest usable one; neighbours may have the same. Between slots i < j with
different syncs there is a greatest distance at the source, u_i <= u_j + 2^j - 2^i, and a least,
u_i >= u_j + 2^max(i-2, 0), both in Java's 64-bit arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable

from legacy_mm.base.model import OffsetPair

SLOTS = 64


class OffsetSyncStore:
    """The syncs of one source partition, as a reader of the offset-syncs topic keeps them."""

    def __init__(self) -> None:
        self._slots: list[OffsetPair] = []

    @property
    def slots(self) -> tuple[OffsetPair, ...]:
        """All 64, or none before the first sync."""
        return tuple(self._slots)

    def add(self, upstream: int, downstream: int) -> None:
        """Add a sync that was read. One that goes back at the source makes all others void."""
        sync = OffsetPair(upstream, downstream)
        if not self._slots or upstream < self._slots[0].upstream:
            self._slots = [sync] * SLOTS
        else:
            self._slots = _inserted(sync, self._slots)


def sync_for(offset: int, slots: Iterable[OffsetPair]) -> OffsetPair | None:
    """Return the newest sync that is not beyond a source offset."""
    return next((sync for sync in slots if sync.upstream <= offset), None)


def by_sync(offset: int, sync: OffsetPair) -> int:
    """Return the target position for this source offset: the sync's record, or the one after it."""
    return sync.downstream + (sync.upstream != offset)


def _inserted(sync: OffsetPair, old: list[OffsetPair]) -> list[OffsetPair]:
    new = [sync, *old[1:]]
    candidate = sync
    read = 0
    for slot in range(1, SLOTS):
        skip = True
        while skip and read < slot:
            value = old[read]
            apart = _far_enough(new[slot - 1], value, slot - 1)
            fits = slot == SLOTS - 1 or _far_enough(value, new[slot + 1], slot)
            taken = apart and fits and _near_enough(new[slot - 1], value, slot - 1, slot)
            if taken:
                candidate = value
            skip = old[read + 1] is value or not apart
            read += taken or skip
        if _near_enough(new[slot - 1], new[slot], slot - 1, slot):
            break
        new[slot] = candidate
    return new


def _near_enough(newer: OffsetPair, older: OffsetPair, i: int, j: int) -> bool:
    bound = _long(older.upstream + (1 << j) - (1 << i))
    return newer is older or bound < 0 or newer.upstream <= bound


def _far_enough(newer: OffsetPair, older: OffsetPair, i: int) -> bool:
    bound = _long(older.upstream + (1 << max(i - 2, 0)))
    return newer is older or 0 <= bound <= newer.upstream


def _long(number: int) -> int:
    """Convert a number to Java's `long`."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
