"""One logged-in connection to one broker: requests go out, responses come back in the same order.

connection = open_connection(Security(settings), host, port, settings)
version = connection.version(API_KEY, 4, 11)
connection.send(API_KEY, version, [body, records])      # one thread
body = connection.receive()                             # the same thread, or another
metadata = connection.call(MetadataRequest())           # when nothing else is on its way
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from itertools import count
from math import inf
from socket import socket
from threading import Lock
from typing import Any, NamedTuple

from kafka.errors import IncompatibleBrokerVersion
from kafka.protocol.api_key import ApiKey
from kafka.protocol.broker_version_data import BrokerVersionData

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.net import login
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost, UnsupportedVersion
from legacy_mm.clients.net.connection_security import Security
from legacy_mm.clients.net.no_answer import closing, odd_size
from legacy_mm.clients.net.tls_context import broken_reason
from legacy_mm.clients.net.transport_layer import IncomingResponse, TransportLayer, open_socket
from legacy_mm.protocol.compression import Bytes
from legacy_mm.protocol.message_writer import FLEXIBLE

_REQUEST_HEAD = struct.Struct(">ihhi")  # size, API, version, correlation id
_CLIENT_ID = "legacy_mm"
_SIZE = struct.Struct(">i")
_CLIENT_ID_LENGTH = struct.Struct(">h")
_IDS = 1 << 31
_ON_THEIR_WAY = 64 << 10
"""Bytes of requests, so few that their answers find room in the sockets: a broker without it reads no further."""
_PATIENCE = 1.0
"""The time after which a broker that does not tell its versions may be one of 0.9."""
_LIFE_USED = 0.85
"""The part of a login's lifetime after which it is renewed, as in the Java client."""
_CODEC = Lock()
"""kafka-python compiles a codec at its first use, without a lock: two threads at once can leave it broken for good."""


def open_connection(
    security: Security,
    host: str,
    port: int,
    settings: ConnectionSettings,
    node: int | None = None,
    *,
    within: float = float("inf"),
) -> Connection:
    """Return a connection ready for requests; raise ConnectionLost, AuthenticationFailed or UnsupportedVersion.

    `security` holds tokens and other state that several connections share; `within` is the limit in seconds.
    """
    deadline = Deadline.after(min(settings.setup_timeout, within))
    try:
        return _connect(security, host, port, settings, node, deadline)
    except OSError as error:
        raise ConnectionLost(f"{host}:{port} cannot be reached: {broken_reason(error, connected=False)}") from error
    except AuthenticationFailed as error:
        raise AuthenticationFailed(f"{security.protocol.value}://{host}:{port}: {error}") from error


def _connect(
    security: Security, host: str, port: int, settings: ConnectionSettings, node: int | None, deadline: Deadline
) -> Connection:
    connected = open_socket(host, port, settings, deadline.remaining())
    try:
        transport = security.secure(connected, host)
    except BaseException:
        connected.close()
        raise
    connection = Connection(transport, host, port, node, settings)
    try:
        with connection.with_timeout(deadline.remaining()):
            if name := security.mechanism_name:
                connection.knows(login.ask_versions(connection.call))
                lifetime = login.authenticate(connection.call, name, security.mechanism(host))
                connection.renew_before = monotonic() + lifetime * _LIFE_USED if lifetime else None
            else:
                connection.knows(_versions(connection, security.silent))
    except BaseException:
        connection.close()
        raise
    return connection


def _versions(connection: Connection, silent: set[tuple[str, int]]) -> login.BrokerVersions:
    """Return what the broker speaks; as one of 0.9 if it answers the next question instead.

    A later broker may be slow, and asked as an old one it would leave out headers. But it answers in order.
    """
    address = connection.host, connection.port
    patience = 0.0 if address in silent else _PATIENCE
    question = login.ask_what_0_9_knows()
    try:
        return login.ask_versions(lambda request: connection.call_or(request, patience, question))
    except _Unanswered:
        silent.add(address)
        return login.OF_0_9


