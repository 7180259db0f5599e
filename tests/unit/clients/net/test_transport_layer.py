"""A TLS connection in use by two threads, and by one that closes it."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from select import select

import pytest

from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.clients.net.transport_layer import IncomingResponse, SslTransportLayer
from tests.fixtures import client_settings
from tests.unit.certificates import certify, key_pem, pem
from tests.unit.clients.broker import FETCH, response

HEAD = struct.Struct(">ihhih2s")
REQUESTS, SIZE = 60, 150_000
SECONDS = 10.0
Ends = tuple[Connection, ssl.SSLSocket]


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


@pytest.fixture
def ends(tmp_path: Path, threads: ThreadPoolExecutor) -> Iterator[Ends]:
    """A connection and its broker's end, after the handshake."""
    key, certificate = certify("broker", None, authority=True)
    file = tmp_path / "broker.pem"
    file.write_text(key_pem(key) + pem(certificate))
    serving, trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    serving.load_cert_chain(file)
    trusting.load_verify_locations(cadata=pem(certificate))
    ours, theirs = socket.socketpair()
    accepted = threads.submit(serving.wrap_socket, theirs, server_side=True)
    transport = SslTransportLayer(trusting.wrap_socket(ours, server_hostname="localhost"))
    connection = Connection(transport, "broker", 9093, 7, client_settings.read_connection({"client.id": "me"}))
    broker = accepted.result()
    yield connection, broker
    connection.close()
    broker.close()


def body(number: int) -> bytes:
    return number.to_bytes(2, "big") * (SIZE // 2)


def read(broker: ssl.SSLSocket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        received += broker.recv(size - len(received))
    return bytes(received)


def test_answers_that_openssl_holds_back_are_received_without_a_ready_socket(
    ends: Ends, threads: ThreadPoolExecutor
) -> None:
    """Several of them in one TLS record: the first call takes all bytes from the socket."""
    connection, broker = ends
    for _ in range(3):
        connection.send(FETCH, 4, [])
    lent = connection.lend()
    broker.sendall(b"".join(response(number, bytes([number])) for number in (1, 2, 3)))
    assert select([lent], [], [], SECONDS)[0]
    found: list[bytes] = []
    while len(found) < 3:
        body = connection.receive_now()
        found += [] if body is None else [bytes(body)]  # None: what came belongs to TLS
        assert not found or body is not None, "nothing is waited for once the record is read"
    assert (found, connection.receive_now()) == ([b"\1", b"\2", b"\3"], None)
    connection.give_back()


def test_one_thread_sends_while_another_receives(ends: Ends, threads: ThreadPoolExecutor) -> None:
    connection, broker = ends

    def send() -> None:
        for number in range(REQUESTS):
            connection.send(FETCH, 4, [body(number)[:7], body(number)[7:]])

    def echo() -> None:
        for number in range(REQUESTS):
            _, _, _, correlation_id, _, _ = HEAD.unpack(read(broker, HEAD.size))
            assert read(broker, SIZE) == body(number)
            broker.sendall(response(correlation_id, body(number)))

    running = [threads.submit(send), threads.submit(echo)]
    for number in range(REQUESTS):
        assert connection.receive() == body(number)
    for one in running:
        one.result()


def test_whoever_closes_wakes_whoever_waits(ends: Ends, threads: ThreadPoolExecutor) -> None:
    connection, broker = ends
    waiting = threads.submit(connection.receive)
    connection.close()
    with pytest.raises(ConnectionLost):
        waiting.result()


def test_a_connection_that_breaks_in_the_middle(ends: Ends) -> None:
    connection, broker = ends
    connection.send(FETCH, 4, [])
    broker.sendall(response(1, b"abc")[:-1])
    socket.socket.shutdown(broker, socket.SHUT_RDWR)
    with pytest.raises(ConnectionLost, match="it closed the connection"):
        connection.receive()


@pytest.mark.parametrize("body", [b"", b"x", b"some bytes"])
@pytest.mark.parametrize("step", [1, 3, 8, 100])
def test_it_takes_exactly_its_own_bytes_however_they_are_cut(body: bytes, step: int) -> None:
    checked: list[tuple[int, int]] = []
    incoming = IncomingResponse(lambda *head: checked.append(head))
    raw, used = response(5, body) + b"the next", 0
    while incoming.missing:
        piece = raw[used : used + min(step, len(incoming.missing))]
        incoming.missing[: len(piece)] = piece
        incoming.received(len(piece))
        used += len(piece)
    assert (used, checked) == (len(response(5, body)), [(4 + len(body), 5)])
    assert incoming.body is not None
    assert bytes(incoming.body) == body


def test_no_memory_is_taken_for_what_the_check_refuses() -> None:
    def refuse(size: int, number: int) -> None:
        raise ValueError(size)

    incoming = IncomingResponse(refuse)
    incoming.missing[:] = response(1, b"")[:4] + bytes(4)
    with pytest.raises(ValueError, match="4"):
        incoming.received(8)
    assert incoming.body is None
