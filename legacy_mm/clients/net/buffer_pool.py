"""The memory that the streams of one process share, as all streams of the legacy tool share their producer's.

The settings of a stream hold its part (`explain` calls it its share of `buffer.memory`). It may always use that, and
what the others leave of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock


class BufferPool:
    """Bytes of one kind in one process: those that wait to be copied, or those that the target does not have yet."""

    def __init__(self) -> None:
        self.shares: tuple[BufferShare, ...] = ()
        """The shares of all streams at present."""
        self.total = 0
        """The sum of their parts."""
        self._lock = Lock()

    def share(self, own: int, held: Callable[[], int]) -> BufferShare:
        """Return the share of one more stream; `own` is its part in bytes, `held` what it holds now."""
        with self._lock:
            made = BufferShare(self, own, held)
            self._set((*self.shares, made))
            return made

    def forget(self, share: BufferShare) -> None:
        """Take the part of a stream that has ended out of the pool."""
        with self._lock:
            self._set(tuple(each for each in self.shares if each is not share))

    def _set(self, shares: tuple[BufferShare, ...]) -> None:
        """Replace the shares. Under the lock."""
        self.shares, self.total = shares, sum(each.own for each in shares)


class BufferShare:
    """One stream's part in a pool."""

    def __init__(self, pool: BufferPool, own: int, held: Callable[[], int]) -> None:
        self.pool = pool
        self.own = own
        self.held = held

    def has_room(self) -> bool:
        """Return True if the stream may take more; what it takes then may be larger than the room."""
        return self.held() < self.own or sum(each.held() for each in self.pool.shares) < self.pool.total

    def close(self) -> None:
        """Take this part out of the pool."""
        self.pool.forget(self)


@dataclass(frozen=True, slots=True)
class Buffers:
    """The memory that the tasks of a process share."""

    read: BufferPool = field(default_factory=BufferPool)
    """The pool of what waits to be copied."""
    sent: BufferPool = field(default_factory=BufferPool)
    """The pool of what the target does not have yet."""
