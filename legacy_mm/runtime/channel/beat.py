"""The driver's beat, at which leases are renewed. It also tells when the whole process stood still."""

from __future__ import annotations

import threading

from legacy_mm.base.clock import monotonic
from legacy_mm.runtime.channel.frames import BEAT_INTERVAL, LEASE_TIMEOUT

_PAUSE_TIMEOUT = LEASE_TIMEOUT - BEAT_INTERVAL
"""A beat that is so late cost leases: the host was suspended or moved, or the process was stopped (SIGSTOP)."""


class Beat:
    """One thread rests between two beats; any thread asks when the process came back from a pause."""

    def __init__(self) -> None:
        self._rests_since: float | None = None
        self._woke = float("-inf")

    def rest(self, over: threading.Event) -> bool:
        """Wait for the next beat; return True once all is over."""
        self._rests_since = monotonic()
        is_over = over.wait(BEAT_INTERVAL)
        self._woke = self.woke()
        self._rests_since = None
        return is_over

    def woke(self) -> float:
        """Return the time (`clock.monotonic`) at which the process went on after its last pause; -inf: it had none."""
        since, now = self._rests_since, monotonic()
        return now if since is not None and now - since > _PAUSE_TIMEOUT else self._woke
