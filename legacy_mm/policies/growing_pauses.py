"""Pauses that double: between tries of what fails again and again, and between the lines about it."""

from __future__ import annotations

_FIRST, _LONGEST = 5.0, 300.0
_DOUBLINGS = 32
"""More than any pause takes to be the longest; without a limit, the power of what failed for days overflows."""


def doubled(first: float, repeats: int, longest: float) -> float:
    """Return `first`, doubled as often as it was repeated, at most `longest`; all in seconds."""
    return min(first * 2.0 ** min(repeats, _DOUBLINGS), longest)


def pause_after(repeats: int) -> float:
    """Return the seconds to wait when something has failed for the first time, or so many times more: 5, 10 ... 300."""
    return doubled(_FIRST, repeats, _LONGEST)
