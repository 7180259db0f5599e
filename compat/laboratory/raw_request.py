"""One request to one broker by hand: what must be cheap, or needs no client. Rule: one connection for each request."""

from __future__ import annotations

import socket
import struct

HEAD = struct.Struct(">hhih")
"""A request begins so: what is asked for, version, correlation id, and the length of the client's id."""
SIZE = struct.Struct(">i")
CORRELATION_ID = struct.Struct(">i")
_CLIENT = b"legacy_mm-testbed"


def ask(host: str, port: int, api: int, version: int, body: bytes, seconds: float) -> bytes:
    """Return a broker's answer to a request in an encoding without tagged fields; OSError if there is none."""
    message = HEAD.pack(api, version, 1, len(_CLIENT)) + _CLIENT + body
    return exchange(host, port, message, seconds)[CORRELATION_ID.size :]


def exchange(host: str, port: int, message: bytes, seconds: float) -> bytes:
    """Send a request as it is and return the answer; OSError if there is none."""
    with socket.create_connection((host, port), timeout=seconds) as connection:
        connection.sendall(SIZE.pack(len(message)) + message)
        return receive_message(connection)


def receive_message(connection: socket.socket) -> bytes:
    """Return the next request or answer without its size; OSError if the connection ends before."""
    (size,) = SIZE.unpack(_receive(connection, SIZE.size))
    return _receive(connection, size)


def _receive(connection: socket.socket, size: int) -> bytes:
    out = bytearray(size)
    view = memoryview(out)
    while view:
        received = connection.recv_into(view)
        if not received:
            raise ConnectionError("the connection was closed")
        view = view[received:]
    return bytes(out)
