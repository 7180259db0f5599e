"""The recordings of Kafka Connect's REST API, and the replay that judges a server by them."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from compat.laboratory.connect_recording import RUNS, Agreed, Exchange, read_recording, replay
from compat.laboratory.connect_request import Answer, ask
from compat.laboratory.connect_requests import SCRIPT, SWITCHED_OFF

_X, _T = "/connectors/[^/]+", "/tasks/[^/]+"
ENDPOINTS = (
    "GET /", "GET /health", "GET /connectors", r"GET /connectors\?expand=info&expand=status", "POST /connectors",
    f"GET {_X}", f"DELETE {_X}", f"GET {_X}/config", f"PUT {_X}/config", f"PATCH {_X}/config", f"GET {_X}/status",
    f"GET {_X}/tasks", f"GET {_X}/tasks-config", f"GET {_X}{_T}/status", f"POST {_X}{_T}/restart",
    rf"POST {_X}/restart", rf"POST {_X}/restart\?.+", f"PUT {_X}/pause", f"PUT {_X}/resume", f"PUT {_X}/stop",
    f"GET {_X}/topics", f"PUT {_X}/topics/reset",
    f"GET {_X}/offsets", f"PATCH {_X}/offsets", f"DELETE {_X}/offsets",
    "GET /connector-plugins", r"GET /connector-plugins\?connectorsOnly=false",
    "GET /connector-plugins/[^/]+/config", "PUT /connector-plugins/[^/]+/config/validate",
    "GET /admin/loggers", "GET /admin/loggers/[^/]+", "PUT /admin/loggers/[^/]+",
    r"PUT /admin/loggers/[^/]+\?scope=cluster",
)  # fmt: skip
"""Every endpoint that tools call, in all its forms: what Connect documents."""
GONE = {f"GET {_X}/tasks-config": {"4.3.0", "4.3.0-distributed"}}
"""Endpoints that a release has no more."""


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_recording_has_every_endpoint_as_it_succeeds_and_fails(name: str, endpoint: str) -> None:
    found = [each.answer.status for each in read_recording(name) if re.fullmatch(endpoint, each.request.line)]
    assert found, "no request"
    if name not in GONE.get(endpoint, ()):
        assert any(status < 300 for status in found), found


@pytest.mark.parametrize("name", RUNS)
def test_a_recording_is_of_the_whole_script(name: str) -> None:
    script = [request for requests in SCRIPT.values() for request in requests]
    assert [each.request for each in read_recording(name)] == [*script, *SWITCHED_OFF]


@pytest.mark.parametrize("name", RUNS)
def test_what_changes_from_run_to_run_is_a_word(name: str) -> None:
    kept = json.dumps([[each.answer.headers, each.answer.body] for each in read_recording(name)])
    assert re.findall(r"127\.0\.0\.1:\d+|localhost:\d+|@[0-9a-f]{6,}", kept) == []


PLACES = {"source": "s:1", "target": "t:1"}


@pytest.fixture
def server() -> Iterator[Callable[[Mapping[str, Sequence[Answer]]], str]]:
    """Start a server that gives each line its answers, the last of them for ever; it returns its URL."""
    started: list[ThreadingHTTPServer] = []

    def start(answers: Mapping[str, Sequence[Answer]]) -> str:
        left = {line: list(each) for line, each in answers.items()}

        class Handler(BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline()
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                waiting = left[f"{self.command} {self.path}"]
                answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                text = "" if answer.body is None else json.dumps(answer.body).replace("{here}", self.headers["Host"])
                self.send_response(answer.status)
                for header, value in answer.headers.items():
                    self.send_header(header, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        started.append(made)
        threading.Thread(target=made.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{made.server_port}"

    yield start
    for each in started:
        each.shutdown()
        each.server_close()


JSON = {"Content-Type": "application/json"}
STATUS = "GET /connectors/x/status"
RUNNING, PAUSED = ({"connector": {"state": state}, "tasks": []} for state in ("RUNNING", "PAUSED"))


def exchange(answer: Answer, until: object = None) -> Exchange:
    return Exchange("states", ask("status", STATUS, until=until), answer)


def test_a_server_that_answers_as_recorded_has_no_difference(server: Callable[..., str]) -> None:
    body = {"worker_id": "{here}", "kafka_cluster_id": "abc", "trace": "a\n\tat b", "at": "t:1", "last_modified": 5}
    recorded = {
        "worker_id": "{worker}",
        "kafka_cluster_id": "{cluster id}",
        "trace": "a\n{frames}",
        "at": "{target}",
        "last_modified": "{milliseconds}",
    }
    url = server({STATUS: [Answer(200, JSON, body)]})
    assert replay(url, [exchange(Answer(200, JSON, recorded))], PLACES) == []


def test_each_difference_is_a_line(server: Callable[..., str]) -> None:
    url = server({STATUS: [Answer(404, {**JSON, "Allow": "GET"}, {"a": 1, "tasks": [{"id": 1}]})]})
    recording = [exchange(Answer(200, JSON, {"b": 2, "tasks": [{"id": 0}]}))]
    start = f"status ({STATUS}): "
    assert replay(url, recording, PLACES) == [
        f"{start}status: 404, recorded 200",
        f'{start}headers.Allow: "GET" is not recorded',
        f"{start}body.b: is missing, recorded 2",
        f"{start}body.tasks[0].id: 1, recorded 0",
        f"{start}body.a: 1 is not recorded",
    ]


def test_a_place_in_a_list_is_any(server: Callable[..., str]) -> None:
    url = server({STATUS: [Answer(200, JSON, {"tasks": [{"id": 1}, {"id": 2}]})]})
    recording = [exchange(Answer(200, JSON, {"tasks": [{"id": 3}, {"id": 4}]}))]
    assert replay(url, recording, PLACES, [Agreed("status", "body.tasks[].id", "they are other ones")]) == []
    assert len(replay(url, recording, PLACES, [Agreed("status", "body.tasks[0].id", "it is another one")])) == 1


def test_an_answer_that_is_agreed_to_be_another_is_not_waited_for(server: Callable[..., str]) -> None:
    url = server({STATUS: [Answer(200, JSON, PAUSED), Answer(200, JSON, RUNNING)]})
    recording = [exchange(Answer(200, JSON, RUNNING), until=RUNNING)]
    assert replay(url, recording, PLACES, [Agreed("status", "", "it waits")]) == [], "the first answer was taken"
    assert replay(url, recording, PLACES) == []


def test_a_login_goes_out_with_each_request() -> None:
    seen: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Authorization"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    recording = [exchange(Answer(204, {}, None))] * 2
    assert replay(f"http://127.0.0.1:{made.server_port}", recording, PLACES, login={"Authorization": "Bearer x"}) == []
    made.shutdown()
    made.server_close()
    assert seen == ["Bearer x"] * 2


def test_a_difference_that_is_agreed_is_no_line(server: Callable[..., str]) -> None:
    url = server({STATUS: [Answer(200, JSON, PAUSED)]})
    recording = [exchange(Answer(200, JSON, RUNNING))]
    assert replay(url, recording, PLACES, [Agreed("sta.*", "body.connector", "it waits")]) == []
    assert replay(url, recording, PLACES, [Agreed("status", "body", "it waits", '.*"PAUSED"|"PAUSED"', "states")]) == []
    assert len(replay(url, recording, PLACES, [Agreed("status", "body", "", '"FAILED"', sometimes=True)])) == 1
    assert len(replay(url, recording, PLACES, [Agreed("status", "body", "", "", "others", sometimes=True)])) == 1
    unused = Agreed("status", "body.con", "it is short")
    assert len(replay(url, recording, PLACES, [unused])) == 2
    assert "it is short" in replay(url, recording, PLACES, [unused])[1]


def test_a_request_is_sent_until_the_answer_is_as_wanted(server: Callable[..., str]) -> None:
    wanted = exchange(Answer(200, JSON, RUNNING), until={"connector": {"state": "RUNNING"}, "tasks": []})
    answers = [Answer(200, JSON, PAUSED), Answer(404, JSON, {}), Answer(200, JSON, RUNNING)]
    assert replay(server({STATUS: answers}), [wanted], PLACES) == []
    gone = exchange(Answer(404, JSON, {}), until=404)
    assert replay(server({STATUS: answers[::-1][:2]}), [gone], PLACES) == []


def test_what_never_becomes_as_wanted_is_a_difference(server: Callable[..., str]) -> None:
    wanted = exchange(Answer(200, JSON, RUNNING), until={"connector": {"state": "RUNNING"}})
    url = server({STATUS: [Answer(200, JSON, PAUSED)]})
    assert "PAUSED" in replay(url, [wanted], PLACES, seconds=0.0)[0]
