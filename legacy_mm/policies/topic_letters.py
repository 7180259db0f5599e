"""Brokers' rules for the name of a topic."""

from __future__ import annotations

import re

_LEGAL = re.compile(r"[A-Za-z0-9._-]*")
_LONGEST = 249


def has_legal_letters(text: str) -> bool:
    """Return True if the text may occur in a topic's name."""
    return _LEGAL.fullmatch(text) is not None


def why_no_topic(name: object) -> str:
    """Return the reason why no topic can have this name; empty for a legal name."""
    if not isinstance(name, str) or not name:
        return "a name is a text that is not empty"
    if name in (".", ".."):
        return "no topic can be called . or .."
    if len(name) > _LONGEST:
        return f"a name has {_LONGEST} letters at most, and this one has {len(name)}"
    return "" if has_legal_letters(name) else "names have letters, digits, dots, dashes and underscores only"
