"""When a copy job reports, and how long its thread may wait: each second while there is work, less often without."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.base.clock import monotonic

IDLE_INTERVAL = 2.5
"""The driver gives up a task that says nothing for 10 s."""


class ReportTimes:
    """The time of the next report."""

    def __init__(self, interval: float, poll: float, is_idle: Callable[[], bool]) -> None:
        """Take the seconds between reports while there is work, and between two looks at it."""
        self.interval = interval
        self.next_at = monotonic()
        self.rests = False
        """True while the engine's thread waits for news alone: who has some must wake it."""
        self._poll = poll
        self._is_idle = is_idle

    def due(self) -> bool:
        """Return True if a report is due."""
        return monotonic() >= self.next_at

    def sent(self) -> None:
        """Note that a report is sent now."""
        self.next_at = monotonic() + (IDLE_INTERVAL if self._is_idle() else self.interval)

    def soon(self) -> bool:
        """Note that there is something to report; return True if the engine's thread must be woken for it."""
        self.next_at = min(self.next_at, monotonic() + self.interval)
        return self.rests

    def pause(self) -> float:
        """Return how long nothing needs the engine's thread unless something comes."""
        self.rests = self._is_idle()
        return max(0.0, self.next_at - monotonic()) if self.rests else self._poll
