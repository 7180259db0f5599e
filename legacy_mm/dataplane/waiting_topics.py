"""Target topics that cannot be written: said once, with what to do, and once when it is over."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm import events
from legacy_mm.clock import Deadline

_QUIET_SECONDS = 3.0
"""Within so long brokers make a topic, and leaders move."""
_MAKE = (
    "make it, or see why the brokers do not: auto.create.topics.enable, the right to create, or a topic whose name "
    "differs only in dots and underscores"
)
_MEND = "see to the brokers of the target"


class WaitingTopics:
    """Those of one copy job."""

    def __init__(self) -> None:
        self._patience: dict[str, Deadline] = {}
        self._told: set[str] = set()

    def note(self, missing: Mapping[str, str], stuck: Mapping[str, str]) -> None:
        """These cannot be written now, and why: topics that are not there, and those with a partition that is stuck."""
        for reasons, advice in ((missing, _MAKE), (stuck, _MEND)):
            for topic, reason in reasons.items():
                patience = self._patience.setdefault(topic, Deadline.after(_QUIET_SECONDS))
                if topic not in self._told and patience.expired():
                    self._told.add(topic)
                    events.emit(events.TOPIC_WAITS, topic=topic, reason=reason, advice=advice)
        for topic in self._patience.keys() - missing.keys() - stuck.keys():
            del self._patience[topic]
            if topic in self._told:
                self._told.remove(topic)
                events.emit(events.TOPIC_GOES_ON, topic=topic)
