"""Bytes to and from one broker: a TCP socket that never blocks for longer than a moment without saying so.

One thread may send while another receives, and any thread may call `shut`. Whoever calls must see to it that
`close` comes after the last use: a closed descriptor's number is given to the next socket.

`IncomingResponse` is one response as its bytes come in.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import ssl
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import zip_longest
from threading import Lock
from typing import Any

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.net.connection_errors import AuthenticationFailed
from legacy_mm.clients.net.tls_context import handshake_reason
from legacy_mm.protocol.buffers import unwritten
from legacy_mm.protocol.compression import Bytes

MOMENT = 1.0
"""Seconds after which a blocked call raises BlockingIOError, so that its caller may look at the time."""
_NEXT_ADDRESS_AFTER = 0.3
"""Seconds for which an address is tried alone: longer than the way to most brokers and back."""
_MOST_SEGMENTS = 512  # IOV_MAX is 1024
_TLS_CHUNK = 64 << 10
_MICROSECONDS = 1_000_000
_AddressInfo = tuple[Any, ...]
"""A row of `getaddrinfo`."""
_TIMEVAL = struct.Struct("@ll")
_HEAD = struct.Struct(">ii")
"""Size, correlation id."""
_ID_SIZE = 4
"""The bytes of the correlation id, which the size counts."""
HeadCheck = Callable[[int, int], None]
"""Is given the size and the correlation id; raises where no such response is waited for."""


class TransportLayer(ABC):
    """The operations that a connection needs of its socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    @abstractmethod
    def receive_into(self, view: memoryview) -> int:
        """Receive at least one byte and return the count; 0 when the other side is done. Raise BlockingIOError after
        a moment.
        """

    @abstractmethod
    def receive_now(self, view: memoryview) -> int:
        """Receive what `receive_into` does, without waiting: raise BlockingIOError when nothing has come."""

    @abstractmethod
    def send_some(self, segments: Sequence[Bytes]) -> int:
        """Send at least one byte of these and return the count. Raise BlockingIOError after a moment."""

    @property
    def socket(self) -> socket.socket:
        """Return the socket, to wait on."""
        return self._socket

    def is_ended(self) -> bool:
        """Return True if the other side has closed it; earlier bytes may still wait to be received."""
        return _happens(self._socket, select.POLLRDHUP, 0)

    def is_ready(self, seconds: float) -> bool:
        """Return True once there is something to receive, or the end; False if nothing comes in this time."""
        return _happens(self._socket, select.POLLIN, seconds)

    def shut(self) -> None:
        """Wake blocked threads; no more bytes are sent or received."""
        shut(self._socket)

    def close(self) -> None:
        """Give the descriptor back."""
        self._socket.close()


class PlaintextTransportLayer(TransportLayer):
    """A socket without encryption: bytes go from the kernel into the reader's buffer and are not copied again."""

    def __init__(self, connected: socket.socket) -> None:
        connected.settimeout(None)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            # unlike `settimeout`, this costs no poll() before each call
            connected.setsockopt(socket.SOL_SOCKET, option, _timeval(MOMENT))
        super().__init__(connected)

    def receive_into(self, view: memoryview) -> int:
        """Fill the view in one call: each return to Python waits for the interpreter's lock."""
        return self._socket.recv_into(view, 0, socket.MSG_WAITALL)

    def receive_now(self, view: memoryview) -> int:
        """Take over what the kernel has."""
        return self._socket.recv_into(view, 0, socket.MSG_DONTWAIT)

    def send_some(self, segments: Sequence[Bytes]) -> int:
        """Send the segments in one gather write."""
        return self._socket.sendmsg(segments[:_MOST_SEGMENTS])


class SslTransportLayer(TransportLayer):
    """A socket with encryption. OpenSSL takes one thread at a time, so no thread waits while holding its lock."""

    def __init__(self, secured: ssl.SSLSocket) -> None:
        secured.setblocking(False)
        super().__init__(secured)
        self._lock = Lock()

    def receive_into(self, view: memoryview) -> int:
        """Receive bytes; raise AuthenticationFailed when the broker refuses our certificate this late."""
        while True:
            try:
                return self.receive_now(view)
            except BlockingIOError:
                self._wait(select.POLLIN)

    def receive_now(self, view: memoryview) -> int:
        """Receive decrypted bytes. OpenSSL may hold more of them, which make no socket ready: ask until it has none."""
        try:
            with self._lock:
                return self._socket.recv_into(view)
        except ssl.SSLWantReadError:
            raise BlockingIOError from None
        except ssl.SSLError as error:
            if "ALERT" in (error.reason or ""):
                raise AuthenticationFailed(f"SSL handshake failed: {handshake_reason(error)}") from error
            raise

    def send_some(self, segments: Sequence[Bytes]) -> int:
        """Send bytes. After BlockingIOError pass the same segments again: OpenSSL has begun with them."""
        chunk = _first(segments, _TLS_CHUNK)
        while True:
            try:
                with self._lock:
                    return self._socket.send(chunk)
            except ssl.SSLWantWriteError:
                self._wait(select.POLLOUT)

    def _wait(self, event: int) -> None:
        if not _happens(self._socket, event, MOMENT):
            raise BlockingIOError


