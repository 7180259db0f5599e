"""The properties of a source topic that its copy has too, as MirrorMaker 2's `DefaultConfigPropertyFilter` decides.

The origin of a property matters as much as its name: an override of the topic is copied, a value of a server.properties
is not, and a default of the source is ignored, or (`use.defaults.from=source`) a value like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass

from legacy_mm.policies.changes import Alteration, DeleteConfig, SetConfig

TOPIC, STATIC_BROKER, DEFAULT = "DYNAMIC_TOPIC_CONFIG", "STATIC_BROKER_CONFIG", "DEFAULT_CONFIG"
"""Origins that matter here, with Kafka's names; all others count alike."""


@dataclass(frozen=True, slots=True)
class TopicProperty:
    """A property of a topic, as a cluster describes it."""

    name: str
    value: str | None
    origin: str
    """`DYNAMIC_TOPIC_CONFIG`, `DEFAULT_CONFIG` ..."""
    read_only: bool = False
    sensitive: bool = False


def overrides_after(present: Iterable[TopicProperty], changes: Iterable[Alteration]) -> dict[str, str]:
    """Return all overrides of a topic after these changes."""
    found = {each.name: each.value for each in present if each.origin == TOPIC and each.value is not None}
    for change in changes:
        if isinstance(change, SetConfig):
            found[change.name] = change.new
        else:
            found.pop(change.name, None)
    return found


def not_known(topic: str, names: Iterable[str]) -> list[str]:
    """Return messages about properties that the target does not know."""
    return [f"topic {topic}: the target does not know the property {name}" for name in names]


class ConfigPropertyFilter:
    """Decides for one flow; `is_excluded` tells whether a name is in the list of exclusions."""

    def __init__(self, is_excluded: Callable[[str], bool], *, source_defaults: bool) -> None:
        self._is_excluded = is_excluded
        self._source_defaults = source_defaults

    def at_creation(
        self, source: Iterable[TopicProperty], known: Container[str] | None
    ) -> tuple[dict[str, str], list[str]]:
        """Return the overrides that a new topic gets, and the names of those that the target does not know.

        `known`: the names of all properties it knows; None: unknown.
        """
        wanted = {name: value for name, value in self._wanted(source) if value is not None}
        unknown = [name for name in wanted if known is not None and name not in known]
        return {name: value for name, value in wanted.items() if name not in unknown}, unknown

    def at_sync(
        self, topic: str, source: Iterable[TopicProperty], target: Iterable[TopicProperty]
    ) -> tuple[list[Alteration], list[str]]:
        """Return the changes for the target's `topic`, and the properties that the target does not know."""
        present = {each.name: each for each in target}
        changes: list[Alteration] = []
        unknown = []
        for name, value in self._wanted(source):
            now = present.get(name)
            override = now.value if now is not None and now.origin == TOPIC else None
            if now is None and value is not None:
                unknown.append(name)
            elif value is not None and value != override:
                changes.append(SetConfig(topic, name, override, value))
            elif value is None and override is not None:
                changes.append(DeleteConfig(topic, name, override))
        return changes, unknown

    def _wanted(self, source: Iterable[TopicProperty]) -> Iterator[tuple[str, str | None]]:
        """Name and value; None: the target's own default is to hold."""
        for each in source:
            if each.read_only or each.sensitive or each.origin == STATIC_BROKER or self._is_excluded(each.name):
                continue
            if each.origin == DEFAULT and not self._source_defaults:
                yield each.name, None
            elif each.value is not None:
                yield each.name, each.value
