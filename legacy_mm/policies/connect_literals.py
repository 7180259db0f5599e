"""The text that Connect's header converters write for `value.literal` of a transform. Pure.

Connect reads a type into the literal, and writes that type as text: 007 becomes 7, 1.10 becomes 1.1, and of 12:30 only
12 is left. Literals that it reads as arrays, maps, dates or long fractions are refused here.
"""

from __future__ import annotations

import re

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
