"""The duty that creates the features' own topics, as MirrorMaker 2 creates its own."""

from __future__ import annotations

import math
from collections.abc import Mapping

from legacy_mm.clients.api import Admin
from legacy_mm.clock import Deadline
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene
from legacy_mm.policies.changes import CreateTopic, Look

COMPACTED = {"cleanup.policy": "compact"}
"""Topic properties that keep only the newest record of each key."""


class InternalTopics:
    """`internal-topics`: creates missing topics on one cluster. An existing one stays as it is."""

    name = "internal-topics"

    def __init__(self, cluster: Admin, wanted: Mapping[str, int], partitions: Mapping[str, int] | None = None) -> None:
        """Take the cluster; `wanted` is topic -> replication factor; `partitions`: of those with more than one."""
        self._cluster = cluster
        self._wanted = wanted
        self._partitions = partitions or {}

    def look(self, topics: frozenset[str], deadline: Deadline) -> Look:
        """Find the topics to create, whatever is mirrored; raises HostError."""
        present = self._cluster.topics(deadline)
        missing = (topic for topic in self._wanted if topic not in present)
        return Look(
            tuple(
                CreateTopic(topic, self._partitions.get(topic, 1), self._wanted[topic], COMPACTED) for topic in missing
            )
        )


def scheduled(scene: DutyScene) -> Scheduled | None:
    """Return the duty at the target, or None if no feature has a topic of its own there."""
    wanted, stored = scene.names.own_at_target, scene.features[CONNECT_OFFSETS]
    if not wanted:
        return None
    several = {} if stored is None else {stored.topic: stored.partitions}
    return Scheduled(InternalTopics(scene.target, wanted, several), math.inf, before_copying=True)
