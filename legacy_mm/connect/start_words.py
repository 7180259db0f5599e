"""The words that a process was started with, read again: options, log levels, and what is to be mirrored.

Some of them hold for the whole process: what follows from them was made at the start, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from legacy_mm.connect.reload_plan import KeyChange
from legacy_mm.logs import events, root_logger
from legacy_mm.logs.log_settings import OFF, LogSettings
from legacy_mm.words.options.option_catalogue import OPTIONS, OwnOptions

Outcome = TypeVar("Outcome")
_SPARK = "Java and Spark run, and all flows share them"
_PORT = "the port is open since the start"
_FILE = "the file is open since the start"
OF_PROCESS: Mapping[str, str] = {
    "spark.master": _SPARK,
    "spark.conf": _SPARK,
    "shutdown.timeout.ms": "all flows began with it",
    "receipts": _FILE,
    "receipts.max.bytes": _FILE,
    "metrics.port": _PORT,
    "metrics.address": _PORT,
    "admin.port": _PORT,
    "admin.address": _PORT,
    "admin.token.file": _PORT,
    "admin.actions": _PORT,
    "admin.tls.certificate": _PORT,
    "admin.tls.key": _PORT,
    "admin.tls.client.ca": _PORT,
    "admin.insecure": _PORT,
    "log.format": "the appenders of the log are open since the start",
    "legacy.release": "the command line was read by it",
}
"""The options that hold for the whole process -> why they do not change while it runs."""
_OF_LOGS = "log.level"
_SAID_ELSEWHERE = (_OF_LOGS, "features.config")


@dataclass(frozen=True, slots=True)
class StartWords(Generic[Outcome]):
    """Reads the words again; each function raises LegacyMMError for what cannot be used."""

    options: Callable[[], OwnOptions]
    outcome: Callable[[OwnOptions], Outcome]
    """Translates the words and files with these options."""
    logs: Callable[[OwnOptions], LogSettings]


def of_process(before: OwnOptions, after: OwnOptions) -> tuple[OwnOptions, list[KeyChange]]:
    """Return the later options with what the process keeps of the earlier ones, and what that is."""
    rows = [row for row in OPTIONS if row.name in OF_PROCESS]
    there = {row.attribute: getattr(before, row.attribute) for row in rows}
    asked = {row.attribute: getattr(after, row.attribute) for row in rows}
    changes = [
        KeyChange.of(row.name, _text(there[row.attribute]), _text(asked[row.attribute]), OF_PROCESS[row.name])
        for row in rows
        if there[row.attribute] != asked[row.attribute]
    ]
    return replace(after, **there), changes


def of_flows(options: OwnOptions) -> dict[str, str]:
    """Return the options that each flow reads, and its flags, as text."""
    rows = [row for row in OPTIONS if row.name not in OF_PROCESS and row.name not in _SAID_ELSEWHERE]
    texts = {row.name: _text(getattr(options, row.attribute)) for row in rows}
    flags = {name: " ".join(given) for name, given in options.features.items()}
    return {name: text for name, text in texts.items() if text is not None} | flags


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return " ".join(f"{name}={text}" for name, text in value.items())
    return " ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


@dataclass(frozen=True, slots=True)
class LevelChanges:
    """The loggers to which a file gives another level than before; a level that was set meanwhile stays."""

    before: Mapping[str, int]
    after: Mapping[str, int]

    @classmethod
    def between(cls, before: LogSettings, after: LogSettings) -> LevelChanges:
        """Return what is otherwise in the later settings."""
        there, asked = before.levels(), after.levels()
        names = {name for name in (*there, *asked) if there.get(name) != asked.get(name)}
        return cls(*({name: level for name, level in each.items() if name in names} for each in (there, asked)))

    def plan(self) -> list[KeyChange]:
        """Return the changes."""
        names = sorted({*self.before, *self.after})
        return [
            KeyChange(name or "root", _level(self.before.get(name)), _level(self.after.get(name))) for name in names
        ]

    def apply(self) -> None:
        """Give the loggers their levels; what is louder begins before the lines about it, what is quieter after."""
        louder = {name: level for name, level in self.after.items() if level < self.before.get(name, OFF)}
        root_logger.give_levels(louder)
        for each in self.plan():
            events.emit(events.RELOADED, what="log level", change=each.text())
        root_logger.give_levels({**dict.fromkeys(self.before), **self.after})


def _level(level: int | None) -> str | None:
    return None if level is None else root_logger.level_name(level)
