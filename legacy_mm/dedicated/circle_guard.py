"""Keeps topics out of the flows of one process that would copy them in a circle.

A flow whose transforms filter records is not judged: that is how users break circles themselves. A class of a jar is no
such sign: to copy a topic that could be copied is less than to copy a topic for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property

from legacy_mm.dedicated.circles import FlowNames, circle
from legacy_mm.dedicated.driver_file import Pair
from legacy_mm.dedicated.flow_translation import FlowRun
from legacy_mm.errors import ConfigurationError
from legacy_mm.flow.names import Names
from legacy_mm.logs import events
from legacy_mm.policies.topic_filter import Matcher


class Circles:
    """The names of all flows; any thread may ask."""

    def __init__(self, flows: Sequence[FlowRun], matcher: Callable[[], Callable[[str], Matcher]]) -> None:
        """Take the flows; `matcher` returns the compiler of Java's regular expressions once Java runs."""
        self._runs = [each for each in flows if each.settings.streams and not each.filters]
        self._matcher = matcher
        self._lock = threading.Lock()
        self._known: dict[tuple[Pair, str], bool] = {}

    def closed_by(self, pair: Pair, topic: str) -> bool:
        """Return True if this flow must not copy the topic; say so once."""
        with self._lock:
            key = (pair, topic)
            if key not in self._known:
                way = circle(self._flows, pair, topic)
                self._known[key] = bool(way)
                if way:
                    by = ", ".join(map(str, way))
                    events.emit(events.CIRCLE, topic=topic, flow=pair, source=pair.source, way=by)
            return self._known[key]

    @cached_property
    def _flows(self) -> list[FlowNames]:
        found = []
        for run in self._runs:
            with suppress(ConfigurationError):  # such a flow does not run, so it closes no circle
                names = Names(run.settings.topics, run.settings.features, self._matcher())
                found.append(FlowNames(run.pair, names.choice().select, names.at_target))
        return found
