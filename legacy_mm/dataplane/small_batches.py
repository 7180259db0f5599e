"""Detects that tiny source batches hold a copy job at its limit.

Reading and sending a batch costs as much as librdkafka needs for some records, however small the batch is. A stream
that is always busy with smaller batches is faster record by record.
"""

from __future__ import annotations

from legacy_mm.clock import monotonic

_SECONDS = 5.0
_BUSY = 0.7
_LOOKS = 2
"""The number of times in a row that must confirm it: a start with a few odd batches decides nothing."""


class SmallBatches:
    """Counts what one copy job does between two looks."""

    def __init__(self, to_read: int, to_send: int) -> None:
        """Create the meter with the costs of a batch, in records."""
        self._to_read, self._to_send = to_read, to_send
        self._found = 0
        self._begin()

    def copied(self, read: int, sent: int, records: int) -> None:
        """Count source batches, and the batches sent after small ones were joined."""
        self._read += read
        self._sent += sent
        self._records += records

    def waited(self, seconds: float) -> None:
        """Count time without work, or with a target that took no more."""
        self._idle += seconds

    def too_small(self) -> float:
        """Return the records in a batch, if they have been too few for some time; else 0."""
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
