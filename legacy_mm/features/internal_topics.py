"""The duty that creates the features' own topics, as MirrorMaker 2 creates its own."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene
from legacy_mm.features.trial_creations import creation_errors, numbered
from legacy_mm.policies.changes import BROKER_DEFAULT, CreateTopic, Inspection

_FACTORS = "heartbeats.topic.replication.factor, checkpoints.topic.replication.factor and so on"
COMPACTED = {"cleanup.policy": "compact"}
"""Topic properties that keep only the newest record of each key."""


class InternalTopics:
    """`internal-topics`: creates missing topics on one cluster. An existing one stays as it is."""

    name = "internal-topics"

    def __init__(
        self,
        cluster: Admin,
        wanted: Mapping[str, int],
        partitions: Mapping[str, int] | None = None,
        dispensable: Collection[str] = (),
    ) -> None:
        """Take the cluster; `wanted` is topic -> replication factor; `partitions`: of those with more than one;
        `dispensable`: those that MirrorMaker 2 does not have, so its rights need not allow them.
        """
        self._cluster = cluster
        self._dispensable = dispensable
        self._wanted = wanted
        self._partitions = partitions or {}

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        """Find the topics to create, whatever is mirrored; raises HostError."""
        present = self._cluster.topics(deadline)
        missing = [
            CreateTopic(topic, self._partitions.get(topic, 1), self._wanted[topic], COMPACTED)
            for topic in self._wanted
            if topic not in present
        ]
        given, notes = self._given(missing, deadline)
        tried = [each for each in given if each.topic in self._dispensable]
        refused = creation_errors(self._cluster, tried, deadline)
        notes += [f"topic {topic} is not made, and everything else goes on: {why}" for topic, why in refused.items()]
        return Inspection(tuple(each for each in given if each.topic not in refused), notes=tuple(notes))

    def _given(self, missing: Sequence[CreateTopic], deadline: Deadline) -> tuple[Sequence[CreateTopic], list[str]]:
        """Return the topics as the brokers take them, and notes; those with a number are not tried."""
        if all(each.replication_factor != BROKER_DEFAULT for each in missing):
            return missing, []
        found = numbered(self._cluster, missing, deadline, _FACTORS)
        return found.wanted, found.notes


def scheduled(scene: DutyScene) -> Scheduled | None:
    """Return the duty at the target, or None if no feature has a topic of its own there."""
    wanted, stored = scene.names.own_at_target, scene.features[CONNECT_OFFSETS]
    if not wanted:
        return None
    several = {} if stored is None else {stored.topic: stored.partitions}
    duty = InternalTopics(scene.target, wanted, several, scene.names.dispensable)
    return Scheduled(duty, math.inf, before_copying=True)
