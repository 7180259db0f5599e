"""Target topics that cannot be written: said once, with what to do, and once when it is over."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.logs import events

_QUIET_INTERVAL = 3.0
"""Within so long brokers make a topic, and leaders move."""
_MAKE = (
    "make it, or see why the brokers do not: auto.create.topics.enable, the right to create, or a topic whose name "
    "differs only in dots and underscores"
)
_MEND = "see to the brokers of the target"


class WaitingTopics:
    """The waiting topics of one copy job."""

    def __init__(self) -> None:
        self._deadlines: dict[str, Deadline] = {}
        self._told: set[str] = set()

    def note(self, missing: Mapping[str, str], stuck: Mapping[str, str]) -> None:
        """Note the topics that are missing, and those with a stuck partition, each with the reason.

        A reason that many share at the same time, as when a whole cluster is away, is one line.
        """
        for reasons, advice in ((missing, _MAKE), (stuck, _MEND)):
            if new := [topic for topic in reasons if self._is_to_be_told(topic)]:
                self._told.update(new)
                events.emit(events.TOPIC_WAITS, topic=_list_names(new), reason=reasons[min(new)], advice=advice)
        over = self._deadlines.keys() - missing.keys() - stuck.keys()
        if back := [topic for topic in over if topic in self._told]:
            self._told.difference_update(back)
            events.emit(events.TOPIC_GOES_ON, topic=_list_names(back))
        for topic in over:
            del self._deadlines[topic]

    def _is_to_be_told(self, topic: str) -> bool:
        deadline = self._deadlines.setdefault(topic, Deadline.after(_QUIET_INTERVAL))
        return topic not in self._told and deadline.expired()


def _list_names(topics: Collection[str]) -> str:
    return min(topics) if len(topics) == 1 else f"{min(topics)} and {len(topics) - 1} more"
