"""Logging: one line layout, levels by their log4j names, events worded by a table, secrets never printed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from legacy_mm.events import Event

_LEVEL_NAMES = {logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}
LEVELS = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "OFF": logging.CRITICAL + 1,
}


@dataclass(frozen=True, slots=True)
class Wording:
    """How the old tool says an event: level, logger and text (`str.format` fields of the event)."""

    level: int
    logger: str
    text: str


class Log4jFormatter(logging.Formatter):
    """`[%d] %p %m (%c)%n`, the layout of the old tool's `tools-log4j.properties`."""

    def __init__(self, wording: Mapping[Event, Wording], secrets: Iterable[str], *, tracebacks: bool) -> None:
        super().__init__()
        self._wording = wording
        self._secrets = sorted((secret for secret in secrets if secret), key=len, reverse=True)
        self._tracebacks = tracebacks

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line, its cause below it at debug level."""
        level, logger, text = record.levelno, record.name, record.getMessage()
        wording = self._wording.get(getattr(record, "event", None))  # type: ignore[arg-type]
        if wording is not None:
            level, logger = wording.level, wording.logger
            text = wording.text.format(**getattr(record, "fields", {}))
        name = _LEVEL_NAMES.get(level, logging.getLevelName(level))
        line = f"[{self.formatTime(record)}] {name} {text} ({logger})"
        if (detail := getattr(record, "detail", None)) is not None:
            line += f"\n{detail}"
        if record.exc_info and self._tracebacks:
            line += "\n" + self.formatException(record.exc_info)
        for secret in self._secrets:
            line = line.replace(secret, "[hidden]")
        return line


def configure(level: str, wording: Mapping[Event, Wording], secrets: Iterable[str] = ()) -> None:
    """Log to standard error from this level on; events use `wording` where it has a row."""
    number = LEVELS[level]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Log4jFormatter(wording, secrets, tracebacks=number <= logging.DEBUG))
    handler.addFilter(_is_not_py4j)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING if level != "TRACE" else number)
    for ours in ("legacy_mm", "kafka", "org.apache.kafka", "org.apache.spark"):
        logging.getLogger(ours).setLevel(number)


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """py4j also logs through the root logger; that Java is gone is said by an event of ours, or is a clean stop."""
    return Path(record.pathname).parent.name != "py4j"
