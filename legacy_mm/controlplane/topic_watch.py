"""The set of mirrored topics: one look per `metadata.max.age.ms` for the whole process, then one order to all streams.

A topic that reappears with another topic id was deleted and recreated in between: a gap, which the guard judges.

There is one watch, because streams with their own clocks would cause a rebalance each for the same new topic.

`UnmatchedEntries` tells of entries of the choice that match no topic, once a topic has had a minute to appear.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import HostError, InvalidPattern
from legacy_mm.clients.admin.cluster_admin import TopicLister
from legacy_mm.controlplane.positions import GapGuard
from legacy_mm.logs import events
from legacy_mm.policies.growing_pauses import Reminders
from legacy_mm.policies.topic_choice import TopicChoice

_PATIENCE = 60.0
_RETRY_BACKOFF = 1.0


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

    def inspect(self, mirrored: frozenset[str]) -> None:
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


class KnownTopics:
    """The topics that the source showed at the last look. Any thread may ask."""

    def __init__(self) -> None:
        self.missed = threading.Event()
        """Somebody has asked, because he misses a topic."""
        self.existing: frozenset[str] | None = None
        """None before the first look."""

    def ask(self) -> frozenset[str] | None:
        """Return all topics of the last look, None before the first, and have the watch look again at once."""
        self.missed.set()
        return self.existing


class TopicWatch(threading.Thread):
    """Lists the source's topics and calls `on_change` when the matching set has changed."""

    def __init__(
        self,
        *,
        lister: Callable[[], TopicLister],
        choice: Callable[[], TopicChoice],
        pattern_text: str,
        interval: float,
        before_first: Callable[[frozenset[str]], None] | None,
        on_change: Callable[[frozenset[str]], None],
        guard: GapGuard,
        on_failure: Callable[[int, BaseException], None],
        entries: UnmatchedEntries,
        known: KnownTopics,
    ) -> None:
        """Take the services of a look.

        `before_first` must succeed with the first topics, and is repeated after a HostError.
        """
        super().__init__(name="topic-watch", daemon=True)
        self._make_lister = lister
        self._make_choice = choice
        self._pattern_text = pattern_text
        self._interval = interval
        self._before_first = before_first
        self._on_change = on_change
        self._guard = guard
        self._ids: dict[str, str] = {}
        self._on_failure = on_failure
        self._stopping = threading.Event()
        self._again = known.missed
        self._known = known
        self._reminders = Reminders()
        self._entries = entries
        self._mirrored: frozenset[str] | None = None

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        self._again.set()

    def run(self) -> None:
        """Look and wait until stopped."""
        try:
            # first: a pattern that does not compile ends the mirror, whether or not the source answers
            choice = self._make_choice()
            lister = self._make_lister()
            with closing(lister):
                while not self._stopping.is_set():
                    is_complete = self._inspect(lister, choice)
                    self._again.wait(self._pause() if is_complete else _RETRY_BACKOFF)
                    self._again.clear()
        except InvalidPattern as error:
            events.emit(events.PATTERN_INVALID, pattern=self._pattern_text)
            if error.advice:
                events.emit(events.PATTERN_ADVICE, text=error.advice)
            self._on_failure(0, error)
        except BaseException as error:  # noqa: BLE001 - reported; ends the mirror
            if not self._stopping.is_set():
                self._on_failure(0, error)

    def _pause(self) -> float:
        return max(0.0, min(self._interval, self._entries.due_in()))

    def _compare_ids(self, ids: Mapping[str, str]) -> None:
        for topic, now in ids.items():
            before = self._ids.setdefault(topic, now)
            if now != before:
                self._ids[topic] = now
                self._guard.recreated(topic, before, now)

    def _inspect(self, lister: TopicLister, choice: TopicChoice) -> bool:
        """Match the topics and report changes; return False if the source did not answer completely."""
        try:
            ids = lister.topics()
            topics = frozenset(ids)
            known = self._mirrored if topics == self._known.existing else None
            found = choice.select(topics) if known is None else known
            if self._known.existing is None and self._before_first is not None:
                self._before_first(found)
            self._known.existing = topics
            self._compare_ids({topic: ids[topic] for topic in found if ids[topic]})  # before a stream reads the new one
            if found != self._mirrored:
                self._mirrored = found
                events.emit(events.TOPICS_CHANGED, topics=", ".join(sorted(found)) or "none")
                self._on_change(found)
            self._entries.inspect(found)
        except HostError as error:
            if self._reminders.is_due(str(error)):
                events.emit(events.CLIENT_ERROR, client=self.name, text=str(error))
            return False
        self._reminders.over()
        return True
