"""The duty that creates missing target topics like the source's, and adds partitions to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene
from legacy_mm.features.topic_creation import trials
from legacy_mm.features.topic_creation.flags import CreationSettings
from legacy_mm.policies.changes import AddPartitions, CreateTopic, Inspection
from legacy_mm.policies.config_filter import ConfigPropertyFilter, TopicProperty, not_known


class TopicCreation:
    """`topic-creation`: partition counts, and at creation also the replication factor and the properties."""

    name = "topic-creation"

    def __init__(
        self,
        source: Admin,
        target: Admin,
        remote_name: Callable[[str], str],
        *,
        new: tuple[int, ConfigPropertyFilter] | None,
        grow: bool,
    ) -> None:
        """Take both clusters; `new` is how topics are created (replication factor, properties), None: none is created.

        `grow`: partitions are added; otherwise a topic that is too small is refused.
        """
        self._source, self._target = source, target
        self._remote_name = remote_name
        self._new = new
        self._grow = grow
        self.compacted: frozenset[str] = frozenset()
        """Topics of the source that keep the last record of each key, and have no copy yet."""

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        """Find the topics of the source to create or to grow; raises HostError."""
        counts, present = self._source.topics(deadline), self._target.topics(deadline)
        remote = {topic: self._remote_name(topic) for topic in sorted(topics) if topic in counts}
        missing = [topic for topic, name in remote.items() if name not in present]
        smaller = [topic for topic, name in remote.items() if present.get(name, counts[topic]) < counts[topic]]
        wanted, untold, troubles = self._missing(missing, remote, counts, present, deadline)
        tried = trials.creations(self._target, wanted, deadline)
        troubles += tried.troubles
        grown = [AddPartitions(remote[topic], present[remote[topic]], counts[topic]) for topic in smaller]
        if not self._grow:
            troubles += [_too_small(change) for change in grown]
            grown = []
        unfinished = bool(untold or tried.impossible)
        return Inspection((*tried.made, *grown), (*untold, *troubles), tuple(tried.notes), unfinished)

    def _missing(
        self,
        topics: Sequence[str],
        remote: Mapping[str, str],
        counts: Mapping[str, int],
        present: Collection[str],
        deadline: Deadline,
    ) -> tuple[list[CreateTopic], list[str], list[str]]:
        """Return topics to create, topics that the source does not describe, and properties that the target lacks."""
        if self._new is None or not topics:
            return [], [], []
        replication_factor, properties = self._new
        described, untold = self._source.properties(topics, deadline)
        known = self._known(remote.values(), present, deadline)
        self.compacted = frozenset(topic for topic, source in described.items() if _is_compacted(source))
        made: dict[str, CreateTopic] = {}
        troubles: list[str] = []
        for topic, source in described.items():
            configs, unknown = properties.at_creation(source, known)
            made.setdefault(remote[topic], CreateTopic(remote[topic], counts[topic], replication_factor, configs))
            troubles += not_known(remote[topic], unknown)
        return list(made.values()), [f"topic {topic}: {why}" for topic, why in untold.items()], troubles

    def _known(self, copies: Iterable[str], present: Collection[str], deadline: Deadline) -> set[str] | None:
        """Return the names of topic properties at the target, read from any topic; one of our copies is likelier to be
        visible.

        Returns None if there is no topic, or its properties cannot be read: the target then refuses properties it
        lacks.
        """
        any_topic = next((name for name in (*copies, *present) if name in present), None)
        if any_topic is None:
            return None
        described, _ = self._target.properties([any_topic], deadline)
        return {each.name for each in described[any_topic]} if described else None


def _is_compacted(properties: Iterable[TopicProperty]) -> bool:
    return any(each.name == "cleanup.policy" and "compact" in (each.value or "") for each in properties)


def _too_small(change: AddPartitions) -> str:
    return (
        f"topic {change.topic} has {change.old} partitions at the target and {change.new} at the source: records "
        "keep their partitions only if it grows"
    )


def scheduled(scene: DutyScene, settings: CreationSettings | None) -> Scheduled:
    """Return the duty; without settings it creates nothing, and finds a target with too few partitions."""
    new = None if settings is None else (settings.replication_factor, settings.filter.made(scene.names.in_list))
    duty = TopicCreation(
        scene.source, scene.target, scene.names.remote, new=new, grow=settings is not None and settings.grow
    )
    interval = scene.watch_interval if settings is None else settings.refresh_interval or math.inf
    return Scheduled(duty, interval, before_copying=True)
