"""The memory that the streams of one process share, as all streams of the legacy tool share their producer's.

A limit for each stream would bound nothing: a target that is away for a minute fills the buffers of forty streams.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock


class BufferPool:
    """Bytes of one kind in one process: those that wait to be copied, or those that the target does not have yet."""

    def __init__(self) -> None:
        self.shares: tuple[BufferShare, ...] = ()
        """Those of all streams at present."""
        self._lock = Lock()

    def share(self, most: int, held: Callable[[], int]) -> BufferShare:
        """Return the share of one more stream; `most` is the limit of its properties, `held` what it holds now."""
        with self._lock:
            made = BufferShare(self, most, held)
            self.shares = (*self.shares, made)
            return made

    def forget(self, share: BufferShare) -> None:
        """Leave the room of a stream that has ended to the others."""
        with self._lock:
            self.shares = tuple(each for each in self.shares if each is not share)


class BufferShare:
    """One stream's part in a pool: an equal part of its limit at any time, and more while the others leave room."""

    def __init__(self, pool: BufferPool, most: int, held: Callable[[], int]) -> None:
        self._pool = pool
        self._most = most
        self.held = held

    def own(self) -> int:
        """Return the bytes that nobody else can keep this stream from."""
        return self._most // max(1, len(self._pool.shares))

    def has_room(self) -> bool:
        """Return True if the stream may take more; what it takes then may be larger than the room."""
        return self.held() < self.own() or sum(each.held() for each in self._pool.shares) < self._most

    def close(self) -> None:
        """Leave the room to the others."""
        self._pool.forget(self)