class _Unanswered(Exception):
    """A broker has answered a later question only."""


OnExchange = Callable[[int, int, float, int], None]
"""Is given the bytes of a request and of its answer, the seconds between them, and the milliseconds of throttling."""


class _Asked(NamedTuple):
    """A request that is not answered yet."""

    correlation_id: int
    api_key: int
    at: float


class Connection:
    """One socket to one broker (TCP or TLS). One thread may send while another receives; any thread may close."""

    def __init__(
        self, transport: TransportLayer, host: str, port: int, node: int | None, settings: ConnectionSettings
    ) -> None:
        self.host, self.port, self.node = host, port, node
        self.renew_before: float | None = None
        """Monotonic time from which the broker may end this login: connect anew before. None: never."""
        self.on_exchange: OnExchange | None = None
        """Told of each answered `call`."""
        self._transport = transport
        self._client_id = settings.client_id or _CLIENT_ID
        encoded = self._client_id.encode()
        self._client = _CLIENT_ID_LENGTH.pack(len(encoded)) + encoded
        self._timeout = settings.socket_timeout
        self._most_bytes = settings.max_response_bytes
        self._ids = count(1)
        self._outstanding: deque[_Asked] = deque()
        self._excused = float("-inf")
        self._may_skip = False
        self._incoming = IncomingResponse(self._check)
        self._broker = BrokerVersionData(api_versions={})
        self._features: Mapping[str, int] = {}
        self._users, self._closed, self._lock = 0, False, Lock()

    def __repr__(self) -> str:
        return f"<Connection to {self}>"

    def __str__(self) -> str:
        node = "" if self.node is None else f" (broker {self.node})"
        return f"{self.host}:{self.port}{node}"

    def is_open(self) -> bool:
        """Return True if neither side is known to have closed the connection; sends nothing."""
        try:
            self._enter()
        except ConnectionLost:
            return False
        try:
            return not self._transport.is_ended()
        finally:
            self._leave()

    def is_due(self) -> bool:
        """Return True if the broker may end this login any moment."""
        return self.renew_before is not None and monotonic() >= self.renew_before

    def knows(self, versions: login.BrokerVersions) -> None:
        """Set what the broker speaks."""
        self._broker = BrokerVersionData(api_versions=dict(versions.apis))
        self._features = versions.features

    def level_now(self, feature: str) -> int:
        """Ask for the finalized level of a feature of the cluster, and return it; 0: it has none.

        Brokers tell what they speak at any time. Nothing else is on its way.
        """
        self.knows(login.ask_versions(self.call))
        return self._features.get(feature, 0)

    def has(self, api_key: int, version: int) -> bool:
        """Return True if the broker knows this version of an API."""
        lowest, highest = self._broker.api_versions.get(api_key, (0, -1))
        return bool(lowest <= version <= highest)

    def version(self, api_key: int, lowest: int, highest: int) -> int:
        """Return the highest version within the range that the broker supports; raise UnsupportedVersion."""
        known = self._broker.api_versions.get(api_key)
        if known is None or known[0] > highest or known[1] < lowest:
            raise self._unsupported(api_key, f"{lowest} to {highest}")
        return int(min(highest, known[1]))

    def speaks(self, request: Any) -> bool:
        """Return True if the broker knows a version of this message object of kafka-python that it may be sent in."""
        try:
            self._version_of(request)
        except UnsupportedVersion:
            return False
        return True

    def send(
        self, api_key: int, version: int, segments: Sequence[Bytes], *, answered: bool = True, flexible: bool = False
    ) -> None:
        """Write one request, header first, without joining the segments.

        `answered`: False where the broker sends no response. `flexible`: the header has tagged fields, none here.
        ConnectionLost: the request may or may not have arrived.
        """
        correlation_id = next(self._ids) % _IDS
        client = self._client + FLEXIBLE.end if flexible else self._client
        size = _REQUEST_HEAD.size - _SIZE.size + len(client) + sum(map(len, segments))
        head = _REQUEST_HEAD.pack(size, api_key, version, correlation_id) + client
        self._send([head, *segments], _Asked(correlation_id, api_key, monotonic()) if answered else None)

    def receive(self) -> memoryview:
        """Return the bytes after the correlation id of the next response.

        A flexible response still starts with its header's tagged fields. Wait for a request if none is in flight; raise
        ConnectionLost when the broker does not answer within `socket.timeout.ms`.
        """
        body = self._receive(self._transport.receive_into, waits=True)
        assert body is not None
        return body

    def receive_now(self) -> memoryview | None:
        """Return what `receive` does, without waiting: None until the response is whole. Keep what has come of it."""
        return self._receive(self._transport.receive_now, waits=False)

    def lend(self) -> socket:
        """Return the socket to wait on for responses, until `give_back`; nobody else receives meanwhile."""
        self._enter()
        return self._transport.socket

    def give_back(self) -> None:
        """End the use of the socket that `lend` began."""
        self._leave()

    def call(self, request: Any, patience: float = inf) -> Any:
        """Send any message object of kafka-python in the highest version both know, and wait for its response, which
        must have begun within `patience` seconds.
        """
        sent, size = self._ask(request)
        begin = monotonic()
        with self._in_use():
            if patience < self._timeout and not self._transport.is_ready(patience):
                raise self._lost(f"no answer to {_api(sent.API_KEY)} within {patience:g} s")
        body = self.receive()
        seconds = monotonic() - begin
        answer = self._decoded(sent, body)
        if self.on_exchange is not None:
            self.on_exchange(size, len(body), seconds, getattr(answer, "throttle_time_ms", 0))
        return answer

    def call_or(self, request: Any, patience: float, other: Any) -> Any:
        """Return the answer as `call` does; where there is none within `patience`, ask the other question, too.

        Raise _Unanswered where only that is answered: brokers answer in order what they know.
        """
        sent, _ = self._ask(request)
        if self._transport.is_ready(patience):
            return self._answer(sent)
        self._ask(other)
        self._may_skip = True
        body = self.receive()
        self._may_skip = False
        if not self._outstanding:
            raise _Unanswered
        self.receive()
        return self._decoded(sent, body)

    def call_each(self, requests: Iterable[Any]) -> Iterator[Any]:
        """Yield the answers in the order of the requests, several of which are in flight at a time; else like `call`.

        Use it for requests that are not smaller than their answers.
        """
        asked: deque[Any] = deque()
        sizes: deque[int] = deque()
        for request in requests:
            sent, size = self._ask(request)
            asked.append(sent)
            sizes.append(size)
            while sum(sizes) > _ON_THEIR_WAY:
                sizes.popleft()
                yield self._answer(asked.popleft())
        yield from map(self._answer, asked)

    @contextmanager
    def with_timeout(self, seconds: float) -> Iterator[None]:
        """Wait this long for an answer instead of `socket.timeout.ms`."""
        usual, self._timeout = self._timeout, seconds
        try:
            yield
        finally:
            self._timeout = usual

    def excuse(self, seconds: float) -> None:
        """Extend the timeout by the time for which the broker mutes this connection (a quota)."""
        self._excused = monotonic() + seconds

    def close(self) -> None:
        """End the connection; threads that are blocked in it get ConnectionLost."""
        with self._lock:
            self._closed = True
            self._transport.shut()
            if not self._users:
                self._transport.close()

    def _ask(self, request: Any) -> tuple[Any, int]:
        """Send the request; return it as sent, and its size in bytes."""
        correlation_id = next(self._ids) % _IDS
        request = copy(request)  # another broker may have to be asked in another version
        if request.API_VERSION is None:
            request.API_VERSION = self._version_of(request)
        request.with_header(correlation_id=correlation_id, client_id=self._client_id)
        with _CODEC:
            encoded = request.encode(framed=True, header=True)
        self._send([encoded], _Asked(correlation_id, request.API_KEY, monotonic()))
        return request, len(encoded)

    def _answer(self, request: Any) -> Any:
        """Return the answer to the oldest unanswered request."""
        return self._decoded(request, self.receive())

    def _decoded(self, request: Any, body: memoryview) -> Any:
        answer = _SIZE.pack(request.header.correlation_id) + bytes(body)
        try:
            with _CODEC:
                return request.header.get_response_class().decode(answer, header=True)
        except Exception as error:  # rubbish can end in any of them
            self.close()
            cause = f"{type(error).__name__}: {error}"
            raise self._lost(f"the answer to {_api(request.API_KEY)} cannot be read ({cause})") from error

    def _send(self, segments: list[Bytes], asked: _Asked | None) -> None:
        with self._in_use():
            if asked is not None:
                self._outstanding.append(asked)
            deadline = Deadline.after(self._timeout)
            while segments:
                try:
                    sent = self._transport.send_some(segments)
                except BlockingIOError:
                    if deadline.expired():
                        raise self._lost(f"it took no bytes for {self._timeout:g} s") from None
                    continue
                deadline = Deadline.after(self._timeout)
                segments = _unsent(segments, sent)

    def _receive(self, receive_into: Callable[[memoryview], int], *, waits: bool) -> memoryview | None:
        with self._in_use():
            while self._incoming.missing:
                try:
                    received = receive_into(self._incoming.missing)
                except BlockingIOError:
                    self._check_timeout()
                    if waits:
                        continue
                    return None
                if not received:
                    raise self._lost(closing(self._incoming.begun, [each.correlation_id for each in self._outstanding]))
                self._incoming.received(received)
            body, self._incoming = self._incoming.body, IncomingResponse(self._check)
            self._outstanding.popleft()
            return body

    def _check_timeout(self) -> None:
        if self._closed:
            raise self._lost("closed here")
        with suppress(IndexError):  # another thread may be about to send
            oldest = self._outstanding[0]
            if monotonic() - max(oldest.at, self._excused) > self._timeout:
                raise self._lost(f"no answer to {_api(oldest.api_key)} within {self._timeout:g} s")

    def _check(self, size: int, correlation_id: int) -> None:
        if not _SIZE.size <= size <= self._most_bytes:
            raise self._lost(odd_size(size, self._most_bytes))
        if not self._outstanding:
            raise self._lost("a response to no request")
        if self._may_skip and correlation_id == self._outstanding[-1].correlation_id:
            del self._outstanding[0]
        wanted = self._outstanding[0]
        if correlation_id != wanted.correlation_id:
            raise self._lost(
                f"a response to request {correlation_id} instead of {wanted.correlation_id} ({_api(wanted.api_key)})"
            )

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep the descriptor while a thread is inside; after any failure the connection is over."""
        self._enter()
        try:
            yield
        except OSError as error:
            self.close()
            raise self._lost(broken_reason(error, connected=True)) from error
        except BaseException:
            self.close()
            raise
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            if self._closed:
                raise self._lost("closed here")
            self._users += 1

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._closed and not self._users:
                self._transport.close()

    def _version_of(self, request: Any) -> int:
        try:
            return int(self._broker.api_version(request))
        except IncompatibleBrokerVersion:
            raise self._unsupported(request.API_KEY, f"0 to {request.max_version}") from None

    def _unsupported(self, api_key: int, wanted: str) -> UnsupportedVersion:
        known = self._broker.api_versions.get(api_key)
        theirs = "does not have it" if known is None else f"has {known[0]} to {known[1]}"
        return UnsupportedVersion(f"{_api(api_key)} is needed in version {wanted}; the broker {self} {theirs}")

    def _lost(self, why: str) -> ConnectionLost:
        return ConnectionLost(f"the connection to {self} is lost: {why}")


def _unsent(segments: list[Bytes], sent: int) -> list[Bytes]:
    """Return the rest of `segments` after their first `sent` bytes."""
    for index, segment in enumerate(segments):
        if sent < len(segment):
            return [memoryview(segment)[sent:], *segments[index + 1 :]]
        sent -= len(segment)
    return []


def _api(api_key: int) -> str:
    return str(ApiKey(api_key).name)
