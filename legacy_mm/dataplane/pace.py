"""Whether the `batches` engine is at its limit because the source's batches are tiny.

To read a batch costs the engine about as much as four records cost the other one, to send one as much as 36, whatever
is in it. A stream that is busy all the time with batches that are not worth that is better off record by record.
"""

from __future__ import annotations

from legacy_mm.clock import monotonic

_SECONDS = 5.0
_READ, _SENT = 4, 36
"""Records."""
_BUSY = 0.7
_LOOKS = 2
"""So often in a row it must be so: a start with a few odd batches decides nothing."""


class Pace:
    """Counts what one copy job does between two looks."""

    def __init__(self) -> None:
        self._found = 0
        self._begin()

    def copied(self, read: int, sent: int, records: int) -> None:
        """So many batches of the source went through, in so many after little ones were joined."""
        self._read += read
        self._sent += sent
        self._records += records

    def waited(self, seconds: float) -> None:
        """The engine had nothing to do, or the target took no more."""
        self._idle += seconds

    def too_small(self) -> float:
        """Records in a batch, if they have been too few for some time; else 0."""
        elapsed = monotonic() - self._since
        if elapsed < _SECONDS:
            return 0.0
        size = self._records / max(1, self._read)
        slow = self._idle < (1 - _BUSY) * elapsed and self._records < _READ * self._read + _SENT * self._sent
        self._found = self._found + 1 if slow else 0
        self._begin()
        return size if self._found >= _LOOKS else 0.0

    def _begin(self) -> None:
        self._since = monotonic()
        self._read = self._sent = self._records = 0
        self._idle = 0.0
