"""The duty that makes the topics which features keep for themselves, as MirrorMaker 2 makes its own."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.clock import Deadline
from legacy_mm.controlplane.administration import ClusterAdmin
from legacy_mm.policies.changes import CreateTopic, Look

COMPACTED = {"cleanup.policy": "compact"}
"""Only the newest record of each key counts."""


class InternalTopics:
    """`internal-topics`: those that are missing on one cluster. One that is there stays as it is."""

    name = "internal-topics"

    def __init__(self, cluster: ClusterAdmin, wanted: Mapping[str, int]) -> None:
        """`wanted`: topic -> replication factor."""
        self._cluster = cluster
        self._wanted = wanted

    def look(self, topics: frozenset[str], deadline: Deadline) -> Look:
        """What must be made, whatever is mirrored; raises HostError."""
        present = self._cluster.topics(deadline)
        missing = (topic for topic in self._wanted if topic not in present)
        return Look(tuple(CreateTopic(topic, 1, self._wanted[topic], COMPACTED) for topic in missing))
