"""Pauses that double: between tries of what fails again and again, and between the lines about it."""

from __future__ import annotations

from legacy_mm.base.clock import monotonic

_FIRST, _LONGEST = 5.0, 300.0
_DOUBLINGS = 32
"""More than any pause takes to be the longest; without a limit, the power of what failed for days overflows."""


def doubled(first: float, repeats: int, longest: float) -> float:
    """Return `first`, doubled as often as it was repeated, at most `longest`; all in seconds."""
    return min(first * 2.0 ** min(repeats, _DOUBLINGS), longest)


def pause_after(repeats: int) -> float:
    """Return the seconds to wait when something has failed for the first time, or so many times more: 5, 10 ... 300."""
    return doubled(_FIRST, repeats, _LONGEST)


class Reminders:
    """When to tell of a trouble that is met again and again. Used by one thread."""

    def __init__(self) -> None:
        self._trouble = ""
        self._due = 0.0
        self._repeats = 0

    def is_due(self, trouble: str) -> bool:
        """Return True if this trouble is to be told now: another one at once, the same after 5, 10 ... 300 s."""
        now = monotonic()
        if trouble != self._trouble:
            self._trouble, self._repeats = trouble, 0
        elif now < self._due:
            return False
        self._due, self._repeats = now + pause_after(self._repeats), self._repeats + 1
        return True

    def over(self) -> None:
        """Note that all is well: the next trouble is told at once."""
        self._trouble = ""
