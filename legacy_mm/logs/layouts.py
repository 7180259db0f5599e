"""Layouts of a log line: log4j's conversion patterns, JSON, and Java's date patterns."""

from __future__ import annotations

import json
import os
import re
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from types import TracebackType
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from legacy_mm.logs.log_settings import LEVELS, Layout

_LEVEL_NAMES = {number: name for name, number in LEVELS.items()}
Thrown = tuple[type[BaseException], BaseException, TracebackType | None]


@dataclass(frozen=True, slots=True)
class LogEvent:
    """A log record in its final words, secrets hidden."""

    level: int
    logger: str
    message: str
    created: float
    """Seconds since 1970."""
    age: float
    """Seconds since the process began to log."""
    thread: str
    file: str
    number: int
    function: str
    detail: str = ""
    """Text that follows the line: the cause in the legacy tool's form, a traceback at debug level."""
    event: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    thrown: tuple[str, str] | None = None
    """Class and text of an exception, at debug level."""

    @property
    def level_name(self) -> str:
        """Return the level's name as log4j writes it."""
        return _LEVEL_NAMES.get(self.level, str(self.level))


def formatter(layout: Layout) -> Callable[[LogEvent], str]:
    """Return the function that turns a line into text, line end included."""
    return _json if layout.json else _Pattern(layout.pattern)


def formatted_traceback(thrown: Thrown) -> str:
    """Return an exception with its traceback, without a line end."""
    return "".join(traceback.format_exception(*thrown)).rstrip("\n")


