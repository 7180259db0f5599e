"""The answers of real Connect workers to the script of `connect_requests.py`, and the same asked of any server.

`python -m compat.laboratory.connect_recording [NAME...]` writes the files `compat/recorded/connect-rest-NAME.json`.
What changes from run to run is a word in braces there: places, ids, times. Rule: it knows no endpoint.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from compat.laboratory.cluster import Cluster
from compat.laboratory.connect_request import Answer, Json, Request, View, meets, send
from compat.laboratory.connect_requests import SCRIPT, SWITCHED_OFF, SWITCHES
from compat.laboratory.connect_worker import ConnectWorker, fill_source
from compat.laboratory.releases import CONNECT, CURRENT, OLD
from compat.laboratory.replay import RECORDED
from legacy_mm.base.errors import HostError

UNTIL_SECONDS = 60.0
SWITCHED_OFF_SUBJECT = "switched off"
_LINE = 120
_MOST_LINES = 8
_PLACE_IN_LIST = re.compile(r"\[\d+\]")
_OBJECT_HASH = re.compile(r"@[0-9a-f]{5,8}\b")
_TITLE = re.compile("<title>(.*?)</title>")
_MIRRORS = "org.apache.kafka.connect.mirror"
_UNORDERED = ("offsets", "tasks", "topics")
_CHANGING = {"kafka_cluster_id": "{cluster id}", "commit": "{commit}", "documentation": "{documentation}"}

Places = Mapping[str, str]
"""Word -> what stands for it here: `source` and `target` are bootstrap servers, `worker` is the server's address."""


class Run(NamedTuple):
    """One recording: the worker that answered, and the name of a recording from which it differs a little."""

    release: str
    distributed: bool = False
    like: str = ""


RUNS = {
    CURRENT: Run(CURRENT),
    OLD: Run(CONNECT),
    f"{CURRENT}-distributed": Run(CURRENT, distributed=True, like=CURRENT),
    f"{OLD}-distributed": Run(CONNECT, distributed=True, like=OLD),
}
"""Name of a recording -> how it comes to be."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request with the answer to it, as far as that is kept."""

    subject: str
    request: Request
    answer: Answer


