"""What is said where the admin port gives no answer, or an error."""

from __future__ import annotations

import socket
import ssl
import threading
from http import HTTPStatus
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, LegacyMMError, UsageError
from legacy_mm.cli.admin_calls import AdminPort, RefusedCall
from tests.fixtures.rest_api import TOKEN, serving
from tests.unit.certificates import certify, key_pem, pem


def said(port: AdminPort, method: str = "GET", path: str = "/connectors") -> str:
    with pytest.raises(LegacyMMError) as caught:
        port.ask(method, path)
    return str(caught.value)


def test_a_port_that_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    assert said(AdminPort(url)).startswith(f"nothing listens at {url}: start the mirror with --admin.port")


def test_a_token_is_asked_for_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    for file, text in ((right, TOKEN), (wrong, "guess")):
        file.touch(0o600)
        file.write_text(f"{text}\n")
    with serving(token_file=str(right)) as api:
        url = f"http://127.0.0.1:{api.port}/"
        assert said(
            AdminPort(url)
        ) == f"{url[:-1]} wants a token: --token.file FILE names the file of the mirror's " + ("--admin.token.file")
        assert said(AdminPort(url, str(wrong))).startswith(f"{url[:-1]} refuses the token in {wrong}")
        port = AdminPort(url, str(right))
        assert port.ask("GET", "/connectors") == []
        assert "--admin.actions=true with --admin.token.file switches them on" in said(
            port, "PUT", "/connectors/x/stop"
        )
        with pytest.raises(RefusedCall, match="Connector x not found") as caught:
            port.ask("GET", "/connectors/x")
        assert caught.value.status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"hello\r\n", "does not answer: hello; look at --url"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p/>", "does not answer as an admin port does"),
        (b"HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\n<p/>", "answers 404, and not as an admin port does"),
        (b"HTTP/1.1 302 Go\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "answers 302, and not as an admin port does"),
    ],
)
def test_what_is_no_admin_port(answer: bytes, words: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            assert words in said(AdminPort(f"http://127.0.0.1:{server.getsockname()[1]}"))
        finally:
            thread.join()


@pytest.mark.parametrize("url", ["127.0.0.1:8083", "ftp://a", "http://", "http://a:b"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(UsageError, match="is no address of an admin port"):
        AdminPort(url)


@pytest.mark.parametrize(("text", "why"), [(None, "No such file"), ("", "no token in it"), ("a\nb", "no token in it")])
def test_a_file_without_a_token(tmp_path: Path, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / "token").write_text(text)
    with pytest.raises(ConfigurationError, match=why):
        AdminPort(token_file=str(tmp_path / "token"))


def test_tls_wants_an_authority_that_is_known(tmp_path: Path) -> None:
    authority = certify("authority", None, authority=True)
    key, certificate = certify("localhost", authority, authority=False)
    served, ca, none = tmp_path / "served.pem", tmp_path / "ca.pem", tmp_path / "none.pem"
    served.write_text(pem(certificate) + key_pem(key))
    ca.write_text(pem(authority[1]))
    none.write_text("")
    with serving(ssl.create_default_context(cafile=str(ca)), certificate=str(served)) as api:
        url = f"https://localhost:{api.port}"
        assert AdminPort(url, authorities=str(ca)).ask("GET", "/connectors") == []
        assert "--ca FILE names the authority of its certificate" in said(AdminPort(url))
        assert "whether it begins with https" in said(AdminPort(url.replace("https", "http")))
    for file, why in ((none, "it has no certificate"), (tmp_path / "gone", "No such file")):
        with pytest.raises(ConfigurationError, match=f"^--ca {file}: {why}"):
            AdminPort(url, authorities=str(file))


def test_the_flow_of_a_connector_is_in_its_name_or_in_its_aliases() -> None:
    with serving() as api:
        for name in ("A->B.MirrorHeartbeatConnector", "mine.MirrorSourceConnector"):
            api.herder.add(name)
            aliases = {"source.cluster.alias": "C", "target.cluster.alias": "D"}
            api.herder.configs[name] = {**api.herder.configs[name], **aliases}
        found = AdminPort(f"http://127.0.0.1:{api.port}").connectors()
    assert [each.flow for each in found] == ["A->B", "C->D"]
