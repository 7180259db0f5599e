"""The queues of a bundle's owner: the batches of its transaction on their way, and the requests that stand for them.

Data is told to a session by the transaction and not by the batch: one `Append` for each target partition stands for all
batches that go there. It counts as answered when the transaction takes no more pieces and the target has all of them.
Queues send a batch again by themselves, always with the same sequence number; what they met becomes a doubt of the
session before the answer does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.transactions.bundle_session import BundleSession, BundleState
from legacy_mm.transactions.linger import Linger
from legacy_mm.transactions.transactional_queue import TransactionalQueue
from legacy_mm.transactions.txn_requests import Append


class Records(NamedTuple):
    """All batches of a transaction for a partition."""

    number: int
    """Another one in each transaction."""


class OwnerQueues:
    """The queues of one owner, by target partition. For the thread that calls the owner."""

    def __init__(self, appender: BatchAppender, wake: Callable[[], None]) -> None:
        """Create no queue yet; `wake` is called, on any thread, when the target has all that a queue had to send."""
        self._appender = appender
        self._wake = wake
        self._linger = Linger(appender)
        self._queues: dict[TopicPartition, TransactionalQueue] = {}
        self._data: dict[TopicPartition, Append | None] = {}
        """Target partitions with data in this transaction, and the requests that stand for it once they are sent."""
        self._own: set[Append] = set()
        self._numbers = count()

    def reach(self, targets: Iterable[TopicPartition]) -> tuple[tuple[TopicPartition, Records], ...]:
        """Let data go to these target partitions; return those that the transaction had not reached."""
        new = [each for each in targets if each not in self._data]
        self._data |= dict.fromkeys(new)
        return tuple((each, Records(next(self._numbers))) for each in new)

    def append(self, session: BundleSession, target: TopicPartition, batch: RecordBatch, opaque: Any) -> None:
        """Add a batch, which lingers if it is a little."""
        self._linger.append(self._queue(session, target), batch, opaque)

    def flush(self) -> None:
        """Send all that lingers."""
        self._linger.flush()

    def poll(self, now: float) -> None:
        """Send what has lingered for long."""
        self._linger.poll(now)

    def admit(self, session: BundleSession, request: Append) -> None:
        """Let the batches of a request be sent; again and again changes nothing."""
        if isinstance(request.batch, Records):
            self._data[request.partition] = request
        else:
            self._own.add(request)
        queue_ = self._queue(session, request.partition)
        queue_.added = True
        self._appender.release(queue_)

    def waits_for(self, request: Append) -> bool:
        """Return True if a request was admitted, and is not answered."""
        return request in self._own or self._data.get(request.partition) == request

    def data(self, partition: TopicPartition) -> Append | None:
        """Return the request that stands for the data of a partition; None: it is not sent, or answered."""
        return self._data.get(partition)

    def settled(self) -> list[Append]:
        """Return the requests for data of which the target has all."""
        with self._appender.lock:  # else a batch that a sender has in hand is in no place
            return [each for each in self._data.values() if each and self._queues[each.partition].is_settled]

    def is_doubtful(self, request: Append) -> bool:
        """Return True if a batch of it got no answer at first."""
        return self._queues[request.partition].doubtful

    def answered(self, request: Append) -> None:
        """Wait no more for a request."""
        if isinstance(request.batch, Records):
            self._data[request.partition] = None
        else:
            self._own.discard(request)

    def send_again(self, refused: ProducerBatch) -> None:
        """Send a batch once more in its place."""
        self._appender.replace(refused, [(refused.batch, refused.opaque)])

    def step(self, before: BundleSession, session: BundleSession) -> None:
        """Note a step of the session: a transaction takes no more or is over, or the epoch is another one."""
        if session.state is BundleState.CLOSING and before.state is not BundleState.CLOSING:
            for each in self._queues.values():
                each.on_settled = self._wake
        if before.state is BundleState.ENDING and session.state is not BundleState.ENDING:
            self._data.clear()
            for each in self._queues.values():
                each.transaction_over()
        if before.producer and session.producer and session.producer != before.producer:
            for each in self._queues.values():
                each.renewed(session.producer)

    def discard(self) -> None:
        """Forget all, with the transaction."""
        for each in self._queues.values():
            self._appender.abandon(each)
        self._linger.forget()
        self._queues.clear()
        self._data.clear()
        self._own.clear()

    def _queue(self, session: BundleSession, partition: TopicPartition) -> TransactionalQueue:
        found = self._queues.get(partition)
        if found is None:
            assert session.producer is not None, "no batch before InitProducerId"
            name, in_flight = session.bundle.transactional_id, self._appender.options.in_flight
            found = TransactionalQueue(partition, name, session.producer, in_flight, session.version)
            if session.state is BundleState.CLOSING:
                found.on_settled = self._wake
            self._queues[partition] = found
            self._appender.follow(found)
        return found