def _json(line: LogEvent) -> str:
    time = datetime.fromtimestamp(line.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    document: dict[str, object] = {
        "time": time,
        "level": line.level_name,
        "logger": line.logger,
        "message": line.message,
    }
    if line.event:
        document |= {"event": line.event, "fields": dict(line.fields)}
    if line.detail:
        document["detail"] = line.detail
    if line.thrown:
        document["exception"] = dict(zip(("class", "message"), line.thrown, strict=True))
    return json.dumps(document, default=str, ensure_ascii=False) + "\n"


# --- conversion patterns

_WORD = re.compile(r"%(?:%|(?P<modifier>-?[0-9]*(?:\.-?[0-9]+)?)(?P<name>[A-Za-z]+)(?P<braces>(?:\{[^{}]*\})*))")
_STYLES = "highlight style clr black blue cyan green magenta red white yellow"
_CHANGES = "replace equals equalsIgnoreCase notEmpty varsNotEmpty variablesNotEmpty maxLen maxLength encode enc"
_ARGUMENT = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_AROUND = re.compile(rf"%(?:{'|'.join(f'{_STYLES} {_CHANGES}'.split())}){_ARGUMENT}(?:{_ARGUMENT})*")
"""Modifications that log4j 2 applies to a part of the line: the part is printed unchanged."""
_MODIFIER = re.compile(r"(?P<left>-?)(?P<least>[0-9]*)(?:\.(?P<end>-?)(?P<most>[0-9]+))?")
_GMT = re.compile(r"GMT([+-])([01]?\d|2[0-3])(?::?([0-5]\d))?")
_Render = Callable[[LogEvent], str]


class _Pattern:
    """A compiled conversion pattern."""

    def __init__(self, pattern: str) -> None:
        self._parts: list[_Render] = []
        self._shows_detail = False
        while (inner := _AROUND.sub(r"\1", pattern)) != pattern:
            pattern = inner
        begin = 0
        for word in _WORD.finditer(pattern):
            self._literal(pattern[begin : word.start()])
            self._literal("%") if word["name"] is None else self._word(word)
            begin = word.end()
        self._literal(pattern[begin:])

    def __call__(self, line: LogEvent) -> str:
        text = "".join(part(line) for part in self._parts)
        return f"{text}{line.detail}\n" if line.detail and not self._shows_detail else text

    def _literal(self, text: str) -> None:
        if text:
            self._parts.append(lambda _: text)

    def _word(self, word: re.Match[str]) -> None:
        # log4j takes the longest name that it knows: %pid is one word, %mX is %m and an X
        name = next((word["name"][:end] for end in range(len(word["name"]), 0, -1) if word["name"][:end] in _WORDS), "")
        if not name:
            self._literal(word.group())
            return
        whole = name == word["name"]
        options = re.findall(r"\{([^{}]*)\}", word["braces"]) if whole else []
        self._parts.append(_modified(word["modifier"], _WORDS[name](options)))
        self._shows_detail |= name in _SHOWING_DETAIL
        if not whole:
            self._literal(word["name"][len(name) :] + word["braces"])


def _modified(modifier: str, render: _Render) -> _Render:
    """Apply a modifier: `%-5.10x` fills to five characters at the right, and keeps the last ten at most."""
    if not modifier or not (found := _MODIFIER.fullmatch(modifier)):
        return render
    least, most = int(found["least"] or 0), int(found["most"] or 0)

    def changed(line: LogEvent) -> str:
        text = render(line)
        if found["most"] is not None and len(text) > most:
            text = text[:most] if found["end"] else text[len(text) - most :]
        return text.ljust(least) if found["left"] else text.rjust(least)

    return changed


def _date(options: list[str]) -> _Render:
    pattern = _NAMED_DATES.get(options[0], options[0]) if options and options[0] else _NAMED_DATES["DEFAULT"]
    zone = _zone(options[1]) if len(options) > 1 else None
    if pattern in ("UNIX", "UNIX_MILLIS"):
        factor = 1000 if pattern == "UNIX_MILLIS" else 1
        return lambda line: str(int(line.created * factor))
    return lambda line: java_date(pattern, datetime.fromtimestamp(line.created, zone).astimezone(zone))


def _zone(name: str) -> tzinfo:
    """Return a zone by Java's name, also `GMT+8` and `GMT-03:30`, which no database has. An unknown one is GMT."""
    if found := _GMT.fullmatch(name):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        return timezone(offset if found[1] == "+" else -offset, f"GMT{found[1]}{found[2]:>02}:{found[3] or '00'}")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _logger(options: list[str]) -> _Render:
    precision = options[0] if options else ""
    if precision.isdigit() and int(precision) > 0:
        return lambda line: ".".join(line.logger.split(".")[-int(precision) :])
    if (found := re.fullmatch(r"([0-9]+)\.?", precision)) and precision.endswith("."):
        return lambda line: _abbreviated(line.logger, int(found[1]))
    return lambda line: line.logger


def _abbreviated(logger: str, length: int) -> str:
    """Abbreviate a logger's name: `{1.}` cuts every part but the last to one character."""
    *above, last = logger.split(".")
    return ".".join([*(part[:length] for part in above), last])


def _plain(render: _Render) -> Callable[[list[str]], _Render]:
    return lambda _: render


_ROWS: tuple[tuple[str, Callable[[list[str]], _Render]], ...] = (
    ("d date", _date),
    ("p level le", _plain(lambda line: line.level_name)),
    ("m msg message", _plain(lambda line: line.message)),
    ("n", _plain(lambda _: "\n")),
    ("c logger lo C class", _logger),
    ("t tn thread threadName", _plain(lambda line: line.thread)),
    ("x NDC X MDC mdc K map marker markerSimpleName", _plain(lambda _: "")),
    ("F file", _plain(lambda line: line.file)),
    ("L line", _plain(lambda line: str(line.number))),
    ("M method", _plain(lambda line: line.function)),
    ("l location", _plain(lambda line: f"{line.logger}.{line.function}({line.file}:{line.number})")),
    ("r relative", _plain(lambda line: str(int(line.age * 1000)))),
    ("pid processId", _plain(lambda _: str(os.getpid()))),
    ("tid T threadId", _plain(lambda _: str(threading.get_ident()))),
    ("ex exception throwable", _plain(lambda line: line.detail and line.detail + "\n")),
    ("xEx xException xThrowable", _plain(lambda line: line.detail and line.detail + "\n")),
    ("rEx rException rThrowable", _plain(lambda line: line.detail and line.detail + "\n")),
)
_WORDS = {name: make for names, make in _ROWS for name in names.split()}
_SHOWING_DETAIL = {name for names, _ in _ROWS[-3:] for name in names.split()}

# --- Java's date patterns

_NAMED_DATES = {
    "DEFAULT": "yyyy-MM-dd HH:mm:ss,SSS",
    "ISO8601": "yyyy-MM-dd HH:mm:ss,SSS",
    "ABSOLUTE": "HH:mm:ss,SSS",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "ISO8601_BASIC": "yyyyMMdd'T'HHmmss,SSS",
    "ISO8601_PERIOD": "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd'T'HH:mm:ss,SSSX",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXX",
    "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXXX",
}
_LETTERS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")


def _offset(time: datetime, letters: int) -> str:
    text = time.strftime("%z")
    return {1: text[:3], 2: text}.get(letters, f"{text[:3]}:{text[3:]}")


_DATE_LETTERS: Mapping[str, Callable[[datetime, int], str]] = {
    "y": lambda time, count: f"{time.year % 100:02}" if count == 2 else f"{time.year:0{count}}",
    "M": lambda time, count: time.strftime({3: "%b"}.get(count, "%B")) if count > 2 else f"{time.month:0{count}}",
    "d": lambda time, count: f"{time.day:0{count}}",
    "D": lambda time, count: f"{time.timetuple().tm_yday:0{count}}",
    "w": lambda time, count: f"{time.isocalendar().week:0{count}}",
    "u": lambda time, count: f"{time.isoweekday():0{count}}",
    "E": lambda time, count: time.strftime("%A" if count > 3 else "%a"),
    "a": lambda time, _: time.strftime("%p"),
    "H": lambda time, count: f"{time.hour:0{count}}",
    "k": lambda time, count: f"{time.hour or 24:0{count}}",
    "K": lambda time, count: f"{time.hour % 12:0{count}}",
    "h": lambda time, count: f"{time.hour % 12 or 12:0{count}}",
    "m": lambda time, count: f"{time.minute:0{count}}",
    "s": lambda time, count: f"{time.second:0{count}}",
    "S": lambda time, count: f"{time.microsecond:06}"[:count].ljust(count, "0"),
    "n": lambda time, count: f"{time.microsecond * 1000:0{count}}",
    "z": lambda time, _: time.strftime("%Z"),
    "Z": lambda time, _: time.strftime("%z"),
    "X": lambda time, count: _offset(time, count) if time.utcoffset() else "Z",
    "x": _offset,
    "Y": lambda time, count: f"{time.isocalendar().year:0{count}}",
    "G": lambda _, __: "AD",
}


def java_date(pattern: str, time: datetime) -> str:
    """Format a time by a pattern of `java.text.SimpleDateFormat`; an unknown letter stays."""

    def replaced(match: re.Match[str]) -> str:
        quoted, letter = match[1], match[2]
        if quoted is not None:
            return quoted.replace("''", "'") or "'"
        if letter is None:
            return match.group()
        render = _DATE_LETTERS.get(letter)
        return render(time, len(match.group())) if render else match.group()

    return _LETTERS.sub(replaced, pattern)


def rolled_path(pattern: str, time: datetime, number: int) -> Path:
    """Return the path of a rolled file: `%d{...}` becomes the time, `%i` the number."""
    dated = re.sub(
        r"%d(?:ate)?(?:\{([^{}]*)\})?(?:\{[^{}]*\})?",
        lambda found: java_date(_NAMED_DATES.get(found[1] or "", found[1] or "yyyy-MM-dd"), time),
        pattern,
    )
    return Path(re.sub(r"%0?[0-9]*i", str(number), dated))
