"""Notices that records for the target get no further, for the `records` engine, whose barriers wait for all of them."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.clock import Deadline

_STUCK_TIMEOUT = 3.0


class StuckRecords:
    """The queued records without an acknowledgement."""

    def __init__(self, unacknowledged: Callable[[], int]) -> None:
        self._unacknowledged = unacknowledged
        self._count = -1
        self._deadline = Deadline(0)

    def are_there(self) -> bool:
        """Return True if none was acknowledged for a while; ask while a barrier waits for them."""
        count = self._unacknowledged()
        if count != self._count or not count:
            self._count, self._deadline = count, Deadline.after(_STUCK_TIMEOUT)
            return False
        if not self._deadline.expired():
            return False
        self._deadline = Deadline.after(_STUCK_TIMEOUT)
        return True
