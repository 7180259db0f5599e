"""Record sets that were read and wait to be copied: the readers of a fetcher and the copying thread share the work.

While the copying thread waits, a reader that has received a small record set copies it itself: at a few hundred
records/s, waking another thread costs a tenth of the latency. A reader hands over a large record set and reads on.
Either way record sets are copied one after the other, in the order of arrival.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from threading import Condition
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.record_set import RecordSet

_LITTLE = 16 << 10
"""While so many bytes are worked on, no reader is missed."""


class CompletedFetch(NamedTuple):
    """Whole batches of one partition, to be copied from `position` on; the first may begin before it."""

    partition: TopicPartition
    position: int
    record_set: RecordSet
    aborted: tuple[tuple[int, int], ...]
    size: int


Work = Callable[[Sequence[CompletedFetch]], None]
"""Is given what one answer held: one record set each of several partitions."""


Admits = Callable[[TopicPartition], bool]
"""Returns True for a partition whose records may be copied now; called under the lock."""


class FetchBuffer:
    """Record sets between their readers and the thread that copies."""

    def __init__(self, changed: Condition) -> None:
        """Create the queue; `changed` is the condition, with the lock of the readers' owner, that wakes its threads."""
        self.waiting_bytes = 0
        self._changed = changed
        self._waiting: deque[CompletedFetch] = deque()
        self._work: Work | None = None
        self._lent = self._woken = False
        self._error: BaseException | None = None

    def take(self, timeout: float, work: Work | None, admits: Admits | None = None) -> CompletedFetch | None:
        """Return the next record set, or None after `timeout` seconds; meanwhile readers may do any `work` themselves.

        What `admits` does not let through stays where it is. Raise the error that ended a reader, when no earlier
        record set waits, or the error of the work.
        """
        with self._changed:
            self._work = work
            self._changed.wait_for(lambda: self._woken or self._error is not None or self._has(admits), timeout)
            self._work, self._woken = None, False
            self._changed.wait_for(lambda: not self._lent)
            if not self._waiting and self._error is not None:
                raise self._error
            for place, fetched in enumerate(self._waiting):
                if admits is None or admits(fetched.partition):
                    del self._waiting[place]
                    self.waiting_bytes -= fetched.size
                    self._changed.notify_all()
                    return fetched
            return None

    def wake(self) -> None:
        """Let `take` return, now or the next time it waits. Called under the lock."""
        self._woken = True
        self._changed.notify_all()

    def _has(self, admits: Admits | None) -> bool:
        return any(admits is None or admits(fetched.partition) for fetched in self._waiting)

    def add(self, arrived: Sequence[CompletedFetch]) -> Work | None:
        """Take over what an answer held; else what the caller is to `do` with it himself. Under the lock.

        After a failure nothing is.
        """
        if self._error is not None:
            return None
        size = sum(fetched.size for fetched in arrived)
        idle = self._work is not None and not (self._waiting or self._lent)
        if idle and arrived and size <= _LITTLE:
            self._lent = True
            return self._work
        self._waiting.extend(arrived)
        self.waiting_bytes += size
        self._changed.notify_all()
        return None

    def do(self, work: Work, arrived: Sequence[CompletedFetch]) -> None:
        """Perform the waiting thread's work. Once it has failed, nothing more is given out, even if it already
        waits.
        """
        try:
            work(arrived)
        except Exception as error:  # noqa: BLE001 - `take` raises it
            with self._changed:
                self._waiting.clear()
                self.failed(error)
        with self._changed:
            self._lent = False
            if self._work is None:
                self._changed.notify_all()

    def forget(self, partitions: Collection[TopicPartition]) -> None:
        """Drop all waiting record sets of these partitions. Called under the lock."""
        self._waiting = deque(fetched for fetched in self._waiting if fetched.partition not in partitions)
        self.waiting_bytes = sum(fetched.size for fetched in self._waiting)

    def failed(self, error: BaseException) -> None:
        """Let `take` raise this, behind what waits."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def partitions(self) -> set[TopicPartition]:
        """Return the partitions with waiting records. Called under the lock."""
        return {fetched.partition for fetched in self._waiting}
