"""The batches of an open transaction that wait for more: Kafka's `linger.ms`, for a whole bundle.

A committed reader sees a record when its transaction ends, so nobody waits for a little before that. A bundle of slow
partitions makes one Produce request in a transaction then, and not one for each answer of the source.
"""

from __future__ import annotations

from typing import Any

from legacy_mm.base.clock import monotonic
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.transactions.transactional_queue import TransactionalQueue

_LITTLE = 64 << 10
"""The bytes that are much: they are sent at once."""
_LONGEST = 1.0
"""The seconds after which a little is sent, too, where transactions last longer."""


class Linger:
    """The batches that one owner has appended and not flushed."""

    def __init__(self, appender: BatchAppender) -> None:
        self._appender = appender
        self._queues: dict[TransactionalQueue, None] = {}
        self._size = 0
        self._since = 0.0

    def append(self, queue: TransactionalQueue, batch: RecordBatch, opaque: Any) -> None:
        """Add a batch, and flush all if that is much; raise what `BatchAppender.append` raises.

        Much is also what one partition could not have under way at once: it would make a transaction's end long.
        """
        self._since = self._since if self._queues else monotonic()
        self._queues[queue] = None
        self._size += len(batch.buffer)
        is_little = self._size < _LITTLE and len(queue.pending) + 1 < self._appender.options.in_flight
        self._appender.append_to(queue, batch.apart() if is_little else batch, opaque)
        if not is_little:
            self.flush()

    def flush(self) -> None:
        """Let all be sent, of several partitions in one request."""
        if not self._queues:
            return
        with self._appender.lock:
            for queue in self._queues:
                queue.flush()
            self._appender.release(*self._queues)
        self.forget()

    def poll(self, now: float) -> None:
        """Flush what has waited for long, and what takes the room that is left."""
        if self._queues and (now - self._since >= _LONGEST or not self._appender.has_room()):
            self.flush()

    def forget(self) -> None:
        """Let go of all: it is flushed, or its transaction is given up."""
        self._queues = {}
        self._size = 0
