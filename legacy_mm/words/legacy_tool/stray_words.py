"""Words of a command line without effect, which the legacy tool passes over in silence."""

from __future__ import annotations

from collections.abc import Iterable

from legacy_mm.words.legacy_tool.command_line import Role, Word

ROLES: tuple[Role, ...] = ("ignored", "after --")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""Signs that editors and chats make of a hyphen, or of two."""


def stray(words: Iterable[Word]) -> list[str]:
    """Return the words without effect, each up to its first `=`, because a value may be a secret; `--` has one."""
    return [
        f"{name}{sign}{'...' if sign else ''}" if name.strip() else repr(name)
        for name, sign, _ in (each.text.partition("=") for each in words if each.role in ROLES and each.text != "--")
    ]


def remark(words: list[str]) -> str:
    """Return what is to be said of such words; nothing where there are none."""
    if not words:
        return ""
    count = f"{len(words)} word{'s' if len(words) > 1 else ''} without effect: {' '.join(words)}."
    if dashed := next((word for word in words if word[0] in _DASHES), ""):
        option = dashed.lstrip(_DASHES).partition("=")[0]
        return f"{count} {dashed[0]}{option} begins with a long dash: write --{option}."
    return f"{count} If the shell has made them of a pattern, put the pattern in quotes."
