"""Bytes to and from one broker: a TCP socket that never blocks for longer than a moment without saying so.

One thread may send while another receives, and any thread may call `shut`. Whoever calls must see to it that
`close` comes after the last use: a closed descriptor's number is given to the next socket.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Protocol

from legacy_mm.protocol.compression import Bytes

MOMENT = 1.0
"""Seconds after which a blocked call raises BlockingIOError, so that its caller may look at the time."""
_MOST_SEGMENTS = 512  # IOV_MAX is 1024
_TIMEVAL = struct.Struct("@ll")


class Stream(Protocol):
    """What a connection needs of its socket."""

    def receive_into(self, view: memoryview) -> int:
        """How many bytes came, at least one; 0 when the other side is done. BlockingIOError after a moment."""

    def send_some(self, segments: Sequence[Bytes]) -> int:
        """How many bytes of these went out, at least one. BlockingIOError after a moment."""

    def shut(self) -> None:
        """Wake whoever is blocked; nothing moves any more."""

    def close(self) -> None:
        """Give the descriptor back."""


class PlainStream:
    """A socket without encryption: bytes go from the kernel into the reader's buffer and are not copied again."""

    def __init__(self, connected: socket.socket) -> None:
        connected.settimeout(None)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            # unlike `settimeout`, this costs no poll() before each call
            connected.setsockopt(socket.SOL_SOCKET, option, _TIMEVAL.pack(int(MOMENT), 0))
        self._socket = connected

    def receive_into(self, view: memoryview) -> int:
        """As `Stream`."""
        return self._socket.recv_into(view)

    def send_some(self, segments: Sequence[Bytes]) -> int:
        """As `Stream`: one gather write."""
        return self._socket.sendmsg(segments[:_MOST_SEGMENTS])

    def shut(self) -> None:
        """As `Stream`."""
        shut(self._socket)

    def close(self) -> None:
        """As `Stream`."""
        self._socket.close()


def open_socket(host: str, port: int, properties: Mapping[str, str], seconds: float) -> socket.socket:
    """A TCP connection to any address of `host`; raises OSError."""
    connected = socket.create_connection((host, port), timeout=seconds)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for option, name in (
        (socket.SO_SNDBUF, "socket.send.buffer.bytes"),
        (socket.SO_RCVBUF, "socket.receive.buffer.bytes"),
    ):
        if size := int(properties.get(name, 0)):
            connected.setsockopt(socket.SOL_SOCKET, option, size)
    keep_alive = properties.get("socket.keepalive.enable", "false") == "true"
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, keep_alive)
    return connected


def shut(connected: socket.socket) -> None:
    """End both directions; a socket that is not connected any more is as good."""
    try:
        # not the method of SSLSocket, which would go on without encryption
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:
        return
