"""Whether a copy job is at its limit because the source's batches are tiny.

To read a batch and to send one costs as much as some records cost librdkafka, whatever is in it. A stream that is busy
all the time with batches that are not worth that is better off record by record.
"""

from __future__ import annotations

from legacy_mm.clock import monotonic

_SECONDS = 5.0
_BUSY = 0.7
_LOOKS = 2
"""So often in a row it must be so: a start with a few odd batches decides nothing."""


class Pace:
    """Counts what one copy job does between two looks."""

    def __init__(self, to_read: int, to_send: int) -> None:
        """What a batch costs, in records."""
        self._to_read, self._to_send = to_read, to_send
        self._found = 0
        self._begin()

    def copied(self, read: int, sent: int, records: int) -> None:
        """So many batches of the source went through, in so many after little ones were joined."""
        self._read += read
        self._sent += sent
        self._records += records

    def waited(self, seconds: float) -> None:
        """There was nothing to do, or the target took no more."""
        self._idle += seconds

    def too_small(self) -> float:
        """Records in a batch, if they have been too few for some time; else 0."""
        elapsed = monotonic() - self._since
        if elapsed < _SECONDS:
            return 0.0
        size = self._records / max(1, self._read)
        worth = self._to_read * self._read + self._to_send * self._sent
        slow = self._idle < (1 - _BUSY) * elapsed and self._records < worth
        self._found = self._found + 1 if slow else 0
        self._begin()
        return size if self._found >= _LOOKS else 0.0

    def _begin(self) -> None:
        self._since = monotonic()
        self._read = self._sent = self._records = 0
        self._idle = 0.0
