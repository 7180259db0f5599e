"""Who may ask what: each rule of the port, over a socket."""

from __future__ import annotations

import asyncio
import base64
import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import RestSettings
from legacy_mm.connect.entities import TargetState
from legacy_mm.connect.rest import access
from legacy_mm.connect.rest.access import SECURITY_HEADERS, Access, FailedTries, TokenFile, pause_after
from tests.fixtures.rest_api import TOKEN, RestApi, serving

PAUSE = "/connectors/x/pause"
VALIDATE = "/connector-plugins/MirrorSourceConnector/config/validate"


def basic(name: str, token: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{token}".encode()).decode()}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tries there were, at each answer that was held back; none waits."""
    tries: list[int] = []

    def note(count: int) -> float:
        tries.append(count)
        return 0.0

    monkeypatch.setattr(access, "pause_after", note)
    return tries


@pytest.fixture
def closed(api: RestApi) -> Iterator[RestApi]:
    """The same, to a caller who says nothing about himself."""
    headers, api.headers = api.headers, {}
    yield api
    api.headers = headers


@pytest.fixture(scope="module")
def read_only() -> Iterator[RestApi]:
    """A port without a token, on loopback, as it is by default."""
    with serving() as found:
        found.herder.add("x")
        yield found


@pytest.mark.parametrize(
    "login", [basic("ann", TOKEN), basic("", TOKEN), bearer(TOKEN), {"Authorization": f"bearer {TOKEN}"}]
)
def test_the_token_is_taken_as_bearer_and_as_any_password(closed: RestApi, login: dict[str, str]) -> None:
    assert closed.call("PUT", PAUSE, headers=login).status == 202


WRONG = [
    {},
    bearer("wrong"),
    bearer(""),
    bearer(f"{TOKEN}x"),
    basic(TOKEN, "wrong"),
    basic(TOKEN, ""),
    {"Authorization": "Basic %%%"},
    {"Authorization": TOKEN},
    {"Authorization": f"Digest {TOKEN}"},
]


@pytest.mark.parametrize("login", WRONG)
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/"), ("GET", "/metrics"), ("GET", "/health"), ("PUT", PAUSE), ("GET", "/nope")]
)
def test_without_the_token_nothing_is_told_or_done(
    closed: RestApi, pauses: list[int], login: dict[str, str], method: str, path: str
) -> None:
    found = closed.call(method, path, headers=login)
    assert (found.status, found.body["error_code"]) == (401, 401)
    assert found.headers["www-authenticate"].startswith("Basic ")
    assert TOKEN not in found.text
    assert closed.herder.states["x"] is TargetState.STARTED


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/readyz/"])
def test_probes_need_no_token(closed: RestApi, path: str) -> None:
    assert closed.call("GET", path, headers=bearer("wrong")).status == 200


def test_answers_to_wrong_tokens_wait_longer_each_time(
    closed: RestApi, pauses: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    closed.call("GET", "/", headers=bearer(TOKEN))
    for _ in range(4):
        closed.call("GET", "/", headers=basic("eve", "guess-of-eve"))
    closed.call("GET", "/")  # a browser's first request has no login: that is no try
    assert pauses == [1, 2, 3, 4]
    closed.call("GET", "/", headers=bearer(TOKEN))
    closed.call("GET", "/", headers=bearer("wrong"))
    assert pauses == [1, 2, 3, 4, 1]
    said = [line for line in caplog.messages if "no right token" in line]
    assert [line.split()[0] for line in said] == ["eve", "eve", "eve", "somebody"]
    assert "guess-of-eve" not in caplog.text


def test_pauses_double_and_end() -> None:
    assert [pause_after(tries) for tries in (1, 2, 3, 4, 5, 6, 1_000_000)] == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0]


