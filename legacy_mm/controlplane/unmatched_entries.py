"""Entries of the topic choice that match nothing: told once, when a topic has had a minute to appear."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from legacy_mm.base.clock import monotonic
from legacy_mm.logs import events

_PATIENCE = 60.0


class UnmatchedEntries:
    """Looks at the entries after each look for topics, until they were told or all match. Used by one thread."""

    def __init__(self, find: Callable[[frozenset[str]], Sequence[str]], *, shared: bool) -> None:
        """Create it; `find` returns the entries that match none of the mirrored topics.

        `shared`: other flows have the same entries, so it is no slip that one of them has no topic here.
        """
        self._find = find
        self._event = events.ENTRIES_UNMATCHED_HERE if shared else events.ENTRIES_UNMATCHED
        self._since: float | None = None
        self._is_over = False

    def look(self, mirrored: frozenset[str]) -> None:
        """Tell of entries that match none of these topics, if the first look was long ago."""
        if self._is_over:
            return
        self._since = monotonic() if self._since is None else self._since
        entries = self._find(mirrored)
        is_due = self.due_in() <= 0
        if entries and is_due:
            events.emit(self._event, entries=", ".join(entries))
        self._is_over = is_due or not entries

    def due_in(self) -> float:
        """Return the seconds until the next look is needed; infinite if none is."""
        return float("inf") if self._is_over or self._since is None else self._since + _PATIENCE - monotonic()
