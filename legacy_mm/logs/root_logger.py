"""Logging: events in the legacy tool's words, each line to the appenders of its logger, secrets never printed.

One handler on Python's root logger does the work of log4j: the level and the appenders of a line are those of the
logger that its *wording* names. So `log4j.logger.kafka.tools=INFO` in an old file keeps its meaning.
"""

from __future__ import annotations

import gzip
import logging
import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from io import TextIOWrapper
from logging.handlers import BaseRotatingHandler, RotatingFileHandler
from pathlib import Path
from typing import Any, NamedTuple

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.redaction import Secrets
from legacy_mm.logs import events
from legacy_mm.logs.events import Event
from legacy_mm.logs.layouts import LogEvent, formatted_traceback, formatter, rolled_path
from legacy_mm.logs.log_settings import ALL, DEBUG, LEVELS, OFF, WAITING, Appender, LogFile, LoggerSettings, LogSettings
from legacy_mm.logs.recent_lines import RecentLine, RecentLines

_LOUD = ("py4j", "pyspark")
"""Packages whose debug lines are not printed, whatever the root level is."""
JAVA = "org.apache.spark"
"""The logger of lines that Spark's Java process and its workers print."""
_THREADS = {"MainThread": "main", "stream-": "mirrormaker-thread-"}
"""Beginnings of our thread names -> the legacy tool's."""
_own = logging.getLogger("legacy_mm")


@dataclass(frozen=True, slots=True)
class Wording:
    """The legacy tool's line for an event: level, logger, text (`str.format` fields), and the lines below it."""

    level: int
    logger: str
    text: str
    detail: Callable[[Mapping[str, object]], str] | None = None


def configure(settings: LogSettings, wording: Mapping[Event, Wording], secrets: Iterable[str] = ()) -> None:
    """Log by these settings from now on; an appender that cannot be opened is reported and left out."""
    root = logging.getLogger()
    for former in _routers():
        former.close()
    router = _Router(settings, wording)
    router.secrets.add(secrets)
    root.handlers = [router]
    root.setLevel(max(1, settings.lowest_level()))
    for name in _LOUD:
        logging.getLogger(name).setLevel(logging.WARNING)
    for problem in router.problems:
        _own.warning("%s", problem)


def silence() -> None:
    """Print no line, pyspark's included, for commands that print their own answer; only why they wait, on stderr."""
    quiet = LogSettings().with_root_level(OFF)
    waiting = {WAITING: LoggerSettings(logging.WARNING)}
    wording = {event: Wording(event.level, WAITING, event.text) for event in events.WAITS}
    configure(replace(quiet, loggers={**quiet.loggers, **waiting}), wording)


def keep_recent() -> None:
    """Keep the last lines of WARN or worse from now on."""
    for router in _routers():
        router.recent = router.recent or RecentLines()


def recent_lines() -> list[RecentLine]:
    """Return the lines that are kept, the newest first; none without `keep_recent`."""
    return [line for router in _routers() if router.recent is not None for line in router.recent.newest_first()]


def loggers() -> list[str]:
    """Return the loggers that have a level of their own, as log4j's controller lists them: `root=WARN`."""
    return [f"{name or 'root'}={level_name(level)}" for name, level in levels().items()]


def level_name(level: int) -> str:
    """Return log4j's name for a level, or for the next one below it."""
    return max((number, name) for name, number in LEVELS.items() if number <= max(level, ALL))[1]


def levels() -> dict[str, int]:
    """Return the loggers that have a level of their own, with the level."""
    return {name: level for router in _routers() for name, level in router.settings.levels().items()}


def levels_in_force() -> dict[str, int]:
    """Return all loggers that anybody has asked for or given a level, with the level that holds; the root is empty."""
    return {
        name: max(router.settings.level_of(name), logging.getLogger(name).getEffectiveLevel())
        for router in _routers()
        for name in router.known()
    }


