"""Shared parts of both generations of files: the outcome, `${...}`, levels, sizes and layouts by class name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from legacy_mm.logs.layouts import java_date
from legacy_mm.logs.log_settings import LEVELS, Layout, LogSettings

FindVariable = Callable[[str], str | None]
MESSAGE_ONLY = "%m%n"
"""The pattern of both generations if a pattern layout has none."""
_REFERENCE = re.compile(r"\$\{([^${}]*)\}")
_SIZE = re.compile(r"([0-9]{1,19})\s*(K|M|G|)B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_PATTERN_LAYOUTS = {
    "patternlayout": MESSAGE_ONLY,
    "enhancedpatternlayout": MESSAGE_ONLY,
    "simplelayout": "%p - %m%n",
    "ttcclayout": "%r [%t] %p %c %x - %m%n",
}
_JSON_LAYOUTS = ("json", "ecslayout", "gelf", "logstash")


class NotUnderstood(ValueError):
    """The file is no log4j configuration; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """The settings of a file, and one sentence for each that cannot be honoured."""

    settings: LogSettings = field(default_factory=LogSettings)
    problems: tuple[str, ...] = ()


def lookup(system: Mapping[str, str], environment: Mapping[str, str], own: Mapping[str, str]) -> FindVariable:
    """Return a look-up for `${name}`: Java's system properties before the file's own; `sys:`, `env:` and `date:` by
    name.
    """

    def find(name: str) -> str | None:
        kind, colon, rest = name.partition(":")
        if colon and kind in ("sys", "env"):
            return (system if kind == "sys" else environment).get(rest)
        if colon and kind == "date":
            return java_date(rest, datetime.now())
        if name == "hostName":
            return os.uname().nodename
        return system.get(name, own.get(name))

    return find


def substituted(text: str, find: FindVariable) -> str:
    """Replace every `${name}` and `${name:-default}`, inner ones first; unknown names become empty."""
    for _ in range(20):
        text, changes = _REFERENCE.subn(lambda match: _value(match[1], find), text)
        if not changes:
            break
    return text


def _value(reference: str, find: FindVariable) -> str:
    name, _, default = reference.partition(":-")
    found = find(name)
    return default if found is None else found


def level_named(text: str) -> int | None:
    """Return the level of a word such as `INFO` or `DEBUG#some.Class`; None if it is inherited."""
    word = text.partition("#")[0].strip().upper()
    if word in ("", "INHERITED", "NULL"):
        return None
    return LEVELS.get(word, LEVELS["DEBUG"])  # log4j's level for an unknown word


def size_of(text: str, default: int) -> int:
    """Return the bytes of `10MB`, `512 KB` or `1024`."""
    found = _SIZE.fullmatch(text.strip())
    return int(found[1]) * _UNITS[found[2].upper()] if found else default


def whole(text: str, default: int) -> int:
    """Parse a whole number; return the default for anything else."""
    return int(text) if text.strip().isdecimal() else default


def layout_of(class_name: str, pattern: str | None) -> Layout | None:
    """Return the layout of a class; None for an unsupported one."""
    name = class_name.rpartition(".")[2].lower()
    if name in _PATTERN_LAYOUTS:
        return Layout(pattern or _PATTERN_LAYOUTS[name])
    return Layout(json=True) if any(word in name for word in _JSON_LAYOUTS) else None
