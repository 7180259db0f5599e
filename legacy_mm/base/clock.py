"""The clocks, used in this one place, and the `Deadline` that a sequence of calls shares."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime

monotonic = time.monotonic
"""Seconds that never go back; only differences mean anything."""
wall = time.time
"""Seconds since 1970, for people and other programs to read."""
process_cpu = time.process_time
"""Seconds of CPU time of all threads of this process."""
thread_cpu = time.thread_time
"""Seconds of CPU time of this thread."""
sleep = time.sleep
"""Waits so many seconds, where there is nothing that could wake the thread."""


def epoch_ms() -> int:
    """Return the milliseconds since 1970, as Kafka writes times."""
    return int(time.time() * 1000)


def iso_time(milliseconds: int) -> str:
    """Return a time in milliseconds since 1970 as ISO 8601 has it, in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in monotonic time that every call of one sequence shares, so that their *sum* is bounded."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline that is `seconds` from now."""
        return cls(monotonic() + seconds)

    def remaining(self) -> float:
        """Return the seconds left, never negative."""
        return max(0.0, self.at - monotonic())

    def expired(self) -> bool:
        """Return True once no time is left."""
        return monotonic() >= self.at

    def sooner_of(self, seconds: float) -> Deadline:
        """Return this deadline, or the one `seconds` from now if that comes first."""
        return min(self, Deadline.after(seconds), key=lambda deadline: deadline.at)
