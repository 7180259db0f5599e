"""The duty that creates the topics for copies of the source's heartbeats: no pattern of the user's names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene
from legacy_mm.features.trial_creations import numbered
from legacy_mm.policies.changes import BROKER_DEFAULT, CreateTopic, Inspection
from legacy_mm.policies.config_filter import TopicProperty


class HeartbeatCopies:
    """`heartbeat-copies`: creates missing topics. An existing one stays as it is."""

    name = "heartbeat-copies"

    def __init__(
        self,
        source: Admin,
        target: Admin,
        remote_name: Callable[[str], str],
        are_brought: Callable[[str], bool],
    ) -> None:
        """Take both clusters; `are_brought` returns True for a source topic that is mirrored for its heartbeats."""
        self._source, self._target = source, target
        self._remote_name = remote_name
        self._are_brought = are_brought

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        """Find the topics to create, whichever topics a canary has; raises HostError.

        A topic of the user's may be named like a copy of heartbeats: only those that are compacted at the source are
        compacted.
        """
        brought = {
            topic: partitions for topic, partitions in self._source.topics(deadline).items() if self._are_brought(topic)
        }
        there = self._target.topics(deadline) if brought else {}
        missing = sorted(topic for topic in brought if self._remote_name(topic) not in there)
        properties, _ = self._source.properties(missing, deadline)
        wanted = [
            CreateTopic(self._remote_name(topic), brought[topic], BROKER_DEFAULT, _cleanup(properties.get(topic, ())))
            for topic in missing
        ]
        found = numbered(self._target, wanted, deadline, "default.replication.factor of the brokers")
        return Inspection(tuple(found.wanted), notes=tuple(found.notes))


def _cleanup(properties: Iterable[TopicProperty]) -> dict[str, str]:
    """Return how the source removes old records; empty if that is unknown."""
    return {row.name: row.value for row in properties if row.name == "cleanup.policy" and row.value is not None}


def scheduled(scene: DutyScene) -> Scheduled:
    """Return the duty."""
    duty = HeartbeatCopies(scene.source, scene.target, scene.names.remote, scene.names.brings_heartbeats)
    return Scheduled(duty, scene.watch_interval, before_copying=True)