def set_level(name: str, level: int) -> list[str]:
    """Give a logger, and all whose names begin with its name, this level; return their names.

    The packages that are kept quiet change only if they are named.
    """
    known = {each for router in _routers() for each in router.known() if each.startswith(name)}
    changed = {name, *(each for each in known if not each.startswith(_LOUD) or name.startswith(_LOUD))}
    for router in _routers():
        router.set_levels(changed, level)
        logging.getLogger().setLevel(max(1, router.settings.lowest_level()))
    for each in changed & _own_levels():
        logging.getLogger(each).setLevel(level)
    return sorted(changed)


def give_levels(levels: Mapping[str, int | None]) -> None:
    """Give each of these loggers its level, None: that of the logger above it; no other one changes."""
    for router in _routers():
        for name, level in levels.items():
            router.set_levels([name], level)
        logging.getLogger().setLevel(max(1, router.settings.lowest_level()))


def _routers() -> list[_Router]:
    return [handler for handler in logging.getLogger().handlers if isinstance(handler, _Router)]


def _python_loggers() -> dict[str, logging.Logger]:
    found = dict(logging.getLogger().manager.loggerDict)
    return {name: logger for name, logger in found.items() if isinstance(logger, logging.Logger)}


def _own_levels() -> set[str]:
    return {name for name, logger in _python_loggers().items() if logger.level}


def hide(secrets: Iterable[str]) -> None:
    """Hide these secrets from now on."""
    for router in _routers():
        router.secrets.add(secrets)


def hidden(text: str) -> str:
    """Return the text as the log would print it, without the secrets that are hidden."""
    for router in _routers():
        text = router.secrets.hidden(text)
    return text


def catch_strays() -> None:
    """Log in one line what Python itself would print: warnings, and uncaught exceptions."""
    warnings.showwarning = lambda message, category, *_: _own.warning("%s: %s", category.__name__, message)
    threading.excepthook = lambda stray: _say_stray(stray.exc_type, stray.exc_value, stray.exc_traceback)
    sys.unraisablehook = lambda stray: _say_stray(stray.exc_type, stray.exc_value, stray.exc_traceback)


def _say_stray(kind: type[BaseException], error: BaseException | None, where: Any) -> None:
    _own.warning("Uncaught %s: %s", kind.__name__, error, exc_info=(kind, error, where) if error else None)


class _Route(NamedTuple):
    """Level and appenders of one logger."""

    level: int
    handlers: tuple[logging.Handler, ...]


