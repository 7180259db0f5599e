"""The proxy passes bytes both ways, delays, stalls and cuts. An echo server stands for the broker."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import threading
from collections.abc import Iterator

import pytest

from compat.laboratory.ports import LOOPBACK, Ports
from compat.laboratory.proxy import Proxy
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import monotonic

PATIENCE = 30.0


@pytest.fixture
def echo_port() -> Iterator[int]:
    """A server that sends everything back, and closes when the client has finished sending."""
    server = socket.create_server((LOOPBACK, 0))

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while chunk := connection.recv(1 << 18):
                connection.sendall(chunk)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(PATIENCE)


def connect(proxy: Proxy) -> socket.socket:
    return socket.create_connection(proxy.address, timeout=PATIENCE)


def exchange(client: socket.socket, content: bytes) -> bytes:
    def send() -> None:
        client.sendall(content)
        client.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    out = bytearray()
    while chunk := client.recv(1 << 18):
        out += chunk
    sender.join(PATIENCE)
    return bytes(out)


@pytest.mark.parametrize("delay_ms", [0.0, 5.0])
def test_bytes_arrive_unchanged_and_ends_are_passed_on(echo_port: int, delay_ms: float) -> None:
    content = hashlib.shake_128(b"seed").digest(20_000_000)
    with Proxy(echo_port, delay_ms=delay_ms) as proxy, connect(proxy) as client:
        assert exchange(client, content) == content
        wait_until(lambda: proxy.connections() == 0, PATIENCE, "both ends to be closed")


def test_a_round_trip_takes_at_least_twice_the_delay(echo_port: int) -> None:
    with Proxy(echo_port, delay_ms=20) as proxy, connect(proxy) as client:
        begin = monotonic()
        client.sendall(b"ping")
        assert client.recv(4) == b"ping"
        assert monotonic() - begin >= 0.04


def test_a_stalled_connection_stays_open_and_loses_nothing(echo_port: int) -> None:
    with Proxy(echo_port) as proxy, connect(proxy) as client:
        proxy.stall()
        client.sendall(b"ping")
        client.settimeout(0.05)
        with pytest.raises(TimeoutError):
            client.recv(4)
        proxy.resume()
        client.settimeout(PATIENCE)
        assert client.recv(4) == b"ping"


def test_what_is_withheld_has_been_heard_by_the_target_and_is_lost_with_the_connection(echo_port: int) -> None:
    with Proxy(echo_port) as proxy:
        proxy.mute()
        with connect(proxy) as client:
            client.sendall(b"question")
            client.settimeout(0.2)
            with pytest.raises(TimeoutError):
                client.recv(100)
            proxy.cut()
            client.settimeout(PATIENCE)
            with pytest.raises(ConnectionResetError):
                client.recv(100)
        with connect(proxy) as client:
            client.sendall(b"kept")
            proxy.resume()
            client.settimeout(PATIENCE)
            assert client.recv(100) == b"kept"


def test_a_cut_resets_connections_and_new_ones_work(echo_port: int) -> None:
    with Proxy(echo_port) as proxy, connect(proxy) as client:
        client.sendall(b"ping")
        assert client.recv(4) == b"ping"
        assert proxy.cut() == 1
        with pytest.raises(ConnectionResetError):
            client.recv(4)
        with connect(proxy) as again:
            again.sendall(b"pong")
            assert again.recv(4) == b"pong"


def test_a_target_that_is_not_there_resets_the_client() -> None:
    ports = Ports()
    # the reset may come as early as in connect()
    with Proxy(ports.reserve()) as proxy, pytest.raises(ConnectionResetError), connect(proxy) as client:
        client.recv(1)
    ports.release()
