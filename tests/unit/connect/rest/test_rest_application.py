"""What holds for every path, over a socket: one form of errors, and probes that nothing keeps waiting."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route, Router

from legacy_mm.connect.rest import rest_application
from legacy_mm.metrics.health import Phase, State
from tests.fixtures.rest_api import ROUTES, RestApi, serving

THREADS = 40
"""Those that a server has for what may wait."""
JSON_UTF8 = {"Content-Type": "application/json; charset=UTF-8"}


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "message"),
    [
        ("GET", "/nope", None, {}, 404, "HTTP 404 Not Found"),
        ("GET", "//connectors", None, {}, 404, "HTTP 404 Not Found"),
        ("GET", "/connectors/../../etc/passwd", None, {}, 404, "HTTP 404 Not Found"),
        ("GET", "/connectors/..", None, {}, 404, "Connector .. not found"),
        ("POST", "/nope", None, {}, 404, "HTTP 404 Not Found"),
        ("PUT", "/connectors", None, {}, 405, "HTTP 405 Method Not Allowed"),
        ("POST", "/healthz", None, {}, 405, "HTTP 405 Method Not Allowed"),
        ("GET", "/connectors", None, {"Accept": "text/xml"}, 406, "HTTP 406 Not Acceptable"),
        ("GET", "/connectors", None, {"Accept": "application/json;q=0"}, 406, "HTTP 406 Not Acceptable"),
        ("GET", "/", None, {"Accept": "image/png"}, 406, "HTTP 406 Not Acceptable"),
        ("PUT", "/connectors/x/config", b"a=b", {"Content-Type": "text/plain"}, 415, "HTTP 415 Unsupported Media Type"),
        ("PUT", "/connectors/x/pause", b"{}", {"Content-Type": "text/plain"}, 415, "HTTP 415 Unsupported Media Type"),
        ("PUT", "/connectors/x/pause", b"", {"Content-Type": "text/plain"}, 415, "HTTP 415 Unsupported Media Type"),
        ("PUT", "/connectors/x/pause", b"{}", {"Content-Type": ""}, 415, "HTTP 415 Unsupported Media Type"),
    ],
)
def test_every_error_has_connect_s_form(
    api: RestApi, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int, message: str
) -> None:
    found = api.call(method, path, body, headers)
    assert (found.status, found.body) == (status, {"error_code": status, "message": message})
    assert found.headers["content-type"] == "application/json"


def test_every_path_is_listed(token_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that walk over all of them, as that of secrets does, would pass over a new one."""
    made: list[str] = []

    def router(routes: Sequence[Route], **options: Any) -> Router:
        made.extend(route.path for route in routes)
        return Router(routes, **options)

    monkeypatch.setattr(rest_application, "Router", router)
    with serving(token_file=str(token_file)):
        assert sorted(made) == sorted(ROUTES)


def test_a_wrong_method_names_the_right_ones(api: RestApi) -> None:
    assert api.call("PUT", "/connectors").headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert api.call("DELETE", "/connectors/x/config").headers["allow"] == "GET, HEAD, OPTIONS, PATCH, PUT"


def test_options_are_told(api: RestApi) -> None:
    found = api.call("OPTIONS", "/connectors")
    assert (found.status, found.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert found.headers["allow"] == found.text == "GET, HEAD, OPTIONS, POST"
    assert api.call("OPTIONS", "/nope").status == 404


def test_a_body_of_json_may_name_its_charset_and_be_ignored(api: RestApi) -> None:
    assert api.call("PUT", "/connectors/x/pause", b"{}", JSON_UTF8).status == 202
    assert api.call("GET", "/connectors", headers={"Content-Type": "text/plain"}).status == 200


def test_an_error_that_nobody_expects_keeps_its_words(api: RestApi, caplog: pytest.LogCaptureFixture) -> None:
    api.herder.failure = ValueError("hush-hush")
    found = api.call("GET", "/connectors/x")
    assert (found.status, found.body["error_code"]) == (500, 500)
    assert "hush-hush" not in found.text
    assert "A request to --admin.port failed: GET /connectors/{connector} (ValueError)" in caplog.messages


def test_more_parameters_than_anybody_sends(api: RestApi) -> None:
    assert api.call("GET", "/connectors?" + "&".join(["expand=info"] * 101)).status == 400


@contextmanager
def stuck(api: RestApi, monkeypatch: pytest.MonkeyPatch, count: int) -> Iterator[None]:
    """So many requests for the list wait, until the block ends; then all are answered."""
    go_on, waiting = threading.Event(), threading.Semaphore(0)

    def connectors() -> Sequence[str]:
        waiting.release()
        go_on.wait(30)
        return []

    monkeypatch.setattr(api.herder, "connectors", connectors)
    with ThreadPoolExecutor(count) as callers:
        calls = [callers.submit(api.call, "GET", "/connectors") for _ in range(count)]
        for _ in range(min(count, THREADS)):
            assert waiting.acquire(timeout=20)
        try:
            yield
        finally:
            go_on.set()
        assert {call.result(20).status for call in calls} <= {200, 503}


def test_probes_answer_beside_more_slow_requests_than_there_are_threads(
    api: RestApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stuck(api, monkeypatch, 60):
        assert (api.call("GET", "/healthz").text, api.call("GET", "/readyz/").text) == ("ok\n", "ok\n")
        api.state = State(Phase.FAILED, (), {})
        found = api.call("GET", "/healthz")
        assert (found.status, found.text) == (503, "has failed and is ending\n")


def test_a_request_too_many_is_told_to_come_again(api: RestApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_application, "MOST_REQUESTS", 3)
    with stuck(api, monkeypatch, 3):
        refused = api.call("GET", "/connectors/x")
        assert (refused.body["error_code"], refused.headers["retry-after"]) == (503, "1")
        assert api.call("GET", "/healthz").status == 200
    assert api.call("GET", "/connectors/x").status == 200
