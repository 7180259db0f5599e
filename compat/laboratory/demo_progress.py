"""Progress of a mirror, asked from the target's brokers.

Rule: it sees clusters, never the mirror.

Lag is the number of records that the target does not hold yet. The group's committed offsets would not do: the legacy
tool and ours commit once a minute.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from legacy_mm.audit.cluster_access import all_ends
from legacy_mm.base.clock import monotonic


@dataclass(frozen=True, slots=True)
class Written:
    """Records written to a topic of the source: their number, and bytes of keys and values."""

    records: int
    size: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a mirror at a moment, in seconds since its start."""

    seconds: float
    records: int
    size: float
    lag: int


def progress(written: Mapping[str, Written], arrived: Mapping[str, int], seconds: float) -> Progress:
    """Compute the progress from the number of records that the target holds of each topic."""
    records = sum(arrived.get(topic, 0) for topic in written)
    size = sum(arrived.get(topic, 0) * each.size / each.records for topic, each in written.items())
    return Progress(seconds, records, size, sum(w.records for w in written.values()) - records)


def progress_line(before: Progress, now: Progress) -> str:
    """Format one line: the progress, and the rate since `before`."""
    elapsed = max(now.seconds - before.seconds, 0.001)
    total = now.records + now.lag
    done = now.records / total if total else 1.0
    return (
        f"{now.seconds:5.1f} s {done:5.0%} {now.records:9,} records"
        f" {(now.records - before.records) / elapsed:9,.0f}/s"
        f" {(now.size - before.size) / elapsed / 1e6:6.1f} MB/s   lag {now.lag:,}"
    )


class TargetWatch:
    """Counts how many of the source's records a target holds."""

    def __init__(self, bootstrap: str, written: Mapping[str, Written], held: Mapping[str, int] | None = None) -> None:
        """Take the topics; `held` are the records of each topic that were there before, and do not count."""
        self._bootstrap = bootstrap
        self._written = written
        self._held = held or {}
        self._start = monotonic()

    @property
    def seconds(self) -> float:
        """Since the watch began."""
        return monotonic() - self._start

    def read(self) -> Progress:
        """Ask the brokers; a topic that the mirror has not made yet holds nothing."""
        ends = all_ends(self._bootstrap, self._written)
        arrived = {topic: sum(each.values()) - self._held.get(topic, 0) for topic, each in ends.items()}
        return progress(self._written, arrived, self.seconds)


class ProgressDisplay:
    """On a terminal one line that is rewritten, else a line per second, or per `pause`."""

    def __init__(self, out: TextIO, pause: float = 1.0) -> None:
        self._out = out
        self._live = out.isatty()
        self._pause = 0.25 if self._live else pause
        self._last = Progress(0.0, 0, 0.0, 0)

    def due(self, seconds: float) -> bool:
        """Return True if the next line is wanted at that time."""
        return seconds - self._last.seconds >= self._pause

    def show(self, now: Progress) -> None:
        """Show where it is."""
        line = f"  {progress_line(self._last, now)}"
        width = shutil.get_terminal_size().columns - 1  # only what fits can be rewritten
        self._out.write(f"\r{line[:width]}\x1b[K" if self._live else f"{line}\n")
        self._out.flush()
        self._last = now

    def close(self) -> None:
        """End the line, so that the next output begins a new one."""
        if self._live:
            self._out.write("\n")
            self._out.flush()
