"""The duty that makes the topics which copies of the source's heartbeats go to: no pattern of the user's names them."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.clock import Deadline
from legacy_mm.controlplane.administration import ClusterAdmin
from legacy_mm.controlplane.internal_topics import COMPACTED
from legacy_mm.policies.changes import BROKER_DEFAULT, CreateTopic, Look


class HeartbeatCopies:
    """`heartbeat-copies`: those that are missing. One that is there stays as it is."""

    name = "heartbeat-copies"

    def __init__(
        self,
        source: ClusterAdmin,
        target: ClusterAdmin,
        remote_name: Callable[[str], str],
        are_brought: Callable[[str], bool],
    ) -> None:
        """`are_brought`: whether a topic of the source is mirrored for its heartbeats."""
        self._source, self._target = source, target
        self._remote_name = remote_name
        self._are_brought = are_brought

    def look(self, topics: frozenset[str], deadline: Deadline) -> Look:
        """What must be made, whichever topics a canary has; raises HostError."""
        found = {
            self._remote_name(topic): partitions
            for topic, partitions in self._source.topics(deadline).items()
            if self._are_brought(topic)
        }
        missing = found.keys() - self._target.topics(deadline).keys() if found else set()
        return Look(tuple(CreateTopic(name, found[name], BROKER_DEFAULT, COMPACTED) for name in sorted(missing)))
