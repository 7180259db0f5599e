"""The conversation with one target broker: a thread that sends, and ends when it is idle.

One thread of the process receives all answers.

A request holds at most one batch for each partition, because brokers take no more. When a connection breaks, what was
under way on it goes back to the queues, which send it again in order. What is so little that the socket takes it
without waiting is sent by the thread that appends it: at a few hundred records/s each hand-over is a tenth of the
latency.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.base.socket_reader import SocketReader
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.net.transport_layer import MOMENT
from legacy_mm.clients.produce.append_options import AppendOptions
from legacy_mm.clients.produce.partition_queue import PartitionQueue, ProducerBatch
from legacy_mm.protocol import error_codes
from legacy_mm.protocol import produce_messages as messages
from legacy_mm.protocol.compression import Bytes, Codec, Decompressor
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.message_set import HeadersRefused, message_set
from legacy_mm.protocol.record_batch import MAGIC

_LOOK_INTERVAL = 0.05
IDLE_TIMEOUT = 10.0
"""The time after which a thread without work ends; the next batch starts it again."""
_AT_ONCE_BYTES = 16 << 10
"""The bytes that fit into an otherwise idle socket."""
_ANSWERS = SocketReader("acks", MOMENT)
"""Receives the answers of all target brokers in this process."""


class SenderOwner(Protocol):
    """The owner of the batches that a sender carries. All methods but `ended` are called with `lock` held."""

    cluster: Cluster
    options: AppendOptions
    traffic: Traffic
    lock: threading.RLock

    def closed(self) -> bool:
        """Return True if sending is over."""

    def acknowledged(self, entry: ProducerBatch, base_offset: int) -> None:
        """Record that the target has the batch, from this offset on; -1: the target had it already."""

    def failed(self, entry: ProducerBatch, answer: messages.Appended | None) -> None:
        """Record that the target did not take the batch; None: the outcome is unknown."""

    def unsent(self, entry: ProducerBatch) -> None:
        """Record that there was no connection to send the batch over."""

    def pause(self, queue: PartitionQueue) -> None:
        """Leave a queue alone for a moment."""

    def ended(self, error: BaseException) -> None:
        """Record that the sender cannot continue."""


class _Request(NamedTuple):
    """A Produce request under way."""

    entries: list[ProducerBatch]
    version: int
    sent: float
    size: int


@dataclass(eq=False, slots=True)
class _Link:
    """A connection, and what is under way on it in the order of the answers to come."""

    connection: Connection
    under_way: deque[_Request] = field(default_factory=deque)


class _Answers(NamedTuple):
    """The answers on a link, for the thread that reads them."""

    sender: BrokerSender
    link: _Link

    def take(self) -> bool:
        """Take all that have come; the end of the connection is an error."""
        while (body := self.link.connection.receive_now()) is not None:
            self.sender.answered(self.link, body)
        return True

    def ended(self, error: Exception | None) -> None:
        """Take back what the link has not answered."""
        self.link.connection.give_back()
        if error is not None:
            self.sender.broken(self.link, error)


class BrokerSender:
    """The conversation with one target broker."""

    def __init__(self, owner: SenderOwner, node: int) -> None:
        self._owner = owner
        self._node = node
        self._work = threading.Condition(owner.lock)
        self._queues: deque[PartitionQueue] = deque()
        self._link: _Link | None = None
        self._has_sender = False
        self._sending = False
        self._silent_until = 0.0
        self._decompress: Decompressor | None = None

    def run(self) -> None:
        """Send until idle or purged, or until an error that no later try can repair."""
        try:
            while entries := self._next():
                self.send(entries)
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self._owner.ended(error)

    def line_up(self, queue: PartitionQueue) -> None:
        """Let a queue send when its turn comes, once `wake` is called. Under the lock."""
        queue.line = self._queues
        self._queues.append(queue)

    def wake(self) -> None:
        """Wake or start the thread that sends, if it may send or must end. Called under the lock."""
        if not (self._silent_until or self._owner.closed() or self._may_send()):
            return
        if self._has_sender:
            self._work.notify()
        elif not self._owner.closed():
            self._has_sender = True
            threading.Thread(target=self.run, name=f"append-{self._node}", daemon=True).start()

    def take_little(self) -> list[ProducerBatch]:
        """Take what the caller can `send` itself; leave too large an amount to the thread. Called under the lock."""
        link = self._link
        if link is not None and _is_usable(link) and self._may_send():
            room = _AT_ONCE_BYTES - sum(request.size for request in link.under_way)
            if self._queues[0].pending[0].size <= room:
                return self._take(room)
        self.wake()
        return []

    def send(self, entries: list[ProducerBatch]) -> None:
        """Send what was taken. Nobody else sends meanwhile; raises what no later try can mend."""
        try:
            self._send(entries)
        except (ConnectionLost, ClusterUnreachable) as error:
            self._lost(error, [], unsent=entries)
        with self._owner.lock:
            self._sending = False
            self.wake()

    def in_flight(self) -> int:
        """Return the number of requests without an answer."""
        link = self._link
        return 0 if link is None else len(link.under_way)

    def close(self) -> None:
        """Wake the threads out of whatever they wait for."""
        with self._owner.lock:
            self.wake()
        if self._link is not None:
            self._link.connection.close()

    def _next(self) -> list[ProducerBatch]:
        """Wait until a request may be sent, and return its batches; empty when there is nothing to send."""
        owner = self._owner
        with owner.lock:
            idle_at = monotonic() + IDLE_TIMEOUT
            while not self._may_send():
                if owner.closed() or (monotonic() >= idle_at and not self._silent_until):
                    self._has_sender = False
                    return []
                self._work.wait(_LOOK_INTERVAL if self._silent_until else IDLE_TIMEOUT)
            return self._take(owner.options.request_bytes)

    def _take(self, room: int) -> list[ProducerBatch]:
        """Take one batch of each queue in line, as many as fit into `room` bytes, and at least one.

        All are of one transaction, or of none; queues of others keep their places.
        """
        self._sending = True
        entries: list[ProducerBatch] = []
        used: set[PartitionQueue] = set()
        others: list[PartitionQueue] = []
        while self._queues and self._queues[0] not in used:
            queue = self._queues.popleft()
            if not queue.can_send():
                queue.line = None
                continue
            if entries and queue.transactional_id != entries[0].queue.transactional_id:
                others.append(queue)
                continue
            if entries and queue.pending[0].size > room:
                self._queues.appendleft(queue)
                break
            entries.append(queue.begin())
            self._owner.traffic.waited(monotonic() - entries[-1].since)
            room -= entries[-1].size
            used.add(queue)
            self._queues.append(queue)
        self._queues.extendleft(reversed(others))
        return entries

    def _may_send(self) -> bool:
        if self._sending or self._owner.closed() or monotonic() < self._silent_until:
            return False
        self._silent_until = 0.0
        while self._queues and not self._queues[0].can_send():
            self._queues.popleft().line = None
        link = self._link
        most = self._owner.options.requests
        if link is not None and link.connection.is_due():
            most = 1  # all answers come before the connection is given up
        return bool(self._queues) and (link is None or len(link.under_way) < most)

    def _send(self, entries: list[ProducerBatch]) -> None:
        options = self._owner.options
        link = self._usable_link() or self._connect()
        adding = entries[0].queue.adds_partitions
        if adding and not link.connection.has(messages.API_KEY, messages.ADDING):
            self._refuse(entries, ErrorCode.UNSUPPORTED_VERSION)
            return
        version = link.connection.version(messages.API_KEY, *messages.versions(adding=adding))
        if version < messages.ZSTD_SINCE:
            self._refuse_zstd(entries)
            if not entries:
                return
        batches = [(entry.queue.partition, self._encoded(entry, version)) for entry in entries]
        timeout_ms, transactional_id = int(options.request_timeout * 1000), entries[0].queue.transactional_id
        segments = messages.encode(version, options.acks, timeout_ms, batches, transactional_id)
        if not options.acks:
            self._send_for_good(link, version, segments, entries)
            return
        request = _Request(entries, version, monotonic(), sum(map(len, segments)))
        with self._owner.lock:
            if self._owner.closed():  # while the connection was made; from here on `close` finds it
                link.connection.close()
            link.under_way.append(request)
        try:
            link.connection.send(messages.API_KEY, version, segments, flexible=messages.is_flexible(version))
        except ConnectionLost as error:
            self._lost(error, self._take_back(link))

    def _send_for_good(
        self, link: _Link, version: int, segments: list[Bytes], entries: Sequence[ProducerBatch]
    ) -> None:
        """Send what no broker answers (`acks=0`): it counts as acknowledged when the socket has it, as in Java."""
        try:
            link.connection.send(messages.API_KEY, version, segments, answered=False)
        except ConnectionLost:
            self._take_back(link)
            raise
        self._owner.traffic.exchanged(self._node, sum(map(len, segments)), 0, 0.0, 0)
        with self._owner.lock:
            for entry in entries:
                self._owner.acknowledged(entry, -1)

    def _refuse_zstd(self, entries: list[ProducerBatch]) -> None:
        """Refuse what is compressed with zstd, in the place of a broker that does not know it, and take it out."""
        refused = [entry for entry in entries if entry.batch.header.codec is Codec.ZSTD]
        entries[:] = [entry for entry in entries if entry not in refused]
        self._refuse(refused, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)

    def _refuse(self, entries: Iterable[ProducerBatch], code: int) -> None:
        """Refuse batches in the place of a broker that would not understand them."""
        with self._owner.lock:
            for entry in entries:
                self._owner.failed(entry, messages.Appended(entry.queue.partition, code, -1, "", {}))

    def _encoded(self, entry: ProducerBatch, version: int) -> Bytes:
        """Return the batch as this version of the request carries it; raise HeadersRefused, CorruptRecords."""
        magic = messages.format_of(version)
        if magic == MAGIC:
            return entry.batch.buffer
        if self._decompress is None:
            self._decompress = Decompressor()
        try:
            return message_set(entry.batch, self._decompress, magic)
        except HeadersRefused as error:
            raise HeadersRefused(f"sending to {entry.queue.partition.topic} failed: {error}") from error

    def _usable_link(self) -> _Link | None:
        """Return the link, or give it up.

        Where a broker does not answer, the end of the connection is all that tells that it leads a partition no more.
        """
        link = self._link
        if link is None or _is_usable(link):
            return link
        link.connection.close()
        self._link = None
        if not self._owner.options.acks:
            self._owner.cluster.metadata.stale()
        return None

    def _connect(self) -> _Link:
        link = self._link = _Link(self._owner.cluster.connect(self._node))
        if self._owner.options.acks:
            _ANSWERS.add(link.connection.lend(), _Answers(self, link))
        return link

    def answered(self, link: _Link, body: memoryview) -> None:
        """Take over the answer to the oldest request on this link."""
        with self._owner.lock:
            if not link.under_way:  # the sending thread found it broken, and took all back
                return
            request = link.under_way.popleft()
        appended, throttle = messages.decode(request.version, body)
        if throttle:
            link.connection.excuse(throttle / 1000)
        self._settle(request, appended, len(body), throttle)

    def broken(self, link: _Link, error: Exception) -> None:
        """Take back what is under way on a link that has ended."""
        try:
            if not isinstance(error, ConnectionLost):
                raise error
            if requests := self._take_back(link):  # else it was idle, and the next request makes a new one
                self._lost(error, requests)
        except Exception as fault:  # noqa: BLE001 - the engine raises it; other engines are heard by the same thread
            self._owner.ended(fault)

    def _settle(self, request: _Request, appended: Sequence[messages.Appended], size: int, throttle: int) -> None:
        now = monotonic()
        owner = self._owner
        entries = {entry.queue.partition: entry for entry in request.entries}
        owner.traffic.exchanged(self._node, request.size, size, now - request.sent, throttle)
        with owner.lock:
            if throttle and request.version >= messages.CLIENT_RESTS_SINCE:
                self._silent_until = now + throttle / 1000
            for answer in appended:
                entry = entries.pop(answer.partition)
                if not answer.error or error_codes.is_duplicate(answer.error):
                    owner.acknowledged(entry, -1 if answer.error else answer.base_offset)
                else:
                    owner.failed(entry, answer)
            for entry in entries.values():
                owner.failed(entry, None)
            self.wake()
        for answer in appended:
            if error_codes.is_damaged(answer.error):
                reason = error_text.text(answer.error)
                owner.traffic.on_trouble(f"{answer.partition} did not take a batch, which is tried again: {reason}")

    def _take_back(self, link: _Link) -> list[_Request]:
        """Take back the requests in flight on a broken connection, once; the next batches use a new connection."""
        with self._owner.lock:
            if self._link is link:
                self._link = None
            requests = list(link.under_way)
            link.under_way.clear()
            return requests

    def _lost(self, error: LegacyMMError, requests: Iterable[_Request], unsent: Iterable[ProducerBatch] = ()) -> None:
        """Mark the requests as lost, with unknown outcome: their queues find out by sending again."""
        owner = self._owner
        with owner.lock:
            for entry in unsent:
                owner.unsent(entry)
            for request in requests:
                for entry in request.entries:
                    owner.failed(entry, None)
            for queue in tuple(self._queues):  # perhaps another broker leads them by then
                queue.hindered("its leader is not reached", monotonic())
                owner.pause(queue)
        if not owner.closed():
            owner.traffic.on_trouble(str(error))
            owner.cluster.metadata.stale()


def _is_usable(link: _Link) -> bool:
    """Return False if the login ends, or if the broker closed the connection while nothing was under way."""
    return not link.connection.is_due() and (bool(link.under_way) or link.connection.is_open())
