"""Why there is no TLS, in words that say what to look at; with real sockets."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from legacy_mm.base import property_names
from legacy_mm.clients.net.connection import open_connection
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost
from legacy_mm.clients.net.connection_security import Security
from legacy_mm.clients.net.tls_words import broken_reason, handshake_reason
from tests.unit.certificates import certify, key_pem, pem

SECONDS = 10.0
Answer = Callable[[socket.socket], None]
KEY, CERTIFICATE = certify("localhost", None, authority=True)


@pytest.fixture
def refusal(tmp_path: Path) -> Iterator[Callable[[Answer], Exception]]:
    """What a client of TLS raises that is answered so."""
    with ThreadPoolExecutor(1) as threads:

        def ask(answer: Answer) -> Exception:
            with socket.create_server(("127.0.0.1", 0)) as server:
                server.settimeout(SECONDS)

                def serve() -> None:
                    accepted, _ = server.accept()
                    with accepted, suppress(OSError):
                        answer(accepted)

                threads.submit(serve)
                trusted = {"security.protocol": "ssl", "ssl.ca.pem": pem(CERTIFICATE), "client.id": "me"}
                settings = property_names.read_connection(trusted)
                with pytest.raises((ConnectionLost, AuthenticationFailed)) as raised:
                    open_connection(Security(settings), "localhost", server.getsockname()[1], settings).close()
                return raised.value

        yield ask


def hang_up(accepted: socket.socket) -> None:
    accepted.recv(65_536)
    accepted.shutdown(socket.SHUT_RDWR)


def speak_plainly(accepted: socket.socket) -> None:
    accepted.recv(65_536)
    accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    accepted.recv(65_536)


def test_a_listener_that_hangs_up(refusal: Callable[[Answer], Exception]) -> None:
    """As one without TLS does, which takes the first bytes for the size of a request."""
    error = refusal(hang_up)
    assert isinstance(error, ConnectionLost), "it is tried again: the broker may be about to stop"
    assert "cannot be reached: terminated during the TLS handshake: that listener may speak no TLS" in str(error)


def test_a_listener_without_tls_that_answers(refusal: Callable[[Answer], Exception]) -> None:
    error = refusal(speak_plainly)
    assert isinstance(error, AuthenticationFailed)
    assert "SSL handshake failed: Unsupported or unrecognized SSL message: that listener speaks no TLS" in str(error)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (ssl.TLSVersion.TLSv1_2, "Received fatal alert: handshake_failure: no cipher suite or certificate suits"),
        (ssl.TLSVersion.TLSv1_3, "Received fatal alert: certificate_required: the broker wants a client certificate"),
    ],
)
def test_a_broker_that_wants_a_certificate(
    version: ssl.TLSVersion, said: str, refusal: Callable[[Answer], Exception], tmp_path: Path
) -> None:
    """With TLS 1.3 only the first answer tells."""
    file = tmp_path / "broker.pem"
    file.write_text(key_pem(KEY) + pem(CERTIFICATE))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(file)
    serving.verify_mode, serving.maximum_version = ssl.CERT_REQUIRED, version

    def serve(accepted: socket.socket) -> None:
        with closing(serving.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)) as layer:
            with suppress(ssl.SSLError):
                layer.do_handshake()
            socket.socket.shutdown(layer, socket.SHUT_WR)
            while socket.socket.recv(layer, 65_536):
                continue  # what is not read makes the alert go astray

    assert said in str(refusal(serve))


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("TLSV1_ALERT_UNKNOWN_CA", "Received fatal alert: unknown_ca: the broker does not trust"),
        ("SSLV3_ALERT_ILLEGAL_PARAMETER", "Received fatal alert: illegal_parameter"),
        ("TLSV1_UNRECOGNIZED_NAME", "Received fatal alert: unrecognized_name: "),
        ("SOMETHING_NEW", "something new"),
    ],
)
def test_a_reason_of_openssl_s(reason: str, said: str) -> None:
    error = ssl.SSLError(1, "failed")
    error.reason = reason
    assert handshake_reason(error).startswith(said)


def test_a_connection_that_ends_later() -> None:
    assert broken_reason(ssl.SSLEOFError(8, "EOF occurred"), connected=True) == "the broker closed the connection"
    assert broken_reason(ConnectionResetError(104, "Connection reset by peer"), connected=True).startswith("Connection")
