"""log4j's conversion patterns, Java's date patterns, JSON."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from legacy_mm.logs.layouts import LogEvent, formatter, java_date, rolled_path
from legacy_mm.logs.log_settings import WARN, Layout

TIME = datetime(2026, 3, 7, 15, 4, 5, 678_000, UTC)
LINE = LogEvent(
    level=WARN,
    logger="kafka.tools.MirrorMaker$",
    message="said",
    created=TIME.timestamp(),
    age=1.5,
    thread="main",
    file="mirror.py",
    number=7,
    function="run",
)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("%p %m (%c)%n", "WARN said (kafka.tools.MirrorMaker$)\n"),
        ("%-6p|%6p|%.2p|%.-2p|%-3.3p|", "WARN  |  WARN|RN|WA|ARN|"),
        ("%c{1} %c{2} %c{1.} %logger{9}", "MirrorMaker$ tools.MirrorMaker$ k.t.MirrorMaker$ kafka.tools.MirrorMaker$"),
        ("%t %thread %x%X%X{connector.context}%MDC{a}.", "main main ."),
        ("%F:%L %M %r %C{1}", "mirror.py:7 run 1500 MirrorMaker$"),
        ("100%% %level %msg", "100% WARN said"),
        ("%highlight{%p}{FATAL=red} %style{%m}{cyan}", "WARN said"),
        (r"%p %replace{%m}{[\r\n]{2,}}{ }%n", "WARN said\n"),
        ("%highlight{%replace{%m %c{1}}{a}{b}}{FATAL=red} %red{%m}", "said MirrorMaker$ said"),
        ("%equals{%m}{a}{b} %equalsIgnoreCase{%m}{a}{b}", "said said"),
        ("%variablesNotEmpty{%m} %maxLength{%m}{9}", "said said"),
        ("%q %m", "%q said"),
        ("%d{HH:mm:ss,SSS}{UTC} %date{yyyy-MM-dd'T'HH:mm:ssX}{UTC}", "15:04:05,678 2026-03-07T15:04:05Z"),
        ("%d{HH:mm}{GMT+8} %d{HH:mm X}{GMT-03:30} %d{HH:mm z}{GMT+0530}", "23:04 11:34 -03 20:34 GMT+05:30"),
        ("%d{HH:mm}{Asia/Tokyo} %d{HH:mm}{Nowhere} %d{HH:mm}{GMT+99}", "00:04 15:04 15:04"),
        ("%d{UNIX_MILLIS}", str(int(TIME.timestamp() * 1000))),
        ("%d{ABSOLUTE}{UTC} %d{ISO8601}{UTC}", "15:04:05,678 2026-03-07 15:04:05,678"),
    ],
)
def test_patterns(pattern: str, expected: str) -> None:
    assert formatter(Layout(pattern))(LINE) == expected


def test_the_process_id() -> None:
    assert formatter(Layout("%pid"))(LINE) == str(os.getpid())


def test_without_a_date_pattern_it_is_log4j_s_own() -> None:
    local = TIME.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    assert formatter(Layout())(LINE) == f"[{local},678] WARN said (kafka.tools.MirrorMaker$)\n"


def test_what_follows_a_line_comes_once() -> None:
    line = LogEvent(**{name: getattr(LINE, name) for name in LogEvent.__slots__} | {"detail": "the cause"})
    assert formatter(Layout("%m%n"))(line) == "said\nthe cause\n"
    assert formatter(Layout("%m%n%ex"))(line) == "said\nthe cause\n"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("yyyy-MM-dd-HH", "2026-03-07-15"),
        ("'.'yyyy'o''clock'", ".2026o'clock"),
        ("yy M d H h k K m s S SS", "26 3 7 15 3 15 3 4 5 6 67"),
        ("D w u a Z z X XX XXX x", "66 10 6 PM +0000 UTC Z Z Z +00"),
        ("dd/MMM/yyyy EEE EEEE MMMM", "07/Mar/2026 Sat Saturday March"),
        ("yyyy''MM", "2026'03"),
    ],
)
def test_java_s_date_patterns(pattern: str, expected: str) -> None:
    assert java_date(pattern, TIME) == expected


def test_names_of_rolled_files() -> None:
    assert rolled_path("/l/a-%d{yyyy-MM-dd}-%i.log.gz", TIME, 3) == Path("/l/a-2026-03-07-3.log.gz")
    assert rolled_path("/l/a.log%d{'.'yyyy-MM}", TIME, 1) == Path("/l/a.log.2026-03")


def test_json() -> None:
    told = {"event": "gap", "fields": {"low": 1}, "detail": "why", "thrown": ("ValueError", "x")}
    line = LogEvent(**{name: getattr(LINE, name) for name in LogEvent.__slots__} | told)
    printed = formatter(Layout(json=True))(line)
    assert printed.endswith("}\n")
    assert json.loads(printed) == {
        "time": "2026-03-07T15:04:05.678Z",
        "level": "WARN",
        "logger": "kafka.tools.MirrorMaker$",
        "message": "said",
        "event": "gap",
        "fields": {"low": 1},
        "detail": "why",
        "exception": {"class": "ValueError", "message": "x"},
    }
    assert "event" not in json.loads(formatter(Layout(json=True))(LINE))
