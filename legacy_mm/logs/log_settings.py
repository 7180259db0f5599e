"""Settings of logging: levels, loggers, appenders. Frozen; read by `root_logger.py`, which knows no configuration file.

The words are those of log4j: a *logger* has a dotted name and inherits from the names above it, an *appender* is a
place to write to, and a logger that is *additive* also writes to the appenders of the loggers above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

ALL, TRACE, DEBUG, INFO, WARN, ERROR, FATAL, OFF = 1, 5, 10, 20, 30, 40, 50, 100
LEVELS = {
    "ALL": ALL,
    "TRACE": TRACE,
    "DEBUG": DEBUG,
    "INFO": INFO,
    "WARN": WARN,
    "ERROR": ERROR,
    "FATAL": FATAL,
    "OFF": OFF,
}
"""log4j's names for Python's numbers."""

LEGACY_PATTERN = "[%d] %p %m (%c)%n"
"""The pattern of the legacy tool's `tools-log4j.properties`."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A log4j conversion pattern, or one JSON object per line."""

    pattern: str = LEGACY_PATTERN
    json: bool = False


@dataclass(frozen=True, slots=True)
class Console:
    """Standard error or standard output."""

    stream: Literal["stderr", "stdout"] = "stderr"


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file; with `max_bytes` it is rolled by size, with `dated` when the name made of the date changes."""

    path: str
    append: bool = True
    max_bytes: int = 0
    backups: int = 1
    rolled: str = ""
    """Path of a rolled file, `%d{date pattern}` and `%i` in it; empty: `path` with `.%i` behind it."""
    dated: bool = False


@dataclass(frozen=True, slots=True)
class Appender:
    """One place to write to."""

    name: str
    target: Console | LogFile | None
    """None: lines are thrown away, as asked for."""
    layout: Layout = Layout()
    threshold: int = ALL


@dataclass(frozen=True, slots=True)
class LoggerSettings:
    """Settings of one logger; no level: the level of the logger above it."""

    level: int | None = None
    appenders: tuple[str, ...] = ()
    additive: bool = True


DEFAULT_CONSOLE = Appender("console", Console())
DEFAULT_LEVEL = WARN
CHANGES = "legacy_mm.changes"
"""The logger of what features change at the target, and of what they leave out: said at INFO unless asked otherwise."""
WAITING = "legacy_mm.waiting"
"""The logger of what makes a person wait: said also by commands that are silent otherwise."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """All of it. The root logger has the empty name."""

    loggers: Mapping[str, LoggerSettings] = field(
        default_factory=lambda: {
            "": LoggerSettings(DEFAULT_LEVEL, (DEFAULT_CONSOLE.name,)),
            CHANGES: LoggerSettings(INFO),
        }
    )
    appenders: Mapping[str, Appender] = field(default_factory=lambda: {DEFAULT_CONSOLE.name: DEFAULT_CONSOLE})
    fallback: Appender = DEFAULT_CONSOLE
    """Used when no appender is left."""

    def with_root_level(self, level: int) -> LogSettings:
        """Return these settings with another level of the root logger, which then holds for changes, too."""
        root = replace(self.loggers.get("", LoggerSettings()), level=level)
        others = {name: logger for name, logger in self.loggers.items() if name != CHANGES}
        return replace(self, loggers={**others, "": root})

    def with_json_console(self) -> LogSettings:
        """Return these settings with JSON on the console, whatever its layout was."""
        appenders = {
            name: replace(appender, layout=Layout(json=True)) if isinstance(appender.target, Console) else appender
            for name, appender in self.appenders.items()
        }
        return replace(self, appenders=appenders, fallback=replace(self.fallback, layout=Layout(json=True)))

    def levels(self) -> dict[str, int]:
        """Return the loggers that have a level of their own, with the level."""
        return {name: logger.level for name, logger in self.loggers.items() if logger.level is not None}

    def level_of(self, name: str) -> int:
        """Return the level that counts for this logger."""
        for each in _upwards(name):
            if each in self.loggers and (level := self.loggers[each].level) is not None:
                return level
        return DEFAULT_LEVEL

    def appenders_of(self, name: str) -> tuple[Appender, ...]:
        """Return the appenders of this logger; as in log4j, one that is named at two levels gets lines twice."""
        found: list[Appender] = []
        for each in _upwards(name):
            logger = self.loggers.get(each, LoggerSettings())
            found += [self.appenders[appender] for appender in logger.appenders if appender in self.appenders]
            if not logger.additive:
                break
        return tuple(found)

    def lowest_level(self) -> int:
        """Return the lowest level at which any logger speaks."""
        return min(self.levels().values(), default=DEFAULT_LEVEL)


def _upwards(name: str) -> list[str]:
    """Yield the logger and those above it: `a.b.c`, `a.b`, `a`, the root."""
    parts = name.split(".") if name else []
    return [".".join(parts[:length]) for length in range(len(parts), 0, -1)] + [""]
