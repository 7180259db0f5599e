"""The last lines of WARN or worse, each with what to do about it, for a page that shows them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from legacy_mm.logs.layouts import LogEvent
from legacy_mm.logs.log_lines import LOG_LINES

MOST_LINES = 50
_MOST_CHARACTERS = 2_000


class RecentLine(NamedTuple):
    """A line, its secrets hidden."""

    created: float
    """Seconds since 1970."""
    level: str
    text: str
    advice: str
    """The remedy, as the page of log lines says it; empty for a line that is none of ours."""


class RecentLines:
    """Keeps the last lines, in bounded memory. Any thread."""

    def __init__(self) -> None:
        self._lines: deque[RecentLine] = deque(maxlen=MOST_LINES)
        self._lock = threading.Lock()

    def add(self, line: LogEvent, templates: Sequence[str]) -> None:
        """Keep a line; `templates` are the texts that it was made of, before its fields were put in."""
        text = f"{line.message}\n{line.detail}".strip()[:_MOST_CHARACTERS]
        with self._lock:
            self._lines.append(RecentLine(line.created, line.level_name, text, advice(*templates)))

    def newest_first(self) -> list[RecentLine]:
        """Return the lines."""
        with self._lock:
            return [*reversed(self._lines)]


@cache
def advice(*templates: str) -> str:
    """Return what to do about the line of these templates: that of the row which quotes the most of one."""
    found = [row for row in LOG_LINES if any(row.line in template for template in templates)]
    return max(found, key=lambda row: len(row.line)).advice if found else ""
