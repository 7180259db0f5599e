"""One request to one broker by hand: what must be cheap, or needs no client. Rule: one connection for each request."""

from __future__ import annotations

import socket
import struct

_CLIENT = b"legacy_mm-testbed"
_HEAD = struct.Struct(">hhih")
_SIZE = struct.Struct(">i")
_CORRELATION_BYTES = 4


def ask(host: str, port: int, api: int, version: int, body: bytes, seconds: float) -> bytes:
    """Return a broker's answer to a request in an encoding without tagged fields; OSError if there is none."""
    message = _HEAD.pack(api, version, 1, len(_CLIENT)) + _CLIENT + body
    with socket.create_connection((host, port), timeout=seconds) as connection:
        connection.sendall(_SIZE.pack(len(message)) + message)
        (size,) = _SIZE.unpack(_receive(connection, _SIZE.size))
        return _receive(connection, size)[_CORRELATION_BYTES:]


def _receive(connection: socket.socket, size: int) -> bytes:
    out = bytearray(size)
    view = memoryview(out)
    while view:
        received = connection.recv_into(view)
        if not received:
            raise ConnectionError("the broker closed the connection")
        view = view[received:]
    return bytes(out)
