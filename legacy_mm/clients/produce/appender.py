"""Record batches to the target, in order for each partition: the sending half of the engine.

`partition_queue.py` has the rules of order, `broker_sender.py` the sockets; here are the memory and the retries.
Retriable errors are tried again until `delivery.timeout.ms`; what is refused for good is handed to the caller, and its
queue waits for `replace`, `drop` or `start_anew`.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import chain
from math import inf
from typing import Any, NamedTuple

from legacy_mm.base.clock import Deadline, epoch_ms, monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.buffer_pool import BufferPool
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce.append_options import AppendOptions
from legacy_mm.clients.produce.broker_sender import BrokerSender
from legacy_mm.clients.produce.log_inquiry import LogAnswer, LogInquiry
from legacy_mm.clients.produce.partition_queue import PartitionQueue, ProducerBatch, Question, newest_time
from legacy_mm.clients.produce.producer_id import ProducerIds
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.produce_messages import Appended
from legacy_mm.protocol.record_batch import RecordBatch

_LOOK_INTERVAL = 0.05
_DEADLOCK_TIMEOUT = 0.25
"""A wait of this length may be a deadlock, even while answers to other batches arrive."""
_STUCK_TIMEOUT = 1.0
"""The time without an acknowledgement after which a partition counts as stuck; leaders move faster."""
_CONNECTIONS = 2
"""Transactional ids share so many connections to a broker: it handles one request of a connection after the other, and
the first one of a partition in a transaction waits for the coordinator.
"""
_SHARE = 4
"""A partition to which nothing gets through may fill such a part of the buffer, all of those that are stuck half."""


class Acknowledged(NamedTuple):
    """A batch that the target has; `base_offset` -1: it had it already, at an unknown offset."""

    opaque: Any
    base_offset: int


class BatchAppender:
    """Sends batches to the target cluster."""

    def __init__(
        self, cluster: Cluster, options: AppendOptions, traffic: Traffic, pool: BufferPool | None = None
    ) -> None:
        """Create an appender; `pool` is the memory that it shares with others."""
        self.cluster = cluster
        self.options = options
        self.traffic = traffic
        self.lock = threading.RLock()
        self._settled = threading.Condition(self.lock)
        self._ids = ProducerIds(cluster) if options.idempotent else None
        self._queues: dict[TopicPartition, PartitionQueue] = {}
        self._followed: set[PartitionQueue] = set()
        self._senders: dict[tuple[int, int], BrokerSender] = {}
        self._connections = defaultdict[int, dict[str, int]](dict)
        self._waiting: dict[PartitionQueue, float] = {}
        self._inquiry = LogInquiry(cluster, self.lock, options.retry_pause, self.answered, self.ended)
        self._bytes = 0
        self._acknowledged: deque[Acknowledged] = deque()
        self._refused: list[ProducerBatch] = []
        self._error: BaseException | None = None
        self._closed = self._woken = False
        self._tend_at = 0.0
        self._stuck: list[PartitionQueue] = []
        self._stuck_bytes = 0
        self._room = (pool or BufferPool()).share(options.buffer_bytes, self._held)
        traffic.gauges = self._gauges
        traffic.metadata_age = cluster.metadata.age
        traffic.connections = cluster.network.connections

    def start(self) -> None:
        """Ask for what is needed before the first batch; raises ConnectionLost when a later try may succeed."""
        if self._ids is not None:
            self._ids.acquire()

    def append(self, partition: TopicPartition, batch: RecordBatch, opaque: Any) -> None:
        """Take a batch over; waits for nothing, so ask `has_room` first. Its bytes are changed.

        Raises what no later try can mend.
        """
        with self.lock:
            queue = self._queues.get(partition) or self._new_queue(partition)
        self.append_to(queue, batch, opaque)

    def append_to(self, queue: PartitionQueue, batch: RecordBatch, opaque: Any) -> None:
        """Do what `append` does, for a queue that was made elsewhere, too: that of a transaction."""
        size = len(batch.buffer)
        now = monotonic()
        with self.lock:
            if queue.pending and now - queue.pending[0].since > _DEADLOCK_TIMEOUT:
                batch = batch.apart()
            deadline, written = now + self.options.delivery_timeout, newest_time(batch.header, now, epoch_ms())
            queue.pending.append(ProducerBatch(queue, batch, opaque, size, now, deadline, dated=written))
            self._bytes += size
            sender = self._line_up(queue)
            little = [] if sender is None else sender.take_little()
        if sender is not None and little:
            sender.send(little)

    def follow(self, queue: PartitionQueue) -> None:
        """Look after a queue that was made elsewhere."""
        with self.lock:
            self._followed.add(queue)

    def release(self, *queues: PartitionQueue) -> None:
        """Let queues send that have become free to, in one request where it holds them."""
        with self.lock:
            for queue in queues:
                self._queue(queue)

    def abandon(self, queue: PartitionQueue) -> list[Any]:
        """Forget all that a queue holds, and wait for none of its answers; return the `opaque` of each batch."""
        with self.lock:
            queue.abandoned = True
            self._bytes -= queue.size
            forgotten = [each.opaque for each in queue.unacknowledged]
            for entries in (queue.pending, queue.under_way):
                entries.clear()
            queue.held = None
            self._refused = [each for each in self._refused if each.queue is not queue]
            self._waiting.pop(queue, None)
            self._followed.discard(queue)
            self._settled.notify_all()
        return forgotten

    def has_room(self) -> bool:
        """Return True if more may be appended."""
        return self._room.has_room()

    def takes(self, partition: TopicPartition) -> bool:
        """Return True if this partition can take more."""
        queue = self._queues.get(partition)
        if queue is None or queue.trouble is None:
            return True
        with self.lock:
            size = queue.size
        return not size or not (_is_stuck(queue, monotonic()) or size >= self.options.buffer_bytes // _SHARE)

    def stuck(self) -> dict[TopicPartition, str]:
        """Return the partitions that were stuck at the last `poll`, each with the reason."""
        return {queue.partition: queue.trouble.reason for queue in self._stuck if queue.trouble is not None}

    def is_empty(self) -> bool:
        """Return True if the target has acknowledged everything."""
        return not self._bytes

    def wake(self) -> None:
        """Let whoever waits here look around, now or the next time, from any thread."""
        with self.lock:
            self._woken = True
            self._settled.notify_all()

    def wait_for_room(self, timeout: float) -> bool:
        """Wait until more may be appended."""
        deadline = Deadline.after(timeout)
        with self.lock:
            while not self.has_room() and not self._is_to_inspect(deadline):
                self._settled.wait(deadline.remaining())
            self._woken = False
        return self.has_room()

    def wait_for_news(self, timeout: float) -> None:
        """Wait until something changes here, or somebody wakes this thread."""
        with self.lock:
            if not self._is_to_inspect(Deadline.after(timeout)):
                self._settled.wait(timeout)
            self._woken = False

    def wait_empty(self, timeout: float) -> bool:
        """Wait until the target has everything."""
        deadline = Deadline.after(timeout)
        with self.lock:
            while self._bytes and not self._is_to_inspect(deadline):
                self._settled.wait(deadline.remaining())
            self._woken = False
            return not self._bytes

    def take_acknowledged(self) -> list[Acknowledged]:
        """Return and clear the acknowledgements since the last call."""
        found = []
        while self._acknowledged:
            found.append(self._acknowledged.popleft())
        return found

    def take_refused(self) -> list[ProducerBatch]:
        """Return and clear the batches that the target refused for good; pass each to `replace`, `drop` or
        `start_anew`.
        """
        with self.lock:
            refused, self._refused = self._refused, []
            return refused

    def unacknowledged(self) -> list[Any]:
        """Return the `opaque` of each batch that the target does not have yet."""
        with self.lock:
            return [each.opaque for queue in self._every_queue() for each in queue.unacknowledged]

    def replace(self, refused: ProducerBatch, batches: Iterable[tuple[RecordBatch, Any]]) -> None:
        """Send these instead, at the same place in the order."""
        with self.lock:
            entries = [refused.part(batch, opaque) for batch, opaque in batches]
            self._bytes += sum(entry.size for entry in entries) - refused.size
            refused.queue.replace_held(entries)
            self._queue(refused.queue)

    def drop(self, refused: ProducerBatch) -> None:
        """Continue without the refused batch. Raise ConnectionLost, ClusterUnreachable: a later try may succeed."""
        producer = self._ids.acquire() if self._ids is not None and refused.may_have_arrived else None
        with self.lock:
            self._bytes -= refused.size
            refused.queue.drop_held(producer)
            self._queue(refused.queue)
            self._settled.notify_all()

    def start_anew(self, refused: ProducerBatch) -> None:
        """Send it again under a new producer id, if its queue `may_start_anew`. Raises what `drop` raises."""
        assert self._ids is not None
        producer = self._ids.acquire()
        with self.lock:
            refused.queue.start_anew(producer)
            self._queue(refused.queue)

    def poll(self) -> None:
        """Resume paused queues and check deadlines and request timeouts; call this often.

        Raise the error that ended a sender.
        """
        if self._error is not None:
            raise self._error
        now = monotonic()
        if now < self._tend_at:
            return
        self._tend_at = now + _LOOK_INTERVAL
        self.cluster.metadata.poll()
        with self.lock:
            for queue in [queue for queue, until in self._waiting.items() if until <= now]:
                del self._waiting[queue]
                queue.paused = False
                self._queue(queue)
            troubled = [queue for queue in self._every_queue() if queue.trouble is not None]
            self._stuck = [queue for queue in troubled if _is_stuck(queue, now)]
            self._stuck_bytes = sum(queue.size for queue in self._stuck)
            self._expire(now)

    def purge(self) -> None:
        """Send nothing more and forget what waits; from any thread."""
        with self.lock:
            self._closed = True
            self._room.close()
            self._settled.notify_all()
            senders = list(self._senders.values())
            self._inquiry.close()
        for sender in senders:
            sender.close()

    # --- what senders ask and tell; see `SenderOwner`

    def closed(self) -> bool:
        """Return True if sending is over."""
        return self._closed

    def acknowledged(self, entry: ProducerBatch, base_offset: int) -> None:
        """Record that the target has the batch. Called under the lock."""
        if entry.queue.abandoned:
            return
        for known in entry.queue.acknowledged(entry, base_offset):
            self._arrived(known, base_offset if known is entry else -1)
        self._settle(entry.queue)

    def failed(self, entry: ProducerBatch, answer: Appended | None) -> None:
        """Record that the target did not take the batch, or that the connection broke (None). Called under the lock."""
        if entry.queue.abandoned:
            return
        error = 0 if answer is None else answer.error
        entry.damaged = entry.damaged + 1 if error_codes.is_damaged(error) else 0
        if entry.damaged >= self.options.damaged:
            error = ErrorCode.INVALID_RECORD
        only_follows = entry.queue.recovering and error_codes.is_out_of_order(error)
        final = error and (not error_codes.is_retriable(error) or error in entry.queue.not_retried)
        if not only_follows and final and error_codes.needs_new_producer(error) and entry.queue.disputes(entry):
            entry.queue.hindered(error_codes.name(error), monotonic())
        elif not only_follows and (final or entry.attempts >= self.options.retries):
            entry.refusal = error or ErrorCode.REQUEST_TIMED_OUT
            if answer is not None:
                entry.reason, entry.blamed = answer.reason, answer.blamed
        else:
            entry.attempts += not only_follows
            entry.queue.hindered(error_codes.name(error) if error else "its leader does not answer", monotonic())
            self.cluster.metadata.stale()
        entry.queue.failed(entry, denied=not error_codes.leaves_open(error))
        self._settle(entry.queue)

    def unsent(self, entry: ProducerBatch) -> None:
        """Record that the broker could not be reached; this does not count against `retries`. Called under the lock."""
        if entry.queue.abandoned:
            return
        entry.queue.hindered("its leader is not reached", monotonic())
        entry.queue.failed(entry, denied=True)
        self._settle(entry.queue)

    def pause(self, queue: PartitionQueue) -> None:
        """Leave a queue alone for a moment. Under the lock."""
        if queue.line is not None:
            queue.line.remove(queue)
            queue.line = None
        queue.paused = True
        self._waiting[queue] = monotonic() + self.options.retry_pause

    def answered(self, question: Question, answer: LogAnswer | None) -> None:
        """Handle the log's answer; None: it did not answer yet. Called under the lock."""
        queue = self._queues[question.partition]
        if answer is None:
            queue.hindered("its leader does not answer", monotonic())
            return
        if queue.answered(question, *answer) and question.entry is not None and answer.base_offset is not None:
            self._arrived(question.entry, answer.base_offset)
        self._settle(queue)

    def ended(self, error: BaseException) -> None:
        """Record that a sender cannot continue."""
        with self.lock:
            self._error = self._error or error
            self._settled.notify_all()

    # --- the rest

    def _held(self) -> int:
        """Return the bytes that count: of those in stuck partitions, as many as half of the pool do not."""
        return self._bytes - min(self._stuck_bytes, self._room.pool.total // 2)

    def _gauges(self) -> dict[str, float]:
        most = self.options.buffer_bytes
        in_flight = sum(sender.in_flight() for sender in list(self._senders.values()))
        return {
            "buffer_bytes": most,
            "buffer_free_bytes": max(0, most - self._bytes),
            "requests_in_flight": in_flight,
        }

    def _is_to_inspect(self, deadline: Deadline) -> bool:
        return deadline.expired() or bool(self._refused) or self._woken or self._error is not None

    def _every_queue(self) -> Iterator[PartitionQueue]:
        return chain(self._queues.values(), self._followed)

    def _new_queue(self, partition: TopicPartition) -> PartitionQueue:
        producer = self._ids.current if self._ids is not None else None
        queue = self._queues[partition] = PartitionQueue(partition, producer, self.options.in_flight if producer else 1)
        return queue

    def _arrived(self, entry: ProducerBatch, base_offset: int) -> None:
        self._bytes -= entry.size
        self._acknowledged.append(Acknowledged(entry.opaque, base_offset))

    def _settle(self, queue: PartitionQueue) -> None:
        if queue.recovered():
            if queue.held is not None:
                self._refused.append(queue.held)
            else:
                self.pause(queue)
        elif not queue.recovering:
            self._queue(queue)
        self._settled.notify_all()

    def _queue(self, queue: PartitionQueue) -> None:
        """Let a queue send as soon as it may."""
        sender = self._line_up(queue)
        if sender is not None:
            sender.wake()

    def _line_up(self, queue: PartitionQueue) -> BrokerSender | None:
        """Put a queue that can send in line at its leader's sender, unless it is; without a leader it waits.

        So it does where its log has to be asked first.
        """
        if not queue.paused and not queue.recovering and (question := queue.question()):
            queue.asking = True
            self._inquiry.put(question)
        if queue.line is not None or not queue.can_send():
            return None
        leader = self.cluster.metadata.leader(queue.partition)
        if leader is None:
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if unknown in queue.not_retried and not queue.under_way and self._is_missing(queue.partition):
                self._refuse_next(queue, unknown)
                return None
            queue.hindered(f"it {self.cluster.metadata.why_leaderless(queue.partition)}", monotonic())
            self.cluster.metadata.stale()
            self.pause(queue)
            return None
        place = leader.node, self._connection(queue, leader.node)
        sender = self._senders.get(place)
        if sender is None:
            sender = self._senders[place] = BrokerSender(self, leader.node)
        sender.line_up(queue)
        return sender

    def _connection(self, queue: PartitionQueue, node: int) -> int:
        """Return the number of a queue's connection to a broker, always the same: only there batches keep order."""
        if queue.transactional_id is None:
            return 0
        known = self._connections[node]
        return known.setdefault(queue.transactional_id, len(known) % _CONNECTIONS)

    def _is_missing(self, partition: TopicPartition) -> bool:
        """Return True if the cluster says that there is no such partition."""
        problem, size = (
            self.cluster.metadata.problem(partition.topic),
            self.cluster.metadata.partitions(partition.topic),
        )
        return problem == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION or 0 < size <= partition.partition

    def _expire(self, now: float) -> None:
        """Refuse what was not delivered in time, once nothing of its queue is under way."""
        if self.options.delivery_timeout == inf:
            return
        for queue in self._every_queue():
            if queue.pending and queue.pending[0].deadline <= now and not queue.under_way and queue.held is None:
                self._refuse_next(queue, ErrorCode.REQUEST_TIMED_OUT)

    def _refuse_next(self, queue: PartitionQueue, code: int) -> None:
        queue.held = queue.pending.popleft()
        queue.held.refusal = code
        self._refused.append(queue.held)
        self._settled.notify_all()


def _is_stuck(queue: PartitionQueue, now: float) -> bool:
    """Return True if batches wait and none was acknowledged for a while."""
    trouble = queue.trouble
    return trouble is not None and now - trouble.since > _STUCK_TIMEOUT and queue.size > 0