class _Router(logging.Handler):
    """Words each record, hides secrets, and hands the line to the appenders of its logger."""

    def __init__(self, settings: LogSettings, wording: Mapping[Event, Wording]) -> None:
        super().__init__()
        self.secrets = Secrets()
        self.problems: list[str] = []
        self.settings = settings
        self.recent: RecentLines | None = None
        self._wording = wording
        self._routes: dict[str, _Route] = {}
        self._handlers: dict[str, logging.Handler] = {}
        wanted = {appender.name: appender for name in settings.loggers for appender in settings.appenders_of(name)}
        for appender in wanted.values():
            self._open(appender)
        silenced = bool(wanted) and not self.problems
        # log4j is silent without an appender; a mirror must not be, unless the user asked for that
        self._fallback = None if self._handlers or silenced else _open(settings.fallback)

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record, if its logger prints this level."""
        if Path(record.pathname).parent.name == "py4j":
            return  # an event of ours reports that Java is gone, or the stop is a clean one
        event = getattr(record, "event", None)
        wording = self._wording.get(event) if event is not None else None
        level, logger = (wording.level, wording.logger) if wording else (record.levelno, record.name)
        route = self._routes.get(logger) or self._find_route(logger)
        if level < route.level:
            return
        line = vars(record)["line"] = self._line(record, event, wording, debug=route.level <= DEBUG)
        if self.recent is not None and level >= logging.WARNING:
            self.recent.add(line, [said.text for said in (event, wording) if said is not None])
        for handler in route.handlers:
            if level >= handler.level:
                handler.handle(record)

    def known(self) -> set[str]:
        """Return the names of all loggers that print, or have a level; the root's is empty."""
        worded = {wording.logger for wording in self._wording.values()}
        return {"", *self.settings.loggers, *self._routes, *worded, *_python_loggers()}

    def set_levels(self, names: Iterable[str], level: int | None) -> None:
        """Give these loggers this level, None: that of the logger above each."""
        now = {name: replace(self.settings.loggers.get(name, LoggerSettings()), level=level) for name in names}
        self.acquire()  # lines are printed by one thread at a time
        try:
            self.settings = replace(self.settings, loggers={**self.settings.loggers, **now})
            self._routes = {}
        finally:
            self.release()

    def close(self) -> None:
        """Close the log files."""
        for handler in self._handlers.values():
            if isinstance(handler, logging.FileHandler):
                with suppress(OSError):  # a full disk
                    handler.close()
        super().close()

    def _open(self, appender: Appender) -> None:
        if appender.target is None:
            return
        try:
            self._handlers[appender.name] = _open(appender)
        except OSError as error:
            reason = f"{error.strerror}: {error.filename}"
            self.problems.append(f"Log appender {appender.name} is left out, its file cannot be opened: {reason}")

    def _find_route(self, logger: str) -> _Route:
        found = [self._handlers.get(appender.name) for appender in self.settings.appenders_of(logger)]
        handlers = tuple(handler for handler in found if handler is not None)
        if not handlers and self._fallback is not None:
            handlers = (self._fallback,)
        return self._routes.setdefault(logger, _Route(self.settings.level_of(logger), handlers))

    def _line(
        self, record: logging.LogRecord, event: Event | None, wording: Wording | None, *, debug: bool
    ) -> LogEvent:
        hidden = self.secrets.hidden
        fields = {name: _plain(value, hidden) for name, value in getattr(record, "fields", {}).items()}
        said = wording or event
        # a fixed text holds no secret: a hidden word in it would only be equal to a password by chance
        message = said.text.format(**fields) if said else hidden(record.getMessage())
        details = [wording.detail(fields)] if wording and wording.detail else []
        details += [hidden(detail)] if (detail := getattr(record, "detail", None)) else []
        thrown = None
        if record.exc_info and record.exc_info[0] is not None and debug:
            details.append(hidden(formatted_traceback(record.exc_info)))
            thrown = (record.exc_info[0].__name__, hidden(str(record.exc_info[1])))
        return LogEvent(
            level=wording.level if wording else record.levelno,
            logger=wording.logger if wording else record.name,
            message=message,
            created=record.created,
            age=record.relativeCreated / 1000,
            thread=_thread(record.threadName or ""),
            file=record.filename,
            number=record.lineno,
            function=record.funcName or "",
            detail="\n".join(details),
            event=event.name if event is not None else "",
            fields=fields,
            thrown=thrown,
        )


def _thread(name: str) -> str:
    known = next((ours for ours in _THREADS if name.startswith(ours)), "")
    return _THREADS.get(known, "") + name.removeprefix(known)


def _plain(value: object, hidden: Callable[[str], str]) -> object:
    return value if value is None or isinstance(value, int | float) else hidden(str(value))


class _Formatter(logging.Formatter):
    """A layout with the interface of Python's formatters."""

    def __init__(self, render: Callable[[LogEvent], str]) -> None:
        super().__init__()
        self._render = render

    def format(self, record: logging.LogRecord) -> str:
        """Return the line that `_Router` put on the record."""
        return self._render(vars(record)["line"])


def _open(appender: Appender) -> logging.Handler:
    """Return a Python handler for an appender; raises OSError."""
    target = appender.target
    handler: logging.StreamHandler[Any]
    if isinstance(target, LogFile):
        handler = _open_file(target, _complaint(appender.name, "roll its file"))
    else:
        handler = logging.StreamHandler(sys.stdout if target and target.stream == "stdout" else sys.stderr)
    handler.terminator = ""  # the layout ends its lines itself
    handler.setFormatter(_Formatter(formatter(appender.layout)))
    handler.setLevel(appender.threshold)
    vars(handler)["handleError"] = _complaint(appender.name, "write")
    return handler


