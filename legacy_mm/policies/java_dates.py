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


_NUMBER_BEGINS = re.compile(r"[0-9+-]")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"([+-]?)([0-9]*)\.([0-9]*)")
_EXPONENT = re.compile(r"[+-]?[0-9.]+[eE][+-]?[0-9]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ENDS_A_TOKEN = frozenset(',:"[]{}\\')
_MOST_DIGITS = 6
"""Java's `float` keeps every fraction of so many."""
_LONGEST_WHOLE = 7


def written(literal: str) -> str | None:
    """Return the text, or None for null; raise ValueError, which says what Connect reads in this literal."""
    if literal == "null":
        return None
    if literal[:1] in ("[", "{"):
        raise ValueError("Connect may read an array or a map in it")
    if _NUMBER_BEGINS.match(literal):
        return _number_or_text(literal)
    if literal[:1].isdecimal():
        raise ValueError("Connect may read a number in it")
    return literal


def _number_or_text(literal: str) -> str:
    if _WHOLE.fullmatch(literal):
        return str(int(literal))
    if (found := _DECIMAL.fullmatch(literal)) and found[2] + found[3]:
        return _decimal(*found.groups())
    if _EXPONENT.fullmatch(literal):
        raise ValueError("Connect reads a number with an exponent in it")
    if _DATE.fullmatch(literal):
        raise ValueError("Connect reads a date in it")
    if _ENDS_A_TOKEN.intersection(literal):
        raise ValueError("Connect may read only the number or the time before one of its delimiters")
    return literal


def _decimal(sign: str, whole: str, fraction: str) -> str:
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if not fraction:
        return str(int(f"{sign}{whole or 0}"))
    digits = whole + fraction if whole else fraction.lstrip("0")
    is_small = not whole and fraction.startswith("000")
    if len(digits) > _MOST_DIGITS or len(whole) > _LONGEST_WHOLE or is_small:
        raise ValueError(f"Connect reads a fraction in it that is not exact (at most {_MOST_DIGITS} digits are)")
    return f"{sign.replace('+', '')}{whole or 0}.{fraction}"
