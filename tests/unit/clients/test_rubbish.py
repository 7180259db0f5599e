"""Whatever bytes a broker sends: an answer or our error, and always an end.

LEGACY_MM_FUZZ_EXAMPLES sets how many inputs each test tries.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.sasl import SaslHandshakeRequest

from legacy_mm.clients.net.connection import open_connection
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost, UnsupportedVersion
from legacy_mm.clients.net.connection_security import Security
from tests.fixtures import client_settings
from tests.unit.clients.broker import FETCH, Peer, response

fuzz = settings(max_examples=int(os.environ.get("LEGACY_MM_FUZZ_EXAMPLES", "300")))
ASKED = [
    *((ApiVersionsRequest, version) for version in (0, 2, 3, 4)),
    *((MetadataRequest, version) for version in (1, 8, 9, 12, 13)),
    *((ListOffsetsRequest, version) for version in (1, 5, 6, 10)),
    (SaslHandshakeRequest, 1),
]


def beside(raw: bytes) -> Peer:
    """A connection whose broker says this and no more."""
    made = Peer.beside(*socket.socketpair())
    made.answers(raw)
    return made


@fuzz
@given(st.binary(max_size=200))
def test_any_bytes(raw: bytes) -> None:
    peer = beside(raw)
    for _ in range(3):
        peer.connection.send(FETCH, 4, [])
    with pytest.raises(ConnectionLost):
        for _ in range(4):
            peer.connection.receive()
    peer.end.close()


@fuzz
@given(st.binary(max_size=100), st.integers(0, 107))
def test_a_response_that_is_cut_off(body: bytes, cut: int) -> None:
    sound = response(1, body)
    peer = beside(sound[: min(cut, len(sound) - 1)])
    peer.connection.send(FETCH, 4, [])
    with pytest.raises(ConnectionLost):
        peer.connection.receive()
    peer.end.close()


@fuzz
@given(st.sampled_from(ASKED), st.binary(max_size=300))
def test_a_message_of_any_bytes(asked: tuple[Any, int], body: bytes) -> None:
    message, version = asked
    peer = beside(response(1, body))
    with suppress(ConnectionLost):
        peer.connection.call(message(version=version, **fields(message)))
    peer.connection.close()
    peer.end.close()


@fuzz
@given(st.sampled_from(ASKED), st.lists(st.integers(-(1 << 31), (1 << 31) - 1), max_size=40))
def test_a_message_of_any_lengths(asked: tuple[Any, int], numbers: list[int]) -> None:
    test = test_a_message_of_any_bytes.hypothesis.inner_test  # type: ignore[attr-defined]
    test(asked, struct.pack(f">{len(numbers)}i", *numbers))


@settings(fuzz, max_examples=50)
@given(st.lists(st.binary(max_size=60), max_size=3), st.booleans())
def test_a_server_that_is_no_broker(said: list[bytes], framed: bool) -> None:
    answers = [response(number, body) if framed else body for number, body in enumerate(said, 1)]
    properties = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "socket.timeout.ms": "1000"}
    with socket.create_server(("127.0.0.1", 0)) as server:
        talking = threading.Thread(target=talk, args=(server, b"".join(answers)))
        talking.start()
        with pytest.raises((ConnectionLost, AuthenticationFailed, UnsupportedVersion)):
            open_connection(
                Security(client_settings.read_connection(properties)),
                "127.0.0.1",
                server.getsockname()[1],
                client_settings.read_connection(properties),
            )
        talking.join()


def talk(server: socket.socket, answers: bytes) -> None:
    """Say everything to whoever comes, then listen until it goes."""
    accepted, _ = server.accept()
    with accepted, suppress(OSError):  # it may be gone already
        accepted.sendall(answers)
        accepted.shutdown(socket.SHUT_WR)
        while accepted.recv(1000):
            pass


def fields(message: Any) -> dict[str, Any]:
    """What each request cannot do without."""
    rows: dict[Any, dict[str, Any]] = {
        ApiVersionsRequest: {"client_software_name": "any", "client_software_version": "1"},
        MetadataRequest: {"topics": []},
        ListOffsetsRequest: {"topics": [], "replica_id": -1},
        SaslHandshakeRequest: {"mechanism": "PLAIN"},
    }
    return rows[message]