def _complaint(name: str, what: str) -> Callable[..., None]:
    """Return a function that reports once that a line cannot be written or a file not be rolled; logging continues."""
    said = threading.Event()

    def complain(_: logging.LogRecord | None = None) -> None:
        if not said.is_set():
            said.set()
            error = sys.exc_info()[1]
            with suppress(OSError, ValueError, AttributeError):
                sys.stderr.write(f"Log appender {name} cannot {what}: {error}\n")

    return complain


def _open_file(file: LogFile, complain: Callable[[], None]) -> logging.FileHandler:
    mode = "a" if file.append else "w"
    rolled = file.rolled or f"{file.path}.%i"
    if file.max_bytes:
        sized = _SizedFile(file.path, mode, file.max_bytes, max(1, file.backups), complain)
        sized.namer = lambda name: str(rolled_path(rolled, datetime.now(), int(name.rpartition(".")[2])))
        sized.rotator = _move
        return sized
    if file.dated:
        return _DatedFile(file.path, mode, rolled, complain)
    return _LastingFile(file.path, mode, encoding="utf-8")


class _LastingFile(logging.FileHandler):
    """A log file that is recreated, with its folder, when another program removes it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line to the file at its path; a file that cannot be recreated does not disturb the caller."""
        try:
            if self.stream and not os.fstat(self.stream.fileno()).st_nlink:
                self.stream.close()
                self.stream = None  # opened by the line that follows
            super().emit(record)
        except OSError:
            self.handleError(record)

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()


class _SizedFile(_LastingFile, RotatingFileHandler):
    """A log file that is rolled when it is full.

    After a failure it keeps growing, and rolling is tried again when as much has been added: each try moves the older
    files.
    """

    def __init__(self, path: str, mode: str, size: int, backups: int, complain: Callable[[], None]) -> None:
        super().__init__(path, mode, size, backups, encoding="utf-8")
        self._size = size
        self._complain = complain

    def doRollover(self) -> None:  # noqa: N802 - Python's name
        """Move the files, and begin a new one."""
        try:
            super().doRollover()
            self.maxBytes = self._size
        except OSError:
            self._complain()
            self.maxBytes += self._size
            self.stream = self._open()


class _DatedFile(_LastingFile, BaseRotatingHandler):
    """A log file that is rolled when the name from its date pattern and the current time changes, as log4j does it.

    After a failure it keeps growing, and rolling is tried again at the end of the new period.
    """

    def __init__(self, path: str, mode: str, rolled: str, complain: Callable[[], None]) -> None:
        begun = Path(path).stat().st_mtime if Path(path).exists() else epoch_ms() / 1000
        super().__init__(path, mode, encoding="utf-8")
        self.mode = "a"
        self._complain = complain
        self._rolled = rolled
        self._name = self._name_at(begun)

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - Python's name
        """Return True for the first line of a new period."""
        return self._name_at(record.created) != self._name

    def doRollover(self) -> None:  # noqa: N802 - Python's name
        """Move the file to the name of its period and begin a new one."""
        try:
            self.close()
            _move(self.baseFilename, str(self._name))
        except OSError:
            self._complain()
        self._name = self._name_at(epoch_ms() / 1000)
        self.stream = self._open()

    def _name_at(self, seconds: float) -> Path:
        return rolled_path(self._rolled, datetime.fromtimestamp(seconds), 1)


def _move(source: str, destination: str) -> None:
    """Rename a file, or compress it if the new name ends in .gz; do nothing if the source is missing."""
    if not Path(source).exists():
        return
    Path(destination).parent.mkdir(parents=True, exist_ok=True)
    if destination.endswith(".gz"):
        try:
            with Path(source).open("rb") as plain, gzip.open(destination, "wb") as packed:
                shutil.copyfileobj(plain, packed)
        except OSError:
            Path(destination).unlink(missing_ok=True)  # a partial file, on a full disk
            raise
        Path(source).unlink()
    else:
        Path(source).replace(destination)
