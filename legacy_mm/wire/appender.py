"""Record batches to the target, in order for each partition: the sending half of the `batches` engine.

One channel for each target broker: a thread that sends and one that receives. A request holds at most one batch for
each partition, because brokers take no more. `lane.py` has the rules of order; this file has the sockets, the memory
and the retries. Retriable errors are tried again until `delivery.timeout.ms`; what is refused for good is handed to
the caller, and its lane waits for `replace` or `drop`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from legacy_mm.clock import Deadline, monotonic
from legacy_mm.errors import LegacyMMError
from legacy_mm.model import TopicPartition
from legacy_mm.protocol import produce_messages as messages
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.wire import failures
from legacy_mm.wire.cluster import Cluster
from legacy_mm.wire.connection import Connection
from legacy_mm.wire.errors import ClusterUnreachable, ConnectionLost
from legacy_mm.wire.lane import Entry, Lane
from legacy_mm.wire.producer_id import ProducerIds
from legacy_mm.wire.traffic import Traffic

_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class AppendOptions:
    """How the target is written to. Sizes are bytes, times seconds."""

    acks: int
    idempotent: bool
    in_flight: int
    """Requests under way on one connection."""
    request_bytes: int
    buffer_bytes: int
    request_timeout: float
    delivery_timeout: float
    retry_pause: float


class Acknowledged(NamedTuple):
    """A batch that the target has; `base_offset` -1: it had it already, and nobody knows where."""

    receipt: Any
    base_offset: int


class Appender:
    """Sends batches to the target cluster."""

    def __init__(self, cluster: Cluster, options: AppendOptions, traffic: Traffic) -> None:
        self.cluster = cluster
        self.options = options
        self.traffic = traffic
        self.changed = threading.Condition()
        self._ids = ProducerIds(cluster) if options.idempotent else None
        self._lanes: dict[TopicPartition, Lane] = {}
        self._channels: dict[int, _Channel] = {}
        self._waiting: dict[Lane, float] = {}
        self._bytes = 0
        self._acknowledged: deque[Acknowledged] = deque()
        self._refused: list[Entry] = []
        self._error: BaseException | None = None
        self._closed = False
        self._tend_at = 0.0

    def start(self) -> None:
        """Ask for what is needed before the first batch; raises ConnectionLost when a later try may succeed."""
        if self._ids is not None:
            self._ids.acquire()

    def append(self, partition: TopicPartition, batch: RecordBatch, receipt: Any) -> None:
        """Take a batch over; never blocks, so ask `has_room` first. Its bytes are changed."""
        size = len(batch.buffer)
        deadline = monotonic() + self.options.delivery_timeout
        with self.changed:
            lane = self._lanes.get(partition) or self._new_lane(partition)
            lane.pending.append(Entry(lane, batch, receipt, size, deadline))
            self._bytes += size
            self._queue(lane)

    def has_room(self) -> bool:
        """Whether more may be appended."""
        return self._bytes < self.options.buffer_bytes

    def is_empty(self) -> bool:
        """Whether the target has everything."""
        return not self._bytes

    def wait_for_room(self, timeout: float) -> bool:
        """Wait until more may be appended."""
        deadline = Deadline.after(timeout)
        with self.changed:
            while not self.has_room() and not deadline.expired() and not self._refused and self._error is None:
                self.changed.wait(deadline.remaining())
        return self.has_room()

    def wait_empty(self, timeout: float) -> bool:
        """Wait until the target has everything."""
        deadline = Deadline.after(timeout)
        with self.changed:
            while self._bytes and not deadline.expired() and not self._refused and self._error is None:
                self.changed.wait(deadline.remaining())
            return not self._bytes

    def take_acknowledged(self) -> list[Acknowledged]:
        """What the target has got since the last call."""
        found = []
        while self._acknowledged:
            found.append(self._acknowledged.popleft())
        return found

    def take_refused(self) -> list[Entry]:
        """Batches that the target refused for good; each must be given to `replace` or `drop`."""
        with self.changed:
            refused, self._refused = self._refused, []
            return refused

    def replace(self, refused: Entry, batches: Iterable[tuple[RecordBatch, Any]]) -> None:
        """Send these instead, at the same place in the order."""
        with self.changed:
            entries = [
                Entry(refused.lane, batch, receipt, len(batch.buffer), refused.deadline) for batch, receipt in batches
            ]
            self._bytes += sum(entry.size for entry in entries) - refused.size
            refused.lane.replace_held(entries)
            self._queue(refused.lane)

    def drop(self, refused: Entry) -> None:
        """Go on without it."""
        producer = self._ids.acquire() if self._ids is not None else None
        with self.changed:
            self._bytes -= refused.size
            refused.lane.drop_held(producer)
            self._queue(refused.lane)
            self.changed.notify_all()

    def tend(self) -> None:
        """To be called often: lanes go on after their pause, deadlines and request time-outs are noticed.

        Raises what ended a channel.
        """
        if self._error is not None:
            raise self._error
        now = monotonic()
        if now < self._tend_at:
            return
        self._tend_at = now + _LOOK_SECONDS
        with self.changed:
            for lane in [lane for lane, until in self._waiting.items() if until <= now]:
                del self._waiting[lane]
                lane.paused = False
                self._queue(lane)
            self._expire(now)

    def purge(self) -> None:
        """Send nothing more and forget what waits; from any thread."""
        with self.changed:
            self._closed = True
            self.changed.notify_all()
            channels = list(self._channels.values())
        for channel in channels:
            channel.close()

    # --- what channels ask, with `changed` held where it says so

    def closed(self) -> bool:
        """Whether sending is over."""
        return self._closed

    def acknowledged(self, entry: Entry, base_offset: int) -> None:
        """The target has it. Under the lock."""
        entry.lane.acknowledged(entry)
        self._bytes -= entry.size
        self._acknowledged.append(Acknowledged(entry.receipt, base_offset))
        self._settle(entry.lane)

    def failed(self, entry: Entry, error: int, reason: str) -> None:
        """The target did not take it, or the connection broke (error 0). Under the lock."""
        follows_a_failure = entry.lane.recovering and failures.is_out_of_order(error)
        if error and not failures.is_retriable(error) and not follows_a_failure:
            entry.refusal, entry.reason = error, reason
        elif error:
            self.cluster.stale()
        entry.lane.failed()
        self._settle(entry.lane)

    def pause(self, lane: Lane) -> None:
        """Leave a lane alone for a moment. Under the lock."""
        if lane.line is not None:
            lane.line.remove(lane)
            lane.line = None
        lane.paused = True
        self._waiting[lane] = monotonic() + self.options.retry_pause

    def ended(self, error: BaseException) -> None:
        """A channel cannot go on."""
        with self.changed:
            self._error = self._error or error
            self.changed.notify_all()

    # --- the rest

    def _new_lane(self, partition: TopicPartition) -> Lane:
        producer = self._ids.current if self._ids is not None else None
        lane = self._lanes[partition] = Lane(partition, producer, self.options.in_flight if producer else 1)
        return lane

    def _settle(self, lane: Lane) -> None:
        if lane.recovered():
            if lane.held is not None:
                self._refused.append(lane.held)
            else:
                self.pause(lane)
        elif not lane.recovering:
            self._queue(lane)
        self.changed.notify_all()

    def _queue(self, lane: Lane) -> None:
        """Put a lane that can send in line at its leader's channel; without a leader it waits."""
        if lane.line is not None or not lane.can_send():
            return
        leader = self.cluster.leader(lane.partition)
        if leader is None:
            self.cluster.stale()
            self.pause(lane)
            return
        channel = self._channels.get(leader.node)
        if channel is None:
            channel = self._channels[leader.node] = _Channel(self, leader.node)
            channel.start()
        lane.line = channel.lanes
        channel.lanes.append(lane)
        self.changed.notify_all()

    def _expire(self, now: float) -> None:
        """Refuse what was not delivered in time, once nothing of its lane is under way."""
        if self.options.delivery_timeout == inf:
            return
        for lane in self._lanes.values():
            if lane.pending and lane.pending[0].deadline <= now and not lane.under_way and lane.held is None:
                lane.held = lane.pending.popleft()
                lane.held.refusal = failures.TIMED_OUT
                self._refused.append(lane.held)
                self.changed.notify_all()


