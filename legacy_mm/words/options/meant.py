"""Finds the known name that an unknown one probably means: other order or number of its words, or a slip or two."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

_BETWEEN = re.compile(r"[._\-\s]+|(?<=[a-z])(?=[A-Z])")
_SYNONYMS = {"blacklist": "exclude", "whitelist": "include", "enable": "enabled", "sec": "second"}
_IMPLIED = "include"
"""A list of what to copy has no word for it in its name."""
_SWITCH = "enabled"
"""Not all names of switches end with it."""
_UNITS = {"m": "second"}
"""Intervals of clients have milliseconds, those of features seconds."""
_LEAST_LENGTH = 8
"""Below it two names that differ in a letter are two names."""
_LONG = 16
_LEAST_COMMON_WORDS = 2


def meant(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name; empty if none is near, or if the name itself is known."""
    names = tuple(known)
    if name in names:
        return ""
    found = [(rank, _unlike(name, each), each) for each in names if (rank := _distance(name, each)) is not None]
    return min(found, default=(0, 0.0, ""))[-1]


def _unlike(name: str, known: str) -> float:
    return 1.0 - SequenceMatcher(None, name.lower(), known.lower()).ratio()


def _distance(name: str, known: str) -> int | None:
    """Measure the distance of two names, or return None if they are far apart."""
    given, wanted = _words(name), _words(known)
    if len(given) > 1 and sorted(_UNITS.get(word, word) for word in given) in _orders(wanted):
        return 0
    if len(name) < _LEAST_LENGTH:
        return None
    most = 1 if len(name) < _LONG else 2
    spelled = ((name.lower(), known), (".".join(given), ".".join(wanted)))
    slips = [slips for one, other in spelled if (slips := _slips(one, other, most)) is not None]
    if slips:
        return min(slips)
    lacks_one = len(wanted) == len(given) + 1 and len(given) >= _LEAST_COMMON_WORDS
    return most + 1 if lacks_one and set(given) < set(wanted) else None


def _orders(wanted: list[str]) -> list[list[str]]:
    """Return the words in their order, also with those that are left out of a name."""
    switch = [sorted([*wanted, _SWITCH])] if len(wanted) > 1 else []
    return [sorted(wanted), sorted([*wanted, _IMPLIED]), *switch]


def _words(name: str) -> list[str]:
    words = (word.lower() for word in _BETWEEN.split(name) if word)
    bare = (word.removesuffix("s") for word in words)
    return [_SYNONYMS.get(word, word) for word in bare]


def _slips(one: str, other: str, most: int) -> int | None:
    """Count letters that are wrong, missing, too many or swapped; None if there are more than `most`."""
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for here, letter in enumerate(one, 1):
        older, before = before, row
        row = [here]
        for there, its in enumerate(other, 1):
            best = min(before[there] + 1, row[there - 1] + 1, before[there - 1] + (letter != its))
            exchanged = here > 1 and there > 1 and letter == other[there - 2] and one[here - 2] == its
            row.append(min(best, older[there - 2] + 1) if exchanged else best)
    return row[-1] if row[-1] <= most else None
