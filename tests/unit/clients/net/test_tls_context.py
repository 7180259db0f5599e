"""TLS as the properties say it: suites, who is believed, and errors that show no secret."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import TlsSettings
from legacy_mm.clients.net import tls_context
from legacy_mm.clients.net.connection import open_connection
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost
from legacy_mm.clients.net.connection_security import Security
from legacy_mm.clients.net.tls_context import broken_reason, handshake_reason
from legacy_mm.runtime.channel import certificate
from tests.fixtures import client_settings
from tests.unit.certificates import certify, key_pem, pem

SUITES = """
TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 ECDHE-ECDSA-AES256-GCM-SHA384
TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 ECDHE-RSA-AES128-GCM-SHA256
TLS_DHE_DSS_WITH_AES_128_GCM_SHA256 DHE-DSS-AES128-GCM-SHA256
TLS_DH_anon_WITH_AES_256_GCM_SHA384 ADH-AES256-GCM-SHA384
TLS_ECDH_anon_WITH_AES_128_CBC_SHA AECDH-AES128-SHA
TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 ECDHE-RSA-CHACHA20-POLY1305
TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256 DHE-RSA-CHACHA20-POLY1305
TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 ECDHE-ECDSA-AES256-CCM8
TLS_RSA_WITH_AES_128_CCM AES128-CCM
TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384 ECDHE-RSA-AES256-SHA384
TLS_ECDHE_ECDSA_WITH_CAMELLIA_128_CBC_SHA256 ECDHE-ECDSA-CAMELLIA128-SHA256
TLS_DHE_RSA_WITH_ARIA_256_GCM_SHA384 DHE-RSA-ARIA256-GCM-SHA384
TLS_DHE_RSA_WITH_AES_256_CBC_SHA DHE-RSA-AES256-SHA
TLS_RSA_WITH_AES_256_GCM_SHA384 AES256-GCM-SHA384
TLS_RSA_WITH_AES_128_CBC_SHA256 AES128-SHA256
TLS_RSA_WITH_AES_128_CBC_SHA AES128-SHA
TLS_RSA_WITH_NULL_SHA256 NULL-SHA256
TLS_RSA_WITH_3DES_EDE_CBC_SHA DES-CBC3-SHA
SSL_RSA_WITH_3DES_EDE_CBC_SHA DES-CBC3-SHA
TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA ECDHE-RSA-DES-CBC3-SHA
TLS_AES_256_GCM_SHA384 TLS_AES_256_GCM_SHA384
ECDHE-RSA-AES128-SHA ECDHE-RSA-AES128-SHA
DEFAULT:!aNULL DEFAULT:!aNULL
"""


@pytest.mark.parametrize("pair", SUITES.split("\n")[1:-1])
def test_java_s_names_of_suites(pair: str) -> None:
    """As `openssl ciphers -stdname ALL:COMPLEMENTOFALL` has them."""
    java, openssl = pair.split()
    assert tls_context.openssl_names(java) == openssl
    assert tls_context.openssl_names(f"{java}:{java}") == f"{openssl}:{openssl}"


def names(properties: dict[str, str]) -> set[str]:
    return {
        suite["name"]
        for suite in tls_context.context(client_settings.read_connection(properties).tls).get_ciphers()
        if suite["protocol"] != "TLSv1.3"
    }


def test_suites_are_those_asked_for_else_those_that_java_has() -> None:
    assert names({"ssl.cipher.suites": "TLS_RSA_WITH_AES_128_CBC_SHA:TLS_NO_WITH_SUCH"}) == {"AES128-SHA"}
    assert {"AES128-SHA", "AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA"} <= names({})
    level = tls_context.context(
        client_settings.read_connection({"ssl.cipher.suites": "TLS_RSA_WITH_AES_128_CBC_SHA"}).tls
    ).security_level
    assert level == tls_context.context(TlsSettings()).security_level == 1
    assert (
        tls_context.context(
            client_settings.read_connection({"ssl.cipher.suites": "DEFAULT:@SECLEVEL=2"}).tls
        ).security_level
        == 2
    )


@pytest.mark.parametrize("checked", [True, False])
def test_who_is_believed(checked: bool) -> None:
    made = tls_context.context(
        client_settings.read_connection({} if checked else {"enable.ssl.certificate.verification": "false"}).tls
    )
    assert made.check_hostname is checked
    assert made.verify_mode is (ssl.CERT_REQUIRED if checked else ssl.CERT_NONE)
    assert made.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_name_need_not_fit_where_the_file_says_so() -> None:
    made = tls_context.context(client_settings.read_connection({"ssl.endpoint.identification.algorithm": "none"}).tls)
    assert (made.check_hostname, made.verify_mode) == (False, ssl.CERT_REQUIRED)


@pytest.mark.parametrize(
    "properties",
    [
        {"ssl.ca.pem": "-----BEGIN CERTIFICATE-----\nhush\n-----END CERTIFICATE-----\n"},
        {"ssl.ca.location": "/nowhere.pem"},
        {"ssl.certificate.pem": "hush", "ssl.key.pem": "hush", "ssl.key.password": "hush"},
        {"ssl.cipher.suites": "hush"},
        {"ssl.crl.location": "/nowhere.crl"},
    ],
)
def test_what_cannot_be_read_is_named_and_not_shown(
    properties: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(properties))) as caught:
        tls_context.context(client_settings.read_connection(properties).tls)
    assert "hush" not in str(caught.value)


def test_a_key_needs_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full one ended the mirror at its next connection."""
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    own, key = (text.decode() for text in certificate._self_signed("127.0.0.1"))
    assert tls_context.context(client_settings.read_connection({"ssl.certificate.pem": own, "ssl.key.pem": key}).tls)


def test_a_host_that_ends_with_a_dot_is_named_without_it(tmp_path: Path) -> None:
    """Java refuses it as the server's name, and certificates do not have it."""
    key, certificate = certify("broker", None, authority=True)
    file = tmp_path / "broker.pem"
    file.write_text(key_pem(key) + pem(certificate))
    serving, named = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), list[str | None]()
    serving.load_cert_chain(file)
    serving.sni_callback = lambda _, name, __: named.append(name)
    made = tls_context.context(TlsSettings(ca_pem=pem(certificate)))
    ours, theirs = socket.socketpair()
    with ThreadPoolExecutor(1) as threads:
        accepted = threads.submit(serving.wrap_socket, theirs, server_side=True)
        with made.wrap_socket(ours, server_hostname="localhost."):
            accepted.result().close()
    assert named == ["localhost"]


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
                settings = client_settings.read_connection(trusted)
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
