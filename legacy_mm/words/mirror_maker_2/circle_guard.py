"""Keeps the flows of one process from copying in a circle: topics are left out, or the flow is refused.

A flow whose transforms filter records is not judged: that is how users break circles themselves. A class of a jar is no
such sign: to copy a topic that could be copied is less than to copy a topic for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NoReturn

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.logs import events
from legacy_mm.policies.topic_choice import Matcher
from legacy_mm.words.mirror_maker_2.circles import Circle, FlowNames, circle
from legacy_mm.words.mirror_maker_2.driver_file import Pair
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun

_HEARTBEATS, _ANY_TOPIC = "heartbeats", "topic"
_AS_ITSELF = "as itself"
_KEPT = "let names begin with the alias (DefaultReplicationPolicy)"
_GROWN = "choose aliases that do not hold replication.policy.separator, or another separator"
_INSTEAD = {
    _HEARTBEATS: "set heartbeats.replication.enabled=false",
    _ANY_TOPIC: "exclude what comes back by topics.exclude",
}


class Circles:
    """The names of all flows; any thread may ask."""

    def __init__(self, flows: Sequence[FlowRun], matcher: Callable[[], Callable[[str], Matcher]]) -> None:
        """Take the flows; `matcher` returns the compiler of Java's regular expressions once Java runs."""
        self._runs = [each for each in flows if each.settings.streams and not each.filters]
        self._have_heartbeats = any(
            (emitter := each.settings.features[HEARTBEATS]) is not None and emitter.interval is not None
            for each in flows
        )
        self._matcher = matcher
        self._lock = threading.Lock()
        self._known: dict[tuple[Pair, str], bool] = {}

    def closed_by(self, pair: Pair, topic: str) -> bool:
        """Return True if this flow must not copy the topic; say so once."""
        with self._lock:
            key = (pair, topic)
            if key not in self._known:
                found = circle(self._flows, pair, topic)
                self._known[key] = found is not None
                if found is not None:
                    how = _how(found, topic)
                    remedy = _KEPT if how == _AS_ITSELF or self._tell_origin else _GROWN
                    by = ", ".join(map(str, found.way))
                    events.emit(
                        events.CIRCLE, topic=topic, flow=pair, source=pair.source, how=how, way=by, remedy=remedy
                    )
            return self._known[key]

    def check(self, pair: Pair) -> None:
        """Raise ConfigurationError for a flow that would copy heartbeats, or any topic, under longer and longer names.

        Java is asked only where names do not tell the cluster from which they come.
        """
        with self._lock:
            if self._tell_origin:
                return
            topics = [_HEARTBEATS, _ANY_TOPIC] if self._have_heartbeats else [_ANY_TOPIC]
            for first in [each for each in self._flows if each.pair == pair]:
                mirrored = first.mirrored(topics)
                found = {topic: circle(self._flows, pair, topic) for topic in topics if topic in mirrored}
                grown = {topic: way for topic, way in found.items() if way is not None and way.name != topic}
                if grown:
                    raise ConfigurationError(_refusal(grown, pair))

    @cached_property
    def _flows(self) -> list[FlowNames]:
        found = []
        for run in self._runs:
            with suppress(ConfigurationError):  # such a flow does not run, so it closes no circle
                names = FlowTopics(run.settings.topics, run.settings.features, self._matcher())
                found.append(FlowNames(run.pair, names.choice().select, names.at_target))
        return found

    @cached_property
    def _tell_origin(self) -> bool:
        return all(map(_tells_origin, self._runs))


def _unasked(pattern: str) -> NoReturn:
    """Raise NotImplementedError: names tell their origin without an expression."""
    raise NotImplementedError(pattern)


def _tells_origin(run: FlowRun) -> bool:
    try:
        return FlowTopics(run.settings.topics, run.settings.features, _unasked).tell_origin()
    except ConfigurationError:
        return True


def _how(circle: Circle, topic: str) -> str:
    """Return how the topic comes back."""
    return _AS_ITSELF if circle.name == topic else f"as {circle.name}, and again under a longer name each time,"


def _refusal(grown: Mapping[str, Circle], pair: Pair) -> str:
    topic, found = next(iter(grown.items()))
    what = f"a topic called {topic}" if topic == _ANY_TOPIC else topic
    by, instead = ", ".join(map(str, found.way)), " and ".join(_INSTEAD[each] for each in grown)
    return f"{what} of {pair.source} would come back {_how(found, topic)} by {by}: {_GROWN}, or {instead}"
