"""An option of ours is one row; parser, environment variable, help and checks are made out of the
rows.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from legacy_mm.base.clock import epoch_ms

ENVIRONMENT_PREFIX = "LEGACY_MM_"
_BLANKS = "".join(map(chr, range(ord(" ") + 1)))
_WHOLE_NUMBER = re.compile("[0-9]{1,19}")
_FOR_EVER = (1 << 31) - 1
_EPOCH = datetime.fromtimestamp(0, UTC)
_LEAST_MILLISECONDS = 100_000_000_000
"""A day of 1973: a lower number is in seconds, or is a date without its dashes."""
_COMMA = re.compile(r"\s*,\s*", re.ASCII)


def environment_variable(name: str) -> str:
    """Return the variable of the option of that name; shells know no dots and dashes in names."""
    return ENVIRONMENT_PREFIX + name.upper().replace(".", "_").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the catalogue."""

    name: str
    """The name in Kafka's style: words joined by dots, no leading dashes."""
    default: str | None
    argument: str
    """The help's word for the value."""
    help: str
    owner: str
    """The module that acts on it."""
    type: Callable[[str], object] = str
    choices: tuple[str, ...] = ()
    repeated: bool = False
    is_file_of_options: bool = False
    """True if the value names a properties file that may hold all other rows."""

    @property
    def environment_variable(self) -> str:
        """`--shutdown.timeout.ms` is also `LEGACY_MM_SHUTDOWN_TIMEOUT_MS`."""
        return environment_variable(self.name)

    @property
    def attribute(self) -> str:
        """The name of the value in Python."""
        return self.name.replace(".", "_")


class OptionValue(NamedTuple):
    """An option as it is in force."""

    option: str
    value: str
    origin: str
    """`command line`, a variable's name, a file's name with the line, or `default`."""


def whole_number(text: str) -> int:
    """Parse a decimal integer that is not negative."""
    if not _WHOLE_NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def positive_number(text: str) -> int:
    """Parse a decimal integer above zero."""
    if (number := whole_number(text)) == 0:
        raise argparse.ArgumentTypeError("0 is too small")
    return number


def milliseconds(text: str) -> int:
    """Parse a time; more than 24 days, such as Java's greatest numbers, is 24 days: clocks do not take any number."""
    return min(whole_number(text), _FOR_EVER)


def positive_seconds(text: str) -> int:
    """Parse a time above zero; more than 68 years is 68 years."""
    return min(positive_number(text), _FOR_EVER)


def past_milliseconds(text: str) -> int:
    """Parse a time of now or before, ISO 8601 with its zone or milliseconds since 1970; return these."""
    found = int(text) if _WHOLE_NUMBER.fullmatch(text) else _of_iso(text)
    if found < _LEAST_MILLISECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is {found} ms since 1970, before any record of Kafka: too early")
    if found > epoch_ms():
        raise argparse.ArgumentTypeError(f"{text!r} is in the future, and no record is that young")
    return found


def _of_iso(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time: write it as 2026-11-01T00:00Z, or in milliseconds since 1970"
        ) from None
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} has no zone: write Z for UTC, or +01:00, behind it")
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def count_or_default(text: str) -> int:
    """Parse a decimal integer above zero, or -1 for the brokers' own value."""
    return -1 if text == "-1" else positive_number(text)


def boolean(text: str) -> bool:
    """Parse `true` or `false` in any case, as Kafka reads it."""
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def port_number(text: str) -> int:
    """Parse a TCP port."""
    number = whole_number(text)
    if not 1 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port")
    return number


def split_list(text: str) -> tuple[str, ...]:
    """Split the elements of a list property as Kafka does."""
    trimmed = text.strip(_BLANKS)
    return tuple(_COMMA.split(trimmed)) if trimmed else ()