class _Request(NamedTuple):
    """A Produce request under way."""

    entries: list[Entry]
    version: int
    sent: float
    size: int


class _Link(NamedTuple):
    """A connection, and what is under way on it in the order of the answers to come."""

    connection: Connection
    under_way: deque[_Request]


class _Channel(threading.Thread):
    """The conversation with one target broker; this thread sends, another one receives."""

    def __init__(self, appender: Appender, node: int) -> None:
        super().__init__(name=f"append-{node}", daemon=True)
        self.lanes: deque[Lane] = deque()
        self._appender = appender
        self._node = node
        self._link: _Link | None = None
        self._silent_until = 0.0

    def run(self) -> None:
        """Until purged, or until an error that no later try can mend."""
        while (entries := self._next()) is not None:
            try:
                self._send(entries)
            except (ConnectionLost, ClusterUnreachable) as error:
                self._lost(error, [_Request(entries, 0, 0.0, 0)])
            except Exception as error:  # noqa: BLE001 - the engine raises it
                self._appender.ended(error)
                return

    def close(self) -> None:
        """Wake both threads out of whatever they wait for."""
        if self._link is not None:
            self._link.connection.close()

    def _next(self) -> list[Entry] | None:
        """One batch of each lane in line, as many as a request holds; waits for the first. None: it is over."""
        appender = self._appender
        with appender.changed:
            while not self._may_send():
                if appender.closed():
                    return None
                appender.changed.wait(_LOOK_SECONDS if self._silent_until else None)
            entries: list[Entry] = []
            used: set[Lane] = set()
            size = 0
            while self.lanes and self.lanes[0] not in used:
                lane = self.lanes.popleft()
                if not lane.can_send():
                    lane.line = None
                    continue
                if entries and size + lane.pending[0].size > appender.options.request_bytes:
                    self.lanes.appendleft(lane)
                    break
                entries.append(lane.begin())
                size += entries[-1].size
                used.add(lane)
                self.lanes.append(lane)
            return entries

    def _may_send(self) -> bool:
        if self._appender.closed() or monotonic() < self._silent_until:
            return False
        self._silent_until = 0.0
        while self.lanes and not self.lanes[0].can_send():
            self.lanes.popleft().line = None
        link = self._link
        return bool(self.lanes) and (link is None or len(link.under_way) < self._appender.options.in_flight)

    def _send(self, entries: list[Entry]) -> None:
        options = self._appender.options
        link = self._link or self._connect()
        zstd = any(entry.batch.header.codec is Codec.ZSTD for entry in entries)
        lowest = messages.ZSTD_SINCE if zstd else messages.LOWEST
        version = link.connection.version(messages.API_KEY, lowest, messages.HIGHEST)
        batches = [(entry.lane.partition, entry.batch.buffer) for entry in entries]
        segments = messages.encode(options.acks, int(options.request_timeout * 1000), batches)
        request = _Request(entries, version, monotonic(), sum(map(len, segments)))
        with self._appender.changed:
            link.under_way.append(request)
        try:
            link.connection.send(messages.API_KEY, version, segments)
        except ConnectionLost as error:
            self._lost(error, self._take_back(link))

    def _connect(self) -> _Link:
        link = self._link = _Link(self._appender.cluster.connect(self._node), deque())
        threading.Thread(target=self._receive, args=(link,), name=f"acks-{self._node}", daemon=True).start()
        return link

    def _receive(self, link: _Link) -> None:
        """What the receiving thread does, as long as this connection lasts."""
        try:
            while True:
                body = link.connection.receive()
                request = link.under_way[0]
                appended, throttle = messages.decode(request.version, body)
                self._settle(link, request, appended, len(body), throttle)
        except ConnectionLost as error:
            self._lost(error, self._take_back(link))
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self._appender.ended(error)

    def _settle(
        self, link: _Link, request: _Request, appended: Iterable[messages.Appended], size: int, throttle: int
    ) -> None:
        now = monotonic()
        appender = self._appender
        entries = {entry.lane.partition: entry for entry in request.entries}
        appender.traffic.exchanged(self._node, request.size, size, now - request.sent, throttle)
        with appender.changed:
            link.under_way.popleft()
            if throttle:
                self._silent_until = now + throttle / 1000
            for answer in appended:
                entry = entries.pop(answer.partition)
                if not answer.error or failures.is_duplicate(answer.error):
                    appender.acknowledged(entry, -1 if answer.error else answer.base_offset)
                else:
                    appender.failed(entry, answer.error, answer.reason)
            for entry in entries.values():
                appender.failed(entry, 0, "")
            appender.changed.notify_all()

    def _take_back(self, link: _Link) -> list[_Request]:
        """What was under way on a broken connection, once; a new one is made for what comes next."""
        with self._appender.changed:
            if self._link is link:
                self._link = None
            requests = list(link.under_way)
            link.under_way.clear()
            return requests

    def _lost(self, error: LegacyMMError, requests: Iterable[_Request]) -> None:
        """Nobody knows what became of these: their lanes find out by sending again."""
        appender = self._appender
        with appender.changed:
            for request in requests:
                for entry in request.entries:
                    appender.failed(entry, 0, "")
            for lane in tuple(self.lanes):  # perhaps another broker leads them by then
                appender.pause(lane)
        if not appender.closed():
            appender.traffic.lost(self._node, str(error))
            appender.cluster.stale()


def options_from(properties: Mapping[str, str]) -> AppendOptions:
    """What librdkafka's producer properties say about sending; its and Java's defaults where they say nothing."""

    def number(name: str, default: int) -> int:
        return int(properties.get(name, default))

    delivery = number("message.timeout.ms", 0)
    acks = properties.get("acks", "all")
    return AppendOptions(
        acks=-1 if acks == "all" else int(acks),
        idempotent=properties.get("enable.idempotence") == "true",
        in_flight=number("max.in.flight.requests.per.connection", 5),
        request_bytes=number("message.max.bytes", 1 << 20),
        buffer_bytes=number("queue.buffering.max.kbytes", 32 << 10) << 10,
        request_timeout=number("request.timeout.ms", 30_000) / 1000,
        delivery_timeout=delivery / 1000 if delivery else inf,
        retry_pause=number("retry.backoff.ms", 100) / 1000,
    )
