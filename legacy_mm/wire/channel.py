"""The conversation with one target broker: a thread that sends and one that receives.

A request holds at most one batch for each partition, because brokers take no more. When a connection breaks, what was
under way on it goes back to the lanes, which send it again in order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from legacy_mm.clock import monotonic
from legacy_mm.errors import LegacyMMError
from legacy_mm.protocol import produce_messages as messages
from legacy_mm.protocol.compression import Codec
from legacy_mm.wire import failures
from legacy_mm.wire.append_options import AppendOptions
from legacy_mm.wire.cluster import Cluster
from legacy_mm.wire.connection import Connection
from legacy_mm.wire.errors import ClusterUnreachable, ConnectionLost
from legacy_mm.wire.lane import Entry, Lane
from legacy_mm.wire.traffic import Traffic

_LOOK_SECONDS = 0.05


class Owner(Protocol):
    """Whose batches a channel carries. All but `ended` is called with `changed` held."""

    cluster: Cluster
    options: AppendOptions
    traffic: Traffic
    changed: threading.Condition

    def closed(self) -> bool:
        """Whether sending is over."""

    def acknowledged(self, entry: Entry, base_offset: int) -> None:
        """The target has it, from this offset on; -1: it had it already."""

    def failed(self, entry: Entry, error: int, reason: str) -> None:
        """The target did not take it; error 0: nobody knows."""

    def pause(self, lane: Lane) -> None:
        """Leave a lane alone for a moment."""

    def ended(self, error: BaseException) -> None:
        """The channel cannot go on."""


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


class Channel(threading.Thread):
    """The conversation with one target broker; this thread sends, another one receives."""

    def __init__(self, owner: Owner, node: int) -> None:
        super().__init__(name=f"append-{node}", daemon=True)
        self.lanes: deque[Lane] = deque()
        self._owner = owner
        self._node = node
        self._link: _Link | None = None
        self._silent_until = 0.0

    def run(self) -> None:
        """Until purged, or until an error that no later try can mend."""
        try:
            while (entries := self._next()) is not None:
                try:
                    self._send(entries)
                except (ConnectionLost, ClusterUnreachable) as error:
                    self._lost(error, [_Request(entries, 0, 0.0, 0)])
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self._owner.ended(error)

    def in_flight(self) -> int:
        """Requests that are not answered yet."""
        link = self._link
        return 0 if link is None else len(link.under_way)

    def close(self) -> None:
        """Wake both threads out of whatever they wait for."""
        if self._link is not None:
            self._link.connection.close()

    def _next(self) -> list[Entry] | None:
        """One batch of each lane in line, as many as a request holds; waits for the first. None: it is over."""
        owner = self._owner
        with owner.changed:
            while not self._may_send():
                if owner.closed():
                    return None
                owner.changed.wait(_LOOK_SECONDS if self._silent_until else None)
            entries: list[Entry] = []
            used: set[Lane] = set()
            size = 0
            while self.lanes and self.lanes[0] not in used:
                lane = self.lanes.popleft()
                if not lane.can_send():
                    lane.line = None
                    continue
                if entries and size + lane.pending[0].size > owner.options.request_bytes:
                    self.lanes.appendleft(lane)
                    break
                entries.append(lane.begin())
                owner.traffic.waited(monotonic() - entries[-1].since)
                size += entries[-1].size
                used.add(lane)
                self.lanes.append(lane)
            return entries

    def _may_send(self) -> bool:
        if self._owner.closed() or monotonic() < self._silent_until:
            return False
        self._silent_until = 0.0
        while self.lanes and not self.lanes[0].can_send():
            self.lanes.popleft().line = None
        link = self._link
        most = self._owner.options.in_flight
        if link is not None and link.connection.is_due():
            most = 1  # all answers come before the connection is given up
        return bool(self.lanes) and (link is None or len(link.under_way) < most)

    def _send(self, entries: list[Entry]) -> None:
        options = self._owner.options
        if self._link is not None and self._link.connection.is_due():
            self._link.connection.close()
            self._link = None
        link = self._link or self._connect()
        zstd = any(entry.batch.header.codec is Codec.ZSTD for entry in entries)
        lowest = messages.ZSTD_SINCE if zstd else messages.LOWEST
        version = link.connection.version(messages.API_KEY, lowest, messages.HIGHEST)
        batches = [(entry.lane.partition, entry.batch.buffer) for entry in entries]
        segments = messages.encode(options.acks, int(options.request_timeout * 1000), batches)
        request = _Request(entries, version, monotonic(), sum(map(len, segments)))
        with self._owner.changed:
            link.under_way.append(request)
        try:
            link.connection.send(messages.API_KEY, version, segments)
        except ConnectionLost as error:
            self._lost(error, self._take_back(link))

    def _connect(self) -> _Link:
        link = self._link = _Link(self._owner.cluster.connect(self._node), deque())
        threading.Thread(target=self._receive, args=(link,), name=f"acks-{self._node}", daemon=True).start()
        return link

    def _receive(self, link: _Link) -> None:
        """What the receiving thread does, as long as this connection lasts."""
        try:
            try:
                self._take_answers(link)
            except ConnectionLost as error:
                if requests := self._take_back(link):  # else it was idle, and the next request makes a new one
                    self._lost(error, requests)
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self._owner.ended(error)

    def _take_answers(self, link: _Link) -> None:
        while True:
            body = link.connection.receive()
            with self._owner.changed:
                if not link.under_way:  # the sending thread found the connection broken, and took all back
                    return
                request = link.under_way.popleft()
            appended, throttle = messages.decode(request.version, body)
            self._settle(request, appended, len(body), throttle)

    def _settle(self, request: _Request, appended: Iterable[messages.Appended], size: int, throttle: int) -> None:
        now = monotonic()
        owner = self._owner
        entries = {entry.lane.partition: entry for entry in request.entries}
        owner.traffic.exchanged(self._node, request.size, size, now - request.sent, throttle)
        with owner.changed:
            if throttle:
                self._silent_until = now + throttle / 1000
            for answer in appended:
                entry = entries.pop(answer.partition)
                if not answer.error or failures.is_duplicate(answer.error):
                    owner.acknowledged(entry, -1 if answer.error else answer.base_offset)
                else:
                    owner.failed(entry, answer.error, answer.reason)
            for entry in entries.values():
                owner.failed(entry, 0, "")
            owner.changed.notify_all()

    def _take_back(self, link: _Link) -> list[_Request]:
        """What was under way on a broken connection, once; a new one is made for what comes next."""
        with self._owner.changed:
            if self._link is link:
                self._link = None
            requests = list(link.under_way)
            link.under_way.clear()
            return requests

    def _lost(self, error: LegacyMMError, requests: Iterable[_Request]) -> None:
        """Nobody knows what became of these: their lanes find out by sending again."""
        owner = self._owner
        with owner.changed:
            for request in requests:
                for entry in request.entries:
                    owner.failed(entry, 0, "")
            for lane in tuple(self.lanes):  # perhaps another broker leads them by then
                owner.pause(lane)
        if not owner.closed():
            owner.traffic.lost(self._node, str(error))
            owner.cluster.stale()
