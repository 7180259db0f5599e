"""JSON objects of a fixed form: a version, then fields in their order, with nothing between them.

A key must have the same bytes each time, or compaction keeps two records of it. So a text that this program would not
write byte for byte is somebody else's, and is refused: another version, one field more or less, other blanks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from legacy_mm.policies.topic_letters import why_no_topic

VERSION = 1
"""A field more is another version: a program that ignores it would copy records twice."""
Check = Callable[[Any], bool]
JsonFields = Mapping[str, Check]
"""The fields behind the version, in their order, and whether a value is possible."""
_LONGEST = 1 << 20
"""The most bytes of a text that is looked at."""


def written(fields: Mapping[str, Any]) -> bytes:
    """Return the one text that these fields have."""
    return json.dumps({"v": VERSION, **fields}, separators=(",", ":")).encode()


def read(text: bytes | None, fields: JsonFields) -> dict[str, Any]:
    """Return the values of the fields; raise ValueError with the reason why the text is none of ours."""
    found = parsed(text)
    names = found.keys() - {"v"}
    if names != fields.keys():
        wrong = sorted(names ^ fields.keys())[0]
        raise ValueError(f"{'lacks' if wrong in fields else 'has'} the field {wrong!a}")
    for name, is_possible in fields.items():
        if not is_possible(found[name]):
            raise ValueError(f"has an impossible {name}")
    values = {name: found[name] for name in fields}
    if written(values) != text:
        raise ValueError("is not written as this program writes it")
    return values


def parsed(text: bytes | None) -> dict[str, Any]:
    """Return an object of our version, whatever its fields; raise ValueError."""
    if text is None:
        raise ValueError("is empty")
    try:
        found = json.loads(text) if len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or "v" not in found:
        raise ValueError("is no JSON object with a version")
    if type(found["v"]) is not int or found["v"] != VERSION:
        raise ValueError(f"has another version than {VERSION}")
    return found


def is_text(value: Any) -> bool:
    """Return True for a text without control letters; it may be shown to a user."""
    return isinstance(value, str) and value.isprintable()


def is_topic(value: Any) -> bool:
    return not why_no_topic(value)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def whole(least: int, bits: int = 31) -> Check:
    """Return the check of a whole number, from `least` to the greatest signed one of so many bits."""
    return lambda value: type(value) is int and least <= value < 1 << bits


def or_null(check: Check) -> Check:
    """Return a check that also takes null."""
    return lambda value: value is None or check(value)


def list_of(check: Check) -> Check:
    """Return the check of a list that grows: each value once, the least first."""
    return lambda value: isinstance(value, list) and all(map(check, value)) and value == sorted(set(value))
