"""Times as Java's `SimpleDateFormat` writes them in UTC, of the letters that are the same in every language. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PARTS = re.compile(
    r"(?P<letters>([A-Za-z])\2*)|(?P<quote>'')|'(?P<quoted>(?:[^']|'')+)'|(?P<other>[^A-Za-z']+)|(?P<bad>')"
)
_FIELDS: Mapping[str, Callable[[datetime], int]] = {
    "y": lambda time: time.year,
    "M": lambda time: time.month,
    "d": lambda time: time.day,
    "D": lambda time: time.timetuple().tm_yday,
    "H": lambda time: time.hour,
    "k": lambda time: time.hour or 24,
    "K": lambda time: time.hour % 12,
    "h": lambda time: time.hour % 12 or 12,
    "m": lambda time: time.minute,
    "s": lambda time: time.second,
    "S": lambda time: time.microsecond // 1000,
}
_MONTHS_NAME = 3
"""M so often is a name, in the language of the host."""
_MEANT = {"Y": "y", "A": "H", "E": "d", "MMM": "MM"}
_CACHED = 4096


class _Part(NamedTuple):
    text: str
    field: Callable[[datetime], int] | None = None
    """None: the text is written as it is."""


class JavaDate:
    """One pattern."""

    def __init__(self, pattern: str) -> None:
        """Read the pattern; raise ValueError, which names the first letters that are not possible."""
        self._parts = list(_parts(pattern))
        self._unit = 1 if any(part.field is _FIELDS["S"] for part in self._parts) else 1000
        self._written = lru_cache(_CACHED)(self._write)

    def written(self, milliseconds: int) -> str:
        """Return this time since 1970 in UTC; raise OverflowError for a time beyond the year 9999."""
        return self._written(milliseconds // self._unit)

    def _write(self, units: int) -> str:
        time = _EPOCH + timedelta(milliseconds=units * self._unit)
        return "".join(
            part.text if part.field is None else _number(part.text, part.field(time)) for part in self._parts
        )


def _number(letters: str, value: int) -> str:
    return f"{value % 100:02}" if letters == "yy" else f"{value:0{len(letters)}}"


def _parts(pattern: str) -> Iterator[_Part]:
    for found in _PARTS.finditer(pattern):
        letters, quoted = found["letters"], found["quote"] or found["quoted"]
        if letters:
            yield _Part(letters, _field(letters))
        elif quoted:
            yield _Part(quoted.replace("''", "'"))
        elif found["bad"]:
            raise ValueError("a quote has no end")
        else:
            yield _Part(found["other"])


def _field(letters: str) -> Callable[[datetime], int]:
    letter = letters[0]
    if letter not in _FIELDS or (letter == "M" and len(letters) >= _MONTHS_NAME):
        meant = _MEANT.get(letter) or _MEANT.get(letters)
        hint = f" ({meant} was probably meant)" if meant else ""
        raise ValueError(f"{letters} is not one of {', '.join(_FIELDS)}, and M at most twice{hint}")
    return _FIELDS[letter]
