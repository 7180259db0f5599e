"""Advice on a topic pattern from its letters alone; only Java can say if it compiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_PLAIN = re.compile(r"(?:[A-Za-z0-9_-]|\.[*+?]?|\||\\[.-]|\[(?:[A-Za-z0-9_]|\\[.-])+\])*")
_GLOB = re.compile(r"(?:(?<![^|])|\.?\*(?=\*))[*+?]+|(?<=\()[*+]+")
"""A quantifier with nothing before it, or one behind another: a file pattern's star."""
EVERY = ".*"


def compiles_anywhere(pattern: str) -> bool:
    """Return True for letters, dots, `.*` and the like, which are a regular expression in every dialect.

    No Java is needed for them. MirrorMaker 2's default lists have nothing else.
    """
    return _PLAIN.fullmatch(pattern) is not None


def dangling(entries: Iterable[str]) -> str:
    """Return the first entry of a list that begins with a quantifier, which no dialect takes; empty: there is none."""
    before = ""
    for entry in entries:
        if entry[:1] in ("*", "+", "?") and "[" not in before and not before.endswith("\\"):
            return entry
        before += entry
    return ""


def advice(pattern: str, reason: str, compiles: Callable[[str], bool]) -> str:
    """Return advice on a pattern that does not compile; `reason` is Java's, where it gave one."""
    meant = _GLOB.sub(EVERY, pattern)
    said = f"{pattern} is no Java regular expression" + (f" ({reason})" if reason else "")
    if meant == pattern or not compiles(meant):
        return f"{said}: write one, such as orders.* for all topics whose name begins with orders."
    return f"{said}: {meant} was probably meant" + (", which is every topic." if meant == EVERY else ".")
