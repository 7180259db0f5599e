"""Requests of Kafka Connect's REST API as data, and what is sent and kept of one. Rule: it knows no endpoint."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from legacy_mm.audit.waiting import wait_until

JSON_TYPE = "application/json"
HEADERS = ("Content-Type", "Location", "Allow", "WWW-Authenticate")
"""The headers of an answer that are kept."""
ANSWER_SECONDS = 100.0
"""Connect itself gives up a request after 90 s."""

Json = Any
View = Literal["all", "errors", "names", "set", "mirror loggers", "kind"]
"""The part of a body that is kept: of a validation what has errors, of a list its names, of names a set, of loggers
those of the mirrors, of a document that a server generates only that there is one."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; the words in braces of path and body are places (`connect_recording.Places`)."""

    name: str
    line: str
    """Method and path, which is sent as it stands."""
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    until: Json = None
    """Ask again until the answer's body holds this: objects their keys, lists all their items; a number is a status."""
    view: View = "all"

    @property
    def method(self) -> str:
        """The first word of the line."""
        return self.line.partition(" ")[0]

    @property
    def path(self) -> str:
        """The rest of the line, with its query."""
        return self.line.partition(" ")[2]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    body: Json
    """The value of JSON, the text of anything else, None if there is none."""


def ask(
    name: str,
    line: str,
    body: Json = None,
    *,
    text: str | None = None,
    content: str | None = JSON_TYPE,
    accept: str | None = None,
    until: Json = None,
    view: View = "all",
) -> Request:
    """Make a request with a JSON body, or with any text.

    `content` is the type of a body, None to send none; `accept` the header of that name.
    """
    sent = text if body is None else json.dumps(body)
    headers = {"Content-Type": content} if content and (sent is not None or content != JSON_TYPE) else {}
    if accept is not None:
        headers["Accept"] = accept
    return Request(name, line, sent, headers, until, view)


def send(url: str, request: Request, seconds: float) -> Answer:
    """Return the answer, or the last one when `until` was not met in these seconds. Raise OSError without an answer."""
    last: list[Answer] = []

    def met() -> bool:
        last[:] = [_exchange(url, request)]
        return meets(last[0], request.until)

    try:
        wait_until(met, seconds if request.until is not None else 0.0, request.name)
    except TimeoutError:
        if not last:
            raise
    return last[0]


def _exchange(url: str, request: Request) -> Answer:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=ANSWER_SECONDS)
    try:
        body = None if request.body is None else request.body.encode()
        connection.request(request.method, place.path + request.path, body, dict(request.headers))
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        headers = {name: given for name in HEADERS if (given := answer.getheader(name))}
        return Answer(answer.status, headers, _read(text, headers.get("Content-Type", "")))
    finally:
        connection.close()


def _read(text: str, kind: str) -> Json:
    if not text:
        return None
    if kind and not kind.startswith(JSON_TYPE):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def meets(answer: Answer, wanted: Json) -> bool:
    """Return True if the answer is what a request's `until` wants."""
    if wanted is None or isinstance(wanted, int):
        return wanted in (None, answer.status)
    return _holds(answer.body, wanted)


def _holds(found: Json, wanted: Json) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and _holds(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(_holds, found, wanted))
    return bool(found == wanted)
