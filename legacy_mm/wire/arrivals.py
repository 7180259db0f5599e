"""What was read and is to be copied: how the readers of a fetcher and the thread that copies share the work.

While that thread waits, a reader that has received something little works on it itself: at a few hundred records/s to
wake another thread is a tenth of the latency. What is large is handed over, and the reader goes on reading. In both
cases record sets are worked on one after the other, in the order in which they came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition
from typing import NamedTuple

from legacy_mm.model import TopicPartition
from legacy_mm.protocol.record_batch import RecordBatch

_LITTLE = 16 << 10
"""While so many bytes are worked on, no reader is missed."""


class Fetched(NamedTuple):
    """Whole batches of one partition, to be copied from `position` on; the first may begin before it."""

    partition: TopicPartition
    position: int
    batches: list[RecordBatch]
    aborted: tuple[tuple[int, int], ...]
    size: int


Work = Callable[[Sequence[Fetched]], None]
"""Is given what one answer held: one record set each of several partitions."""


class Arrivals:
    """Record sets between their readers and the thread that copies."""

    def __init__(self, changed: Condition) -> None:
        """`changed`: the lock of whoever has the readers, and what wakes its threads."""
        self.waiting_bytes = 0
        self._changed = changed
        self._waiting: deque[Fetched] = deque()
        self._work: Work | None = None
        self._lent = False
        self._error: BaseException | None = None

    def take(self, timeout: float, work: Work | None) -> Fetched | None:
        """The next record set, or None after `timeout` seconds; meanwhile readers may do any `work` themselves.

        Raises what ended a reader, when nothing waits that came before, or the work.
        """
        with self._changed:
            self._work = work
            self._changed.wait_for(lambda: self._waiting or self._error is not None, timeout)
            self._work = None
            self._changed.wait_for(lambda: not self._lent)
            if not self._waiting:
                if self._error is not None:
                    raise self._error
                return None
            fetched = self._waiting.popleft()
            self.waiting_bytes -= fetched.size
            self._changed.notify_all()
            return fetched

    def add(self, arrived: Sequence[Fetched]) -> Work | None:
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

    def do(self, work: Work, arrived: Sequence[Fetched]) -> None:
        """The work of the thread that waits. Once it has failed nothing is given out, not even what waits."""
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

    def forget(self, partition: TopicPartition) -> None:
        """Hand out nothing that waits of this partition. Under the lock."""
        self._waiting = deque(fetched for fetched in self._waiting if fetched.partition != partition)
        self.waiting_bytes = sum(fetched.size for fetched in self._waiting)

    def failed(self, error: BaseException) -> None:
        """Let `take` raise this, behind what waits."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def partitions(self) -> set[TopicPartition]:
        """Whose records wait. Under the lock."""
        return {fetched.partition for fetched in self._waiting}
