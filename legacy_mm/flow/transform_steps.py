"""Transforms of Kafka Connect as the driver sees them: what they do to names of topics, with Java's expressions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache, partial

from legacy_mm.base.errors import ConfigurationError, InvalidPattern
from legacy_mm.handlers.transforms import NAMES, TOPICS, parsed, route_by_time, written
from legacy_mm.policies.topic_choice import Matcher
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.topic_router import TopicRouter

_FILTER, _BY_NAME, _BY_TIME, _NAME_MATCHES = "Filter", "RegexRouter", "TimestampRouter", "TopicNameMatches"


def sees_records(value: str) -> bool:
    """Return False for a transform of names alone; `value` is what stands behind `transform=`."""
    transform = parsed(value)
    by_name = transform.predicate is None or transform.predicate.type == _NAME_MATCHES
    return not (by_name and transform.type in (_BY_NAME, _FILTER))


class TransformStep:
    """One transform, with its predicate."""

    keeps_partition = False

    def __init__(self, value: str, java: Callable[[], Jvm]) -> None:
        """Take what stands behind `transform=`; raise ConfigurationError for an expression that Java refuses."""
        self._transform = parsed(value)
        self._matcher: Matcher | None = None
        predicate = self._transform.predicate
        try:
            key = f"transforms.{self._transform.name}.regex"
            self._route = self._router(java)
            if predicate is not None and predicate.type == _NAME_MATCHES:
                key = f"predicates.{predicate.name}.pattern"
                self._matcher = java().topic_matcher(predicate.settings["pattern"])
        except InvalidPattern as error:
            raise ConfigurationError(f"{key}: {error.advice or error}") from None

    def renamed(self, names: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return name -> its possible new names: several where the record decides, none for a dropped topic."""
        acted_on, other = self._acted_on(names), self._left_alone(names)
        return {
            name: {*(self._made_of(name) if name in acted_on else ()), *([name] if name in other else ())}
            for name in names
        }

    def exact(self, names: Collection[str]) -> str:
        """Return the step for a task that sees records of these topics only."""
        transform, predicate = self._transform, self._transform.predicate
        if transform.type == _BY_NAME:
            routes = {name: self._route(name) for name in sorted(self._acted_on(names))}
            transform = replace(transform, settings={NAMES: routes})
        if predicate is not None and self._matcher is not None:
            matching = sorted(self._matcher.matching(names))
            transform = replace(transform, predicate=replace(predicate, settings={TOPICS: matching}))
        return written(transform)

    def _router(self, java: Callable[[], Jvm]) -> Callable[[str], str]:
        settings = self._transform.settings
        if self._transform.type == _BY_NAME:
            return cache(TopicRouter(java(), settings["regex"], settings["replacement"]).routed)
        if self._transform.type == _BY_TIME:
            return partial(route_by_time(settings).renamed, milliseconds=0)
        return str

    def _made_of(self, name: str) -> Collection[str]:
        return () if self._transform.type == _FILTER else (self._route(name),)

    def _acted_on(self, names: Collection[str]) -> Collection[str]:
        """Return the topics of which the transform may see a record."""
        if self._matcher is None:
            return frozenset(names)
        matching = self._matcher.matching(names)
        return frozenset(names) - matching if self._transform.negate else matching

    def _left_alone(self, names: Collection[str]) -> Collection[str]:
        """Return the topics that may have a record which the transform does not see."""
        if self._transform.predicate is None:
            return frozenset()
        return frozenset(names) if self._matcher is None else frozenset(names) - frozenset(self._acted_on(names))
