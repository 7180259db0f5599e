"""Proxies before the brokers of a cluster that know requests: one is lost, or its answer, or it arrives late.

They withhold, and never change a byte. A rule waits for the next request that it fits, at any of the brokers, is
applied to this one, and counts it. Rule: for listeners without TLS and logins; two threads serve each connection.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from enum import IntEnum
from types import TracebackType
from typing import Self

from compat.laboratory.ports import LOOPBACK
from compat.laboratory.raw_request import CORRELATION_ID, HEAD, SIZE, exchange, receive_message

ANSWER_TIMEOUT = 60.0


class Api(IntEnum):
    """Kinds of requests; a rule takes any other number, too."""

    PRODUCE = 0
    OFFSET_COMMIT = 8
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    INIT_PRODUCER_ID = 22
    ADD_PARTITIONS_TO_TXN = 24
    END_TXN = 26
    WRITE_TXN_MARKERS = 27


class RequestRule:
    """Requests that a rule fits: their kind, a pattern that the client's id has, and bytes that are in them."""

    def __init__(self, api: int, client: str, containing: bytes) -> None:
        self.applied = 0
        """The number of requests that it happened to."""
        self._api = api
        self._client = re.compile(client)
        self._containing = containing

    def fits(self, request: bytes) -> bool:
        """Return True for a request that the rule is about."""
        api, _, _, length = HEAD.unpack_from(request)
        client = request[HEAD.size : HEAD.size + max(0, length)].decode(errors="replace")
        return api == self._api and self._client.search(client) is not None and self._containing in request

    def apply(self, line: Line, request: bytes) -> None:
        """Do it to this request."""
        raise NotImplementedError


class LostRequest(RequestRule):
    """Does not arrive; the client's connection is cut."""

    def apply(self, line: Line, request: bytes) -> None:
        """Cut the connection instead of passing the request on."""
        self.applied += 1
        line.cut()


class LostAnswer(RequestRule):
    """Arrives. Its answer is lost, and the client's connection is cut or stays silent."""

    def __init__(self, api: int, client: str, containing: bytes, *, cut: bool) -> None:
        super().__init__(api, client, containing)
        self.cuts = cut

    def apply(self, line: Line, request: bytes) -> None:
        """Pass the request on and wait for its answer."""
        line.loses[HEAD.unpack_from(request)[2]] = self
        line.send(request)


