"""The set of mirrored topics: one look per `metadata.max.age.ms` for the whole process, then one order to all streams.

A topic that reappears with another topic id was deleted and recreated in between: a gap, which the guard judges.

There is one watch, because streams with their own clocks would cause a rebalance each for the same new topic.

`TopicEntries` tells of entries of the choice that match no topic, once a topic has had a minute to appear.
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


class TopicEntries:
    """The user's entries that choose topics, and what is told of those that cannot be right. Used by one thread."""

    def __init__(
        self,
        choice: Callable[[], TopicChoice],
        pattern_text: str,
        find: Callable[[frozenset[str]], Sequence[str]],
        *,
        shared: bool,
    ) -> None:
        """Take the maker of the choice, and its pattern as the user wrote it.

        `find` returns the entries that match none of the mirrored topics. `shared`: other flows have the same entries,
        so it is no slip that one of them has no topic here.
        """
        self.choice = choice
        """Makes the choice; raises InvalidPattern."""
        self._pattern_text = pattern_text
        self._find = find
        self._event = events.ENTRIES_UNMATCHED_HERE if shared else events.ENTRIES_UNMATCHED
        self._since: float | None = None
        self._is_over = False

    def refused(self, error: InvalidPattern) -> None:
        """Tell that the pattern does not compile, and what was probably meant."""
        events.emit(events.PATTERN_INVALID, pattern=self._pattern_text)
        if error.advice:
            events.emit(events.PATTERN_ADVICE, text=error.advice)

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
    """The topics that the source showed at the last look. Any thread may ask; the watch makes the other calls."""

    def __init__(self, guard: GapGuard) -> None:
        """Take who judges a topic that was recreated."""
        self.missed = threading.Event()
        """Somebody has asked, because he misses a topic."""
        self.existing: frozenset[str] | None = None
        """None before the first look."""
        self._guard = guard
        self._ids: dict[str, str] = {}

    def ask(self) -> frozenset[str] | None:
        """Return all topics of the last look, None before the first, and have the watch look again at once."""
        self.missed.set()
        return self.existing

    def compare_ids(self, ids: Mapping[str, str]) -> None:
        """Tell of mirrored topics with another id than at the look before; raises SourceGap if that is fatal."""
        for topic, now in ids.items():
            before = self._ids.setdefault(topic, now)
            if now != before:
                self._ids[topic] = now
                self._guard.recreated(topic, before, now)


class TopicWatch(threading.Thread):
    """Lists the source's topics and calls `on_change` when the matching set has changed."""

    def __init__(
        self,
        *,
        lister: Callable[[], TopicLister],
        interval: float,
        entries: TopicEntries,
        known: KnownTopics,
        before_first: Callable[[frozenset[str]], None] | None,
        on_change: Callable[[frozenset[str]], None],
        on_failure: Callable[[int, BaseException], None],
    ) -> None:
        """Take the services of a look.

        `before_first` must succeed with the first topics, and is repeated after a HostError.
        """
        super().__init__(name="topic-watch", daemon=True)
        self._make_lister = lister
        self._interval = interval
        self._entries = entries
        self._known = known
        self._before_first = before_first
        self._on_change = on_change
        self._on_failure = on_failure
        self._stopping = threading.Event()
        self._reminders = Reminders()
        self._mirrored: frozenset[str] | None = None

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        self._known.missed.set()

    def run(self) -> None:
        """Look and wait until stopped."""
        try:
            # first: a pattern that does not compile ends the mirror, whether or not the source answers
            choice = self._entries.choice()
            lister = self._make_lister()
            with closing(lister):
                while not self._stopping.is_set():
                    is_complete = self._inspect(lister, choice)
                    self._known.missed.wait(self._pause() if is_complete else _RETRY_BACKOFF)
                    self._known.missed.clear()
        except InvalidPattern as error:
            self._entries.refused(error)
            self._on_failure(0, error)
        except BaseException as error:  # noqa: BLE001 - reported; ends the mirror
            if not self._stopping.is_set():
                self._on_failure(0, error)

    def _pause(self) -> float:
        return max(0.0, min(self._interval, self._entries.due_in()))

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
            # before a stream reads the new one
            self._known.compare_ids({topic: ids[topic] for topic in found if ids[topic]})
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
