"""Bytes to and from one broker: a TCP socket that never blocks for longer than a moment without saying so.

One thread may send while another receives, and any thread may call `shut`. Whoever calls must see to it that
`close` comes after the last use: a closed descriptor's number is given to the next socket.
"""

from __future__ import annotations

import random
import select
import socket
import ssl
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from threading import Lock

from legacy_mm.clients.native.connection_errors import AuthenticationFailed
from legacy_mm.clients.native.tls_words import handshake_reason
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.protocol.compression import Bytes

MOMENT = 1.0
"""Seconds after which a blocked call raises BlockingIOError, so that its caller may look at the time."""
_LEAST_TIMEOUT = 1.0
_MOST_SEGMENTS = 512  # IOV_MAX is 1024
_TLS_CHUNK = 64 << 10
_MICROSECONDS = 1_000_000
_TIMEVAL = struct.Struct("@ll")


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
    """Return a TCP connection to the first address of `host` that accepts one in time; raise OSError.

    Each address has its share of the time, with a minimum: of very many addresses some are not tried.
    """
    deadline = Deadline.after(seconds)
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    share = max(seconds / len(addresses), _LEAST_TIMEOUT)
    if share * len(addresses) > seconds:
        random.shuffle(addresses)
    refused: OSError | None = None
    for family, kind, protocol, _, address in addresses:
        if deadline.expired():
            break
        opened = socket.socket(family, kind, protocol)
        try:
            _prepare(opened, settings)
            opened.settimeout(min(share, deadline.remaining()))
            opened.connect(address)
            opened.settimeout(deadline.remaining())
            return opened
        except OSError as error:
            opened.close()
            refused = error
    raise refused or OSError("it has no address")


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
