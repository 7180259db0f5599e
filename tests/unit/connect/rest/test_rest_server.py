"""What a caller can do to the server: nothing that keeps others out."""

from __future__ import annotations

import logging
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.ports import LOOPBACK
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.settings import RestSettings
from legacy_mm.connect.rest import rest_server
from legacy_mm.connect.rest.rest_request import MOST_BYTES
from legacy_mm.connect.rest.rest_server import MOST_CONNECTIONS, RestServer
from tests.fixtures.rest_api import TOKEN, RestApi, serving
from tests.unit.certificates import Signer, certify, key_pem, pem

BEGUN = b"GET /connectors HTTP/1.1\r\nHost: localhost\r\n"
SLOW_BODY = b"PUT /connectors/x/config HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SLOW_BODY += b"Authorization: Bearer " + TOKEN.encode() + b"\r\nContent-Length: 10\r\n\r\n{"


@contextmanager
def caller(api: RestApi, said: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection((LOOPBACK, api.port), timeout=20) as connected:
        connected.sendall(said)
        yield connected


def hung_up(connection: socket.socket) -> bool:
    """Wait until the server has ended the connection."""
    try:
        while connection.recv(10_000):
            pass
    except ConnectionResetError:
        pass
    return True


def test_an_address_that_cannot_be_used() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            HostError, match=f"^--admin.port: cannot listen on {LOOPBACK}:{port}: Address already in use$"
        ):
            RestServer(RestSettings(port=port), None)  # type: ignore[arg-type]


def test_a_closed_server_has_given_its_port_back() -> None:
    with serving() as api:
        assert api.call("GET", "/healthz").status == 200
        with caller(api), caller(api, BEGUN):
            api.server.close()
            assert not api.server._thread.is_alive()
        socket.create_server((LOOPBACK, api.port)).close()


@pytest.mark.parametrize(
    ("address", "with_token", "said"),
    [(LOOPBACK, False, []), ("0.0.0.0", False, ["TLS and a login"]), ("0.0.0.0", True, ["TLS"])],
)
def test_what_is_open_to_other_hosts_is_told(
    token_file: Path, caplog: pytest.LogCaptureFixture, address: str, with_token: bool, said: list[str]
) -> None:
    with serving(address=address, insecure=True, token_file=str(token_file) if with_token else None):
        lines = [f"--admin.port listens at {address} without {lacks}, and other hosts may reach it" for lacks in said]
        assert caplog.messages == lines


def test_ipv6() -> None:
    with serving(address="::1") as api, socket.create_connection(("::1", api.port), timeout=10) as connected:
        connected.sendall(b"GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n")
        assert connected.recv(1000).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("said", [b"", BEGUN, SLOW_BODY], ids=["nothing", "half its headers", "half its body"])
def test_a_caller_that_does_not_finish_is_left(api: RestApi, monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    assert rest_server.REQUEST_DEADLINE == 10
    monkeypatch.setattr(rest_server, "REQUEST_DEADLINE", 0.1)
    with caller(api, said) as connected:
        assert hung_up(connected)


def test_a_byte_now_and_then_gives_no_more_time(api: RestApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_server, "REQUEST_DEADLINE", 0.3)
    with caller(api, BEGUN) as connected:
        connected.settimeout(0.02)
        for _ in range(500):  # 10 s of bytes, each long before the deadline
            try:
                connected.sendall(b"x")
                if hung_up(connected):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            pytest.fail("the server still waits")


def test_the_next_request_of_a_connection_has_its_own_deadline(api: RestApi, monkeypatch: pytest.MonkeyPatch) -> None:
    with caller(api, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") as connected:
        assert connected.recv(10_000).startswith(b"HTTP/1.1 200")
        monkeypatch.setattr(rest_server, "REQUEST_DEADLINE", 0.1)
        connected.sendall(BEGUN)
        assert hung_up(connected)


def test_300_trickling_callers_keep_nobody_out(api: RestApi) -> None:
    with ExitStack() as held:
        for number in range(300):
            held.enter_context(caller(api, (BEGUN, SLOW_BODY, b"")[number % 3]))
        assert api.call("GET", "/healthz").status == 200
        assert api.call("GET", "/readyz").status == 200
        assert api.call("GET", "/connectors").body == ["x"]
        assert api.call("GET", "/status").status == 200
        assert len(api.server._server.server_state.connections) <= MOST_CONNECTIONS


def test_a_caller_makes_room_who_has_waited_longest(api: RestApi, monkeypatch: pytest.MonkeyPatch) -> None:
    connections = api.server._server.server_state.connections
    wait_until(lambda: not connections, 10, "earlier callers to be gone")
    monkeypatch.setattr(rest_server, "MOST_CONNECTIONS", 2)
    with caller(api, BEGUN) as first, caller(api, BEGUN) as second:
        wait_until(lambda: len(connections) == 2, 10, "both to be there")
        assert api.call("GET", "/healthz").status == 200
        assert hung_up(first)
        second.sendall(b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n")
        assert second.recv(100).startswith(b"HTTP/1.1 200 OK")


def test_a_caller_that_does_not_take_its_answer_is_left(api: RestApi, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rest_server.ANSWER_DEADLINE == 30
    monkeypatch.setattr(rest_server, "ANSWER_DEADLINE", 0.1)
    monkeypatch.setattr(api.herder, "connectors", lambda: ["x" * 1_000] * 20_000)
    connections = api.server._server.server_state.connections
    wait_until(lambda: not connections, 10, "earlier callers to be gone")
    with caller(api, BEGUN + b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n") as connected:
        assert connected.recv(10) == b"HTTP/1.1 2"
        wait_until(lambda: not connections, 20, "the caller to be left")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_10_mb_is_refused_and_not_kept(api: RestApi, chunked: bool) -> None:
    part = b"x" * (MOST_BYTES // 2)
    parts = (part for _ in range(20))
    if chunked:
        found = api.call("PUT", "/connectors/x/config", parts, encode_chunked=True)
    else:
        found = api.call("PUT", "/connectors/x/config", b"".join(parts))
    assert (found.status, found.body["error_code"]) == (413, 413)
    assert api.call("PUT", "/connectors/x/config", b" " * MOST_BYTES).status == 400


def test_what_is_no_http_gets_the_one_form_of_errors(api: RestApi) -> None:
    for said in (
        b"hello\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        BEGUN + b"a: " + b"b" * 70_000,
    ):
        with caller(api, said) as connected, connected.makefile("rb") as answer:
            text = answer.read()
        assert text.startswith(b"HTTP/1.1 400 Bad Request\r\n"), said[:40]
        assert b"Content-Type: application/json\r\n" in text
        assert text.endswith(b'{"error_code": 400, "message": "Invalid HTTP request received."}')


def test_a_stranger_s_mistakes_are_no_news(api: RestApi, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # other tests change levels
    with caller(api, b"hello\r\n\r\n") as connected:
        assert connected.recv(100)
    with caller(api, SLOW_BODY):
        pass
    assert api.call("GET", "/healthz").status == 200
    assert [each.message for each in caplog.records if each.name != "uvicorn.access"] == []


class Files:
    """Certificates in files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = certify("authority", None, authority=True)
        self.certificate, self.key, self.ca = folder / "server.pem", folder / "server.key", folder / "ca.pem"
        self.ca.write_text(pem(self.authority[1]))
        self.write(certify("localhost", self.authority, authority=False))

    def write(self, signer: Signer) -> None:
        self.certificate.write_text(pem(signer[1]))
        self.key.write_text(key_pem(signer[0]))

    def caller(self, name: str = "") -> ssl.SSLContext:
        """What a caller trusts, and with a name his own certificate."""
        context = ssl.create_default_context(cafile=str(self.ca))
        if name:
            key, certificate = certify(name, self.authority, authority=False)
            file = self.folder / "caller.pem"
            file.write_text(pem(certificate) + key_pem(key))
            context.load_cert_chain(file)
        return context

    @property
    def settings(self) -> dict[str, Any]:
        return {"certificate": str(self.certificate), "key": str(self.key)}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("tls"))


def test_tls_and_a_certificate_that_is_exchanged(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    def serial() -> object:
        with api.connection() as connection:
            connection.connect()
            assert isinstance(connection.sock, ssl.SSLSocket)
            return (connection.sock.getpeercert() or {})["serialNumber"]

    with serving(files.caller(), **files.settings) as api:
        location = api.call("PUT", "/connectors/y/config", {}).status, api.call("GET", "/").status
        assert location == (403, 200)
        assert "<title>" in api.call("GET", "/status").text
        first = serial()
        files.key.write_text("none")
        wait_until(lambda: "keeps its earlier certificate" in caplog.text, 20, "the change to be seen")
        assert serial() == first
        files.write(certify("localhost", files.authority, authority=False))
        wait_until(lambda: serial() != first, 20, "the new certificate")


def test_clients_need_a_certificate_and_probes_do_not(
    files: Files, token_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    settings = {**files.settings, "client_ca": str(files.ca), "token_file": str(token_file), "actions": True}
    with serving(files.caller(), **settings) as api:
        api.herder.add("x")
        api.headers = {"Authorization": f"Bearer {TOKEN}"}
        found = api.call("GET", "/connectors")
        assert (found.status, found.body["error_code"]) == (403, 403)
        assert api.call("GET", "/status").status == 403
        assert api.call("GET", "/healthz").status == 200
        api.tls = files.caller("console")
        assert api.call("GET", "/connectors").body == ["x"]
        assert api.call("GET", "/status").status == 200
        found = api.call("PUT", "/connectors/y/config", {"connector.class": "X"}, {"Host": "localhost:1"})
        assert found.headers["location"] == "https://localhost:1/connectors/y"
        assert "console at 127.0.0.1 asked for PUT /connectors/y/config: 201" in caplog.messages
        api.headers = {}
        assert api.call("GET", "/connectors").status == 401


def test_a_handshake_that_stops_is_left(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_server, "REQUEST_DEADLINE", 0.1)
    with serving(files.caller(), **files.settings) as api, caller(api) as connected:
        assert hung_up(connected)


def test_http_at_a_port_of_https_is_no_news(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    with serving(files.caller(), **files.settings) as api:
        with caller(api, BEGUN + b"\r\n") as connected:
            assert hung_up(connected)
        assert api.call("GET", "/healthz").status == 200
    assert [each.message for each in caplog.records if each.name != "uvicorn.access"] == []


def test_files_that_cannot_be_used_are_told(files: Files, tmp_path: Path) -> None:
    locked, missing = tmp_path / "locked.key", tmp_path / "missing"
    locked.write_text(key_pem(certify("x", None, authority=True)[0], b"word"))
    for settings, words in [
        ({"certificate": str(missing)}, f"--admin.tls.certificate {missing} and {missing}: .*No such file"),
        ({"certificate": str(files.certificate)}, "--admin.tls.certificate .*"),
        ({**files.settings, "key": str(locked)}, "the key has a password; write it without one"),
        ({**files.settings, "client_ca": str(missing)}, f"--admin.tls.client.ca {missing}: .*No such file"),
    ]:
        with pytest.raises(ConfigurationError, match=words):
            RestServer(RestSettings(port=0, **settings), None)  # type: ignore[arg-type]


def test_nothing_of_it_is_imported_without_the_port() -> None:
    """What both commands import at their start, and what makes the metrics' port (invariant E)."""
    code = (
        "import sys, legacy_mm.cli.mirror_maker, legacy_mm.cli.legacy_mm, legacy_mm.assembly.wiring, "
        "legacy_mm.flow.host, legacy_mm.metrics.prometheus, legacy_mm.cli.parser, legacy_mm.cli.driver_flows; "
        "vendors = ('starlette', 'uvicorn', 'h11', 'anyio', 'jinja2'); "
        "print(*(name for name in sys.modules if name.split('.')[0] in vendors "
        "or name.startswith(('legacy_mm.connect.rest', 'legacy_mm.connect.page'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
