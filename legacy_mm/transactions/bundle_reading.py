"""The reading of a bundle's source partitions: what waits for the end of a transaction keeps no memory for long."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.clients.fetch.fetcher import NOWHERE
from legacy_mm.dataplane.delivery import CopyParts
from legacy_mm.transactions.bundle_positions import BundlePositions

_PARK_TIMEOUT = 0.5
"""Seconds without a piece after which what was read for a bundle is forgotten, and makes room for the others."""

Begins = Callable[[TopicPartition], int]
"""The begin of the next piece of a partition."""


class BundleReading:
    """The reading for one bundle. For the engine's thread."""

    def __init__(self, parts: CopyParts, positions: BundlePositions) -> None:
        """Take the bundle; nothing is read before `begin`."""
        self.holds = 0
        """Counts how often what was read was forgotten."""
        self._fetcher = parts.fetcher
        self._forget = parts.forget
        self._positions = positions
        self._unread: set[TopicPartition] = set()
        """They wait until the group's offset comes from exactly once."""
        self._waits_since: float | None = None
        self._parked = False

    def begin(self, offsets: Offsets) -> set[TopicPartition]:
        """Read from these offsets on; return the partitions that wait for the group's offset."""
        self._parked, self._waits_since = False, None
        self._unread = self._positions.unmarked(offsets)
        self._positions.read({each: offset for each, offset in offsets.items() if each not in self._unread})
        return self._unread

    def go_on(self, begin: Begins) -> None:
        """Read, because the bundle takes pieces."""
        self._waits_since = None
        if self._parked:
            self._parked = False
            for partition in self._begun():
                self._fetcher.release(partition)
        self._positions.take_marked()
        if ready := self._unread - self._positions.unmarked(self._unread):
            self._unread -= ready
            self._positions.read({partition: begin(partition) for partition in ready})

    def wait(self, now: float, begin: Begins) -> None:
        """Let go of what was read when the bundle takes no pieces for long."""
        self._waits_since = self._waits_since or now
        if now - self._waits_since > _PARK_TIMEOUT:
            self.park(begin)

    def park(self, begin: Begins) -> None:
        """Let go of what was read, until the bundle takes pieces again."""
        if not self._parked:
            self._parked = True
            self.holds += 1
            for partition in self._begun():
                self._fetcher.hold(partition, begin(partition))

    def give_up(self) -> None:
        """Forget all that was read, until `begin` says from where on."""
        self.holds += 1
        for partition in self._positions.partitions:
            self._fetcher.hold(partition, NOWHERE)
            self._forget(partition)

    def _begun(self) -> list[TopicPartition]:
        return [partition for partition in self._positions.partitions if partition not in self._unread]