class HeldRequest(RequestRule):
    """Does not arrive until it is delivered. What the client sends behind it on its connection never arrives."""

    def __init__(self, api: int, client: str, containing: bytes, after: float | None, *, cut: bool) -> None:
        super().__init__(api, client, containing)
        self.delivered = 0
        """1 when its broker has answered it."""
        self.answer = b""
        """The broker's, from its correlation id on."""
        self._after = after
        self._cuts = cut
        self._request = b""
        self._port = 0
        self._tried = False
        self._delivering = threading.Lock()
        self._timer: threading.Timer | None = None

    def apply(self, line: Line, request: bytes) -> None:
        """Keep the request, and cut the connection or leave it silent until the client gives it up."""
        self._port, self._request = line.port, request
        self.applied += 1
        if self._after is not None:
            self._timer = threading.Timer(self._after, self._deliver_if_possible)
            self._timer.daemon = True
            self._timer.start()
        if self._cuts:
            line.cut()
        while line.receive():
            pass

    def deliver(self) -> bytes:
        """Send the request to its broker, on a connection of its own, and return the answer.

        Tries once: a network does not repeat what has arrived. OSError if the broker does not answer.
        """
        with self._delivering:
            if not self.applied:
                raise ValueError("nothing is held yet")
            if not self._tried:
                self._tried = True
                self.answer = exchange(LOOPBACK, self._port, self._request, ANSWER_TIMEOUT)
                self.delivered = 1
        return self.answer

    def forget(self) -> None:
        """Deliver nothing by itself any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _deliver_if_possible(self) -> None:
        with contextlib.suppress(OSError):
            self.deliver()


class Line:
    """A client's connection, and the one to its broker."""

    def __init__(self, near: socket.socket, port: int) -> None:
        self.port = port
        self.loses: dict[int, LostAnswer] = {}
        """Correlation ids of requests whose answers are lost."""
        self._near = near
        self._far = socket.create_connection((LOOPBACK, port))
        for each in (near, self._far):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answering = threading.Thread(target=self._pass_answers, name="holding-proxy-answers", daemon=True)
        self._answering.start()

    def receive(self) -> bytes:
        """Return the client's next request; nothing when there will be none."""
        try:
            return receive_message(self._near)
        except OSError:
            return b""

    def send(self, request: bytes) -> None:
        """Pass a request on; OSError if the broker is gone."""
        self._far.sendall(SIZE.pack(len(request)) + request)

    def cut(self) -> None:
        """End both connections."""
        for each in (self._near, self._far):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End both connections, and wait until nothing is passed on any more."""
        self.cut()
        self._answering.join()
        self._near.close()
        self._far.close()

    def _pass_answers(self) -> None:
        try:
            while answer := receive_message(self._far):
                rule = self.loses.get(CORRELATION_ID.unpack_from(answer)[0])
                if rule is not None:
                    rule.applied += 1
                    while not rule.cuts and receive_message(self._far):
                        pass
                    return
                self._near.sendall(SIZE.pack(len(answer)) + answer)
        except OSError:
            pass
        finally:
            self.cut()


class HoldingProxy:
    """Listens on loopback before each broker that it is told of, in threads of this process."""

    def __init__(self) -> None:
        self._rules: list[RequestRule] = []
        self._held: list[HeldRequest] = []
        self._lines: set[Line] = set()
        self._listeners: list[socket.socket] = []
        self._lock = threading.Lock()

    def before(self, port: int) -> tuple[str, int]:
        """Listen for a broker, and return host and port to advertise: `Cluster(advertise=proxy.before)`."""
        listener = socket.create_server((LOOPBACK, 0), backlog=256)
        self._listeners.append(listener)
        threading.Thread(target=self._accept, args=(listener, port), name="holding-proxy", daemon=True).start()
        host, own_port = listener.getsockname()
        return host, own_port

    def lose(self, api: int, *, client: str = "", containing: bytes = b"") -> LostRequest:
        """Lose the next such request, and cut its connection."""
        rule = LostRequest(api, client, containing)
        self._add(rule)
        return rule

    def lose_answer(self, api: int, *, client: str = "", containing: bytes = b"", cut: bool = True) -> LostAnswer:
        """Lose the answer to the next such request. Its connection is cut, or stays silent as with `hold`."""
        rule = LostAnswer(api, client, containing, cut=cut)
        self._add(rule)
        return rule

    def hold(
        self, api: int, *, client: str = "", containing: bytes = b"", after: float | None = None, cut: bool = True
    ) -> HeldRequest:
        """Hold the next such request until `deliver()` is called, or for `after` seconds.

        Its connection is cut at once, or stays silent until the client gives it up.
        """
        rule = HeldRequest(api, client, containing, after, cut=cut)
        self._held.append(rule)
        self._add(rule)
        return rule

    def disarm(self) -> None:
        """Let no rule wait any more; what is held stays held."""
        with self._lock:
            self._rules.clear()

    def cut(self) -> int:
        """End all connections at once; return the number of them. What is held is not lost."""
        with self._lock:
            lines = list(self._lines)
        for line in lines:
            line.cut()
        return len(lines)

    def connections(self) -> int:
        """Return the number of open connections."""
        return len(self._lines)

    def close(self) -> None:
        """End all connections, listen no more, and forget what is held."""
        for held in self._held:
            held.forget()
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _add(self, rule: RequestRule) -> None:
        with self._lock:
            self._rules.append(rule)

    def _accept(self, listener: socket.socket, port: int) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                near = listener.accept()[0]
                threading.Thread(target=self._serve, args=(near, port), name="holding-proxy", daemon=True).start()

    def _serve(self, near: socket.socket, port: int) -> None:
        try:
            line = Line(near, port)
        except OSError:  # there is no broker
            near.close()
            return
        with self._lock:
            self._lines.add(line)
        try:
            while request := line.receive():
                rule = self._take_rule(request)
                if rule is None:
                    line.send(request)
                else:
                    rule.apply(line, request)
        except OSError:
            pass
        finally:
            line.close()
            with self._lock:
                self._lines.discard(line)

    def _take_rule(self, request: bytes) -> RequestRule | None:
        with self._lock:
            rule = next((each for each in self._rules if each.fits(request)), None)
            if rule is not None:
                self._rules.remove(rule)
        return rule