def _happens(connected: socket.socket, event: int, seconds: float) -> bool:
    """Return True if the event, an error or the end comes within this time."""
    poll = select.poll()
    poll.register(connected, event)
    return bool(poll.poll(seconds * 1000))


def open_socket(host: str, port: int, settings: ConnectionSettings, seconds: float) -> socket.socket:
    """Return a TCP connection to the address of `host` that accepts one first; raise OSError if none does in time.

    Addresses are tried in the order of the resolver, its families in turn (RFC 8305): an address that is silent is
    joined by the next after a moment, one that refuses at once.
    """
    deadline = Deadline.after(seconds)
    addresses = _in_turns(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    opening: list[socket.socket] = []
    refused: OSError = TimeoutError("timed out")
    try:
        while (addresses or opening) and not deadline.expired():
            if addresses:
                try:
                    opening.append(_begin_to_connect(addresses.pop(0), settings))
                except OSError as error:
                    refused = error
                    continue
            patience = min(_NEXT_ADDRESS_AFTER, deadline.remaining()) if addresses else deadline.remaining()
            for opened in _settled(opening, patience):
                opening.remove(opened)
                if not (code := opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)):
                    opened.settimeout(deadline.remaining())
                    return opened
                opened.close()
                refused = OSError(code, os.strerror(code))
    finally:
        for opened in opening:
            opened.close()
    raise refused


def _in_turns(addresses: list[_AddressInfo]) -> list[_AddressInfo]:
    """Return the addresses so that those of two families alternate, each family in its order."""
    first = [each for each in addresses if each[0] == addresses[0][0]]
    others = [each for each in addresses if each[0] != addresses[0][0]]
    return [each for pair in zip_longest(first, others) for each in pair if each is not None]


def _begin_to_connect(info: _AddressInfo, settings: ConnectionSettings) -> socket.socket:
    family, kind, protocol, _, address = info
    opened = socket.socket(family, kind, protocol)
    try:
        _prepare(opened, settings)
        opened.setblocking(False)
        if (code := opened.connect_ex(address)) not in (0, errno.EINPROGRESS):
            raise OSError(code, os.strerror(code))
    except BaseException:
        opened.close()
        raise
    return opened


def _settled(opening: Sequence[socket.socket], seconds: float) -> list[socket.socket]:
    """Return those that are connected or refused, as soon as there is one; none after this time."""
    poll = select.poll()
    for each in opening:
        poll.register(each, select.POLLOUT)
    found = {number for number, _ in poll.poll(seconds * 1000)}
    return [each for each in opening if each.fileno() in found]


def _prepare(opened: socket.socket, settings: ConnectionSettings) -> None:
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, settings.keep_alive)
    # before connecting: the window's scale is agreed on then
    sizes = {socket.SO_SNDBUF: settings.send_buffer_bytes, socket.SO_RCVBUF: settings.receive_buffer_bytes}
    for option, size in sizes.items():
        if size:
            opened.setsockopt(socket.SOL_SOCKET, option, size)


def shut(connected: socket.socket) -> None:
    """End both directions; a socket that is not connected any more is as good."""
    try:
        # not the method of SSLSocket, which would go on without encryption
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:
        return


def _first(segments: Sequence[Bytes], size: int) -> bytes:
    """Return the first `size` bytes, in one piece."""
    pieces = []
    for segment in segments:
        pieces.append(memoryview(segment)[:size])
        size -= len(pieces[-1])
        if not size:
            break
    return b"".join(pieces)


def _timeval(seconds: float) -> bytes:
    return _TIMEVAL.pack(*divmod(round(seconds * _MICROSECONDS), _MICROSECONDS))


class IncomingResponse:
    """A response, head first; its body is read into memory that is not zeroed beforehand."""

    def __init__(self, check: HeadCheck) -> None:
        self.missing = self._head = memoryview(bytearray(_HEAD.size))
        """The bytes that are still to be filled; none: the response is whole."""
        self.body: memoryview | None = None
        """The bytes after the correlation id, once the head has come."""
        self._check = check

    @property
    def begun(self) -> bytes:
        """The bytes of the head that are there."""
        return bytes(self._head) if self.body is not None else bytes(self._head[: _HEAD.size - len(self.missing)])

    def received(self, count: int) -> None:
        """Record that so many bytes of `missing` are filled."""
        self.missing = self.missing[count:]
        if not self.missing and self.body is None:
            size, correlation_id = _HEAD.unpack(self._head)
            self._check(size, correlation_id)
            self.body = self.missing = unwritten(size - _ID_SIZE)