def test_no_more_answers_are_held_back_than_so_many(token_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else those who guess would keep out those who know."""
    monkeypatch.setattr(access, "_MOST_PAUSES", 2)
    held: list[float] = []
    go_on = asyncio.Event()

    async def sleep(seconds: float) -> None:
        held.append(seconds)
        await go_on.wait()

    async def ask(rules: Access) -> int:
        answers: list[int] = []

        async def send(message: dict[str, object]) -> None:
            answers.append(int(str(message.get("status", 0))))

        scope = {
            "type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "state": {},
            "client": ("10.0.0.1", 1), "headers": [(b"authorization", b"Bearer wrong")],
        }  # fmt: skip
        await rules(scope, None, send)  # type: ignore[arg-type]
        return answers[0]

    async def ask_all() -> list[int]:
        rules = Access(None, RestSettings(token_file=str(token_file)), sleep)  # type: ignore[arg-type]
        waiting = [asyncio.ensure_future(ask(rules)) for _ in range(2)]
        await asyncio.sleep(0)
        more = [await asyncio.wait_for(ask(rules), 10) for _ in range(3)]
        go_on.set()
        return [*more, *await asyncio.gather(*waiting)]

    assert asyncio.run(ask_all()) == [401] * 5
    assert held == [0.25, 0.5]


def test_addresses_that_failed_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_MOST_ADDRESSES", 2)
    tries = FailedTries()
    assert [tries.add(address) for address in ("a", "b", "a", "c", "b", "a")] == [1, 1, 2, 1, 1, 1]


def test_a_token_is_read_again_when_its_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("  first \n")
    token = TokenFile(str(file))
    assert (token.accepts(b"first"), token.accepts(b"second")) == (True, False)
    file.write_text("second one")
    assert (token.accepts(b"first"), token.accepts(b"second one")) == (False, True)
    file.unlink()
    assert token.accepts(b"second one")
    file.write_text("")
    assert (token.accepts(b"second one"), token.accepts(b"")) == (True, False)


def test_a_token_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with pytest.raises(ConfigurationError, match=f"^--admin.token.file {file}: No such file or directory$"):
        TokenFile(str(file))
    file.write_text(" \n")
    with pytest.raises(ConfigurationError, match=f"^--admin.token.file {file} is empty: write a long random word"):
        TokenFile(str(file))


def test_a_token_that_others_can_read_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text("word")
    TokenFile(str(file))
    assert caplog.messages == []
    file.chmod(0o644)
    TokenFile(str(file))
    assert caplog.messages == [f"--admin.token.file {file} can be read by other users of this host: chmod 600 it"]


ACTIONS = [
    ("PUT", PAUSE),
    ("POST", "/connectors"),
    ("PUT", "/connectors/x/config"),
    ("PATCH", "/connectors/x/config"),
    ("DELETE", "/connectors/x"),
    ("DELETE", "/connectors/x/offsets"),
    ("PUT", "/admin/loggers/root"),
    ("POST", "/connector-plugins/X/config/validate"),
]


@pytest.mark.parametrize(("method", "path"), ACTIONS)
def test_actions_are_off_by_default(read_only: RestApi, method: str, path: str) -> None:
    found = read_only.call(method, path, {})
    assert (found.status, found.body["error_code"]) == (403, 403)
    assert "--admin.actions=true" in found.body["message"]
    assert read_only.herder.states == {"x": TargetState.STARTED}


def test_reading_and_validation_are_not_switched_off(read_only: RestApi) -> None:
    assert read_only.call("GET", "/connectors/x/status").status == 200
    assert read_only.call("HEAD", "/connectors").status == 200
    assert read_only.call("PUT", f"{VALIDATE}/", {"topics": "a"}).status == 200


HOSTS = [
    ("localhost", 200), ("LOCALHOST.:8083", 200), ("127.0.0.1", 200), ("127.0.0.1:1", 200), ("[::1]:8083", 200),
    ("evil.example", 421), ("localhost.evil.example", 421), ("127.0.0.1.evil.example", 421), ("10.0.0.7:8083", 421),
    ("", 421), ("[", 421), ("a b", 421),
]  # fmt: skip


@pytest.mark.parametrize(("host", "status"), HOSTS)
@pytest.mark.parametrize("path", ["/connectors", "/readyz"])
def test_a_foreign_host_is_misdirected(read_only: RestApi, host: str, status: int, path: str) -> None:
    """So a page whose name is led to loopback reads nothing (DNS rebinding)."""
    found = read_only.call("GET", path, headers={"Host": host})
    assert (found.status, status == 200 or found.body["error_code"]) == (status, True if status == 200 else 421)


def test_a_foreign_host_is_misdirected_on_loopback_even_with_the_token(api: RestApi) -> None:
    assert api.call("GET", "/", headers={"Host": "evil.example"}).status == 421


def test_a_caller_of_http_1_0_needs_no_host(read_only: RestApi) -> None:
    with socket.create_connection(("127.0.0.1", read_only.port), timeout=10) as caller:
        caller.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert caller.recv(100).startswith(b"HTTP/1.1 200 OK")


def test_where_others_reach_it_addresses_and_the_host_s_name_are_served(token_file: Path) -> None:
    hosts = {"10.0.0.7:8083": 200, "[fd00::7]": 200, socket.gethostname(): 200, "evil.example": 421}
    with serving(address="0.0.0.0", insecure=True) as open_to_all:
        assert {host: open_to_all.call("GET", "/", headers={"Host": host}).status for host in hosts} == hosts
    with serving(address="0.0.0.0", insecure=True, token_file=str(token_file)) as with_token:
        names = {"Host": "mirror.example"}  # a name that only DNS knows; the token keeps foreign pages out
        assert with_token.call("GET", "/", headers={**names, **bearer(TOKEN)}).status == 200
        assert with_token.call("GET", "/", headers=names).status == 401


CROSS_SITE = [
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost:1"}, 403),
    ({"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"}, 403),
    ({"Sec-Fetch-Site": "same-origin", "Origin": "http://LOCALHOST:8083"}, 202),
    ({"Sec-Fetch-Site": "none"}, 202),
    ({}, 202),
]


@pytest.mark.parametrize(("headers", "status"), CROSS_SITE)
def test_no_other_site_changes_anything(api: RestApi, headers: dict[str, str], status: int) -> None:
    found = api.call("PUT", PAUSE, headers={"Host": "localhost:8083", **headers})
    assert found.status == status
    assert api.herder.states["x"] is (TargetState.PAUSED if status == 202 else TargetState.STARTED)


def test_a_link_of_another_site_is_followed_but_its_page_reads_nothing(api: RestApi) -> None:
    found = api.call("GET", "/connectors", headers={"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"})
    assert found.status == 200
    assert found.headers["cross-origin-resource-policy"] == "same-origin"
    assert not [name for name in found.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/"), ("GET", "/nope"), ("GET", "/healthz"), ("GET", "/metrics"), ("PUT", PAUSE)]
)
def test_every_answer_has_the_headers_that_bind_a_browser(api: RestApi, method: str, path: str) -> None:
    found = api.call(method, path)
    assert {name: found.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert (found.headers["cache-control"], found.headers["server"]) == ("no-store", None)


@pytest.mark.parametrize(
    "name", ["a%2Fstatus", "..%2f..%2fetc%2fpasswd", "a%0Ab", "a%00", "a%1b[31m", "a%E2%80%AEb", "a%7F"]
)
def test_a_name_with_a_slash_or_a_control_character_is_refused(api: RestApi, name: str) -> None:
    found = api.call("GET", f"/connectors/{name}")
    assert (found.status, found.body["error_code"]) == (400, 400)


def test_each_action_is_one_line(api: RestApi, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    api.call("PUT", f"{PAUSE}?a=b", headers=basic("ann\x1b[2J", TOKEN))
    api.call("POST", "/connectors/A-%3EB/restart")
    api.call("PUT", PAUSE, headers={"Origin": "null"})
    api.call("GET", "/connectors")
    api.call("PUT", VALIDATE, {})
    lines = [line for line in caplog.messages if "asked for" in line]
    assert lines == [
        f"ann\\u001b[2J at 127.0.0.1 asked for PUT {PAUSE}: 202",
        "somebody without a name at 127.0.0.1 asked for POST /connectors/A-%3EB/restart: 404",
        f"somebody without a name at 127.0.0.1 asked for PUT {PAUSE}: 403",
    ]
    assert TOKEN not in caplog.text
