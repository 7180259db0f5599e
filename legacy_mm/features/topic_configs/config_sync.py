"""The duty that keeps the properties of the target's topics as the source has them."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene
from legacy_mm.features.topic_configs.flags import ConfigSyncSettings
from legacy_mm.features.topic_creation import trials
from legacy_mm.policies.changes import Alteration, Inspection
from legacy_mm.policies.config_filter import ConfigPropertyFilter, not_known


class TopicConfigs:
    """`topic-configs`: only properties that differ are altered, one by one."""

    name = "topic-configs"

    def __init__(
        self,
        source: Admin,
        target: Admin,
        remote_name: Callable[[str], str],
        properties: ConfigPropertyFilter,
    ) -> None:
        self._source, self._target = source, target
        self._remote_name = remote_name
        self._filter = properties

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        """Find the differences in topics that exist on both sides; raises HostError."""
        there, here = self._source.topics(deadline), self._target.topics(deadline)
        remote = {topic: self._remote_name(topic) for topic in sorted(topics) if topic in there}
        remote = {topic: name for topic, name in remote.items() if name in here}
        wanted, untold = self._source.properties(remote, deadline)
        present, also_untold = self._target.properties(set(remote.values()), deadline)
        troubles = [f"topic {topic}: {why}" for topic, why in [*untold.items(), *also_untold.items()]]
        changes: list[Alteration] = []
        for topic, source in wanted.items():
            if (target := present.get(remote[topic])) is None:
                continue
            found, unknown = self._filter.at_sync(remote[topic], source, target)
            changes += found
            troubles += not_known(remote[topic], unknown)
        passing, refusals = trials.alterations(self._target, changes, deadline)
        return Inspection(tuple(passing), (*troubles, *refusals))


def scheduled(scene: DutyScene, settings: ConfigSyncSettings) -> Scheduled:
    """Return the duty."""
    properties = settings.filter.made(scene.names.in_list)
    return Scheduled(TopicConfigs(scene.source, scene.target, scene.names.remote, properties), settings.interval)