@dataclass(frozen=True, slots=True)
class Agreed:
    """Answers that differ on purpose: a pattern of their requests' names, where in the answer, and why."""

    requests: str
    part: str
    """`status`, `headers.Allow`, `body.configs[].value`; what is below it is meant, too. Empty: all of the answer."""
    reason: str
    text: str = ""
    """A pattern of what is said of the difference. Empty: anything."""
    subject: str = ""
    """The subject of the requests. Empty: any."""
    sometimes: bool = False
    """True where time decides whether an answer differs."""

    def covers(self, difference: Difference) -> bool:
        """Return True for a difference that is meant."""
        if self.subject not in ("", difference.subject) or not re.fullmatch(self.requests, difference.request.name):
            return False
        part = re.escape(self.part) + r"(?![\w-])"
        parts = (difference.part, _PLACE_IN_LIST.sub("[]", difference.part))
        inside = not self.part or any(re.match(part, each) for each in parts)
        return inside and re.match(self.text, difference.text, re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class Difference:
    """One value of an answer that is not as recorded."""

    request: Request
    part: str
    text: str
    subject: str = ""

    def __str__(self) -> str:
        return f"{self.request.name} ({self.request.line}): {self.part}: {self.text}"


def ask_all(
    url: str, script: Mapping[str, Sequence[Request]], places: Places, seconds: float = UNTIL_SECONDS
) -> Iterator[Exchange]:
    """Send the requests in their order, and yield the answers as they are kept.

    Raise HostError where one is never as its request wants it.
    """
    for subject, requests in script.items():
        for request in requests:
            answer = _kept_answer(url, request, places, seconds)
            if not meets(answer, request.until):
                raise HostError(f"{request.name} ({request.line}) was never {request.until}, at last {answer}")
            yield Exchange(subject, request, answer)


def replay(
    url: str,
    recording: Iterable[Exchange],
    places: Places,
    agreed: Sequence[Agreed] = (),
    seconds: float = UNTIL_SECONDS,
    login: Mapping[str, str] | None = None,
) -> list[str]:
    """Send what a recording has to a server; return a line for each difference that is not agreed.

    An agreed one that did not occur is a line, too. `seconds`: how long to wait where a request says `until`; an answer
    that is agreed to be another one is not waited for. `login` is sent with each request.
    """
    unused = set(agreed)
    lines: list[str] = []
    for recorded in recording:
        is_other = any(row.covers(Difference(recorded.request, "", "", recorded.subject)) for row in agreed)
        request = dataclasses.replace(recorded.request, until=None) if is_other else recorded.request
        found = _kept_answer(url, request, places, seconds, login or {})
        left = []
        for difference in differences(recorded, found):
            rows = [row for row in agreed if row.covers(difference)]
            unused.difference_update(rows)
            if not rows:
                left.append(str(difference))
        lines += left[:_MOST_LINES]
        if len(left) > _MOST_LINES:
            lines.append(f"{recorded.request.name}: and {len(left) - _MOST_LINES} more differences")
    lines += [
        f"nothing differs for the reason: {row.reason} ({row.requests})"
        for row in agreed
        if row in unused and not row.sometimes
    ]
    return lines


def differences(recorded: Exchange, found: Answer) -> Iterator[Difference]:
    """Yield what is not as recorded."""
    for field in ("status", "headers", "body"):
        for part, text in _compare(field, getattr(found, field), getattr(recorded.answer, field)):
            yield Difference(recorded.request, part, text, recorded.subject)


def _compare(part: str, found: Json, recorded: Json) -> Iterator[tuple[str, str]]:
    if isinstance(found, dict) and isinstance(recorded, dict):
        for key in {**recorded, **found}:
            inner = f"{part}.{key}"
            if key not in found:
                yield inner, f"is missing, recorded {json.dumps(recorded[key])}"
            elif key not in recorded:
                yield inner, f"{json.dumps(found[key])} is not recorded"
            else:
                yield from _compare(inner, found[key], recorded[key])
    elif isinstance(found, list) and isinstance(recorded, list) and len(found) == len(recorded):
        for number, pair in enumerate(zip(found, recorded, strict=True)):
            yield from _compare(f"{part}[{number}]", *pair)
    elif found != recorded:
        yield part, f"{json.dumps(found)}, recorded {json.dumps(recorded)}"


def _kept_answer(
    url: str, request: Request, places: Places, seconds: float, login: Mapping[str, str] = MappingProxyType({})
) -> Answer:
    """Send a request with the places that are here, and return the answer with the words for them."""
    words = {**places, "worker": url.partition("://")[2]}
    line, body = request.line, request.body
    for word, place in words.items():
        line = line.replace(f"{{{word}}}", place)
        body = body and body.replace(f"{{{word}}}", place)
    sent = dataclasses.replace(request, line=line, body=body, headers={**request.headers, **login})
    answer = send(url, sent, seconds)
    headers = {name: str(_stable(text, words)) for name, text in answer.headers.items()}
    if allowed := headers.get("Allow"):
        headers["Allow"] = ", ".join(sorted(re.split(r"[,\s]+", allowed)))
    return Answer(answer.status, headers, _seen(_stable(answer.body, words), request.view))


def _stable(value: Json, words: Places) -> Json:
    if isinstance(value, dict):
        return {_stable(key, words): _stable_field(key, inner, words) for key, inner in value.items()}
    if isinstance(value, list):
        return [_stable(inner, words) for inner in value]
    if isinstance(value, str):
        for word, place in words.items():
            value = value.replace(place, f"{{{word}}}")
        return _OBJECT_HASH.sub("@{hash}", value)
    return value


def _stable_field(key: str, value: Json, words: Places) -> Json:
    if key in _CHANGING and value is not None:
        return _CHANGING[key]
    if key == "last_modified" and isinstance(value, int):
        return "{milliseconds}"
    if key == "trace" and isinstance(value, str):
        first, _, frames = value.partition("\n")
        return str(_stable(first, words)) + ("\n{frames}" if frames else "")
    if key in _UNORDERED and isinstance(value, list):
        return sorted(_stable(value, words), key=json.dumps)
    return _stable(value, words)


def _seen(body: Json, view: View) -> Json:
    if isinstance(body, str) and (title := _TITLE.search(body)):
        return f"{{html}} {title[1]}"
    if view == "kind" and body is not None:
        return f"{{{type(body).__name__}}}"
    if isinstance(body, dict) and "error_code" in body:
        return body
    if view == "set":
        return sorted(body)
    if view == "names":
        return [each.get("name") or each["class"] for each in body] if isinstance(body, list) else sorted(body)
    if view == "mirror loggers":
        if isinstance(body, list):
            return [name for name in body if name.startswith(_MIRRORS)]
        return {name: body[name] for name in body if name.startswith((_MIRRORS, "root"))}
    if view == "errors" and isinstance(body, dict) and "configs" in body:
        wrong = [each for each in body["configs"] if each["value"] is None or each["value"]["errors"]]
        return {**body, "configs": [each["value"] for each in wrong]}
    return body


def recording_file(name: str) -> Path:
    """Return the file of a recording in `RUNS`."""
    return RECORDED / f"connect-rest-{name}.json"


def read_recording(name: str) -> list[Exchange]:
    """Return the exchanges of a recording in `RUNS`, with those of the recording that it is like."""
    found = json.loads(recording_file(name).read_text("utf-8"))
    own = {row["name"]: _exchange(row) for row in found["exchanges"]}
    if not found["like"]:
        return list(own.values())
    return [own.get(each.request.name, each) for each in read_recording(found["like"])]


def _exchange(row: Json) -> Exchange:
    names = [field.name for field in dataclasses.fields(Request)]
    request = Request(**{name: row[name] for name in names if name in row})
    return Exchange(row["subject"], request, Answer(row["status"], row["answer_headers"], row["answer"]))


def write_recording(name: str, exchanges: Sequence[Exchange]) -> None:
    """Write the file of a recording: all exchanges, or those that differ from the recording that it is like."""
    run = RUNS[name]
    usual = {each.request.name: each.answer for each in read_recording(run.like)} if run.like else {}
    rows = [_row(each) for each in exchanges if usual.get(each.request.name) != each.answer]
    head = {"release": run.release.partition("-")[0], "distributed": run.distributed, "like": run.like}
    recording_file(name).write_text(_written({**head, "exchanges": rows}, 0) + "\n", encoding="utf-8")


def _row(exchange: Exchange) -> Json:
    request = dataclasses.asdict(exchange.request)
    sent = {
        name: value for name, value in request.items() if value not in (None, {}) and (name, value) != ("view", "all")
    }
    answer = exchange.answer
    return {
        "subject": exchange.subject,
        **sent,
        "status": answer.status,
        "answer_headers": answer.headers,
        "answer": answer.body,
    }


def _written(value: Json, depth: int) -> str:
    """Return JSON with a value on one line where it fits."""
    flat = json.dumps(value, ensure_ascii=False)
    if depth + len(flat) <= _LINE or not isinstance(value, dict | list):
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        inner = [f"{pad}{json.dumps(key)}: {_written(each, depth + 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{pad[1:]}}}"
    return "[\n" + ",\n".join(pad + _written(each, depth + 1) for each in value) + f"\n{pad[1:]}]"


def record(name: str, folder: Path) -> list[Exchange]:
    """Run the worker of a recording, beside two clusters of one broker, and ask it everything."""
    run = RUNS[name]
    with Cluster(folder / "source") as source, Cluster(folder / "target") as target:
        fill_source(source.bootstrap)
        places = {"source": source.bootstrap, "target": target.bootstrap}
        with ConnectWorker(
            folder / "worker", target.bootstrap, release=run.release, distributed=run.distributed
        ) as worker:
            exchanges = list(ask_all(worker.url, SCRIPT, places))
        with ConnectWorker(
            folder / "switched-off", target.bootstrap, release=run.release, properties=SWITCHES
        ) as worker:
            exchanges += ask_all(worker.url, {SWITCHED_OFF_SUBJECT: SWITCHED_OFF}, places)
    return exchanges


def main() -> None:
    """Record what the words name, or all."""
    parser = argparse.ArgumentParser(description="Record what real Connect workers answer.")
    parser.add_argument("names", nargs="*", choices=[*RUNS, []], help="which recordings; nothing: all")
    for name in parser.parse_args().names or RUNS:
        with tempfile.TemporaryDirectory(prefix="legacy_mm-connect-") as folder:
            write_recording(name, record(name, Path(folder)))
        print(f"Wrote {recording_file(name)}", flush=True)


if __name__ == "__main__":
    main()
