"""Reminders of what lasts: once, and then at growing pauses."""

from __future__ import annotations

from legacy_mm.base.clock import monotonic
from legacy_mm.policies.growing_pauses import pause_after


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
