"""Target topics that `topic.creation` is about to make: a broker that is asked for one would use its own defaults."""

from __future__ import annotations

from collections.abc import Callable, Collection

from legacy_mm.base.clock import Deadline
from legacy_mm.logs import events
from legacy_mm.runtime.channel.frames import TaskConfig

_MADE_TIMEOUT = 30.0
"""The time the duty, which tries again each 10 s, has for the next topic. Then copying goes on without it."""
_LOOK_INTERVAL = 0.2


class UnmadeTopics:
    """The unmade topics of one task config; none where no duty creates topics."""

    def __init__(self, config: TaskConfig, missing: Callable[[Collection[str]], Collection[str] | None]) -> None:
        """Create the store; `missing` returns the topics that the target lacks, without creating them; None: no
        answer.
        """
        self._topics = {config.names[topic] for topic in config.keeps_partition} if config.topics_made else set()
        self._kept = {config.names[topic] for topic in config.compacted}
        self._missing = missing
        self._told: set[str] = set()
        self._deadline: Deadline | None = None
        self._looked = Deadline(0)

    def has(self, topic: str) -> bool:
        """Return True if its duty was still waited for when the target was last asked."""
        return topic in self._topics

    def holds(self, topic: str) -> bool:
        """Return True if its duty is still waited for; asks the target, unless it was just asked."""
        if topic not in self._topics or not self._looked.expired():
            return topic in self._topics
        self._looked = Deadline.after(_LOOK_INTERVAL)
        missing = self._missing(self._topics)
        if missing is None:
            self._deadline = None
            return True
        made = self._topics.difference(missing)
        self._topics -= made
        if made or self._deadline is None:
            self._deadline = Deadline.after(_MADE_TIMEOUT)
        if topic in self._topics and self._deadline.expired():
            self._give_up(topic)
        return topic in self._topics

    def _give_up(self, topic: str) -> None:
        """Give up, with one message per topic; a topic that must not be created in another way is still waited for."""
        if topic not in self._kept:
            events.emit(events.TOPIC_UNMADE, topic=topic)
            self._topics.remove(topic)
        elif topic not in self._told:
            self._told.add(topic)
            events.emit(events.COMPACTED_UNMADE, topic=topic)
