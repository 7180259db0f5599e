"""What duties ask of a cluster and change at it, whichever client does it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from legacy_mm.clock import Deadline
from legacy_mm.policies.changes import (
    AddPartitions,
    Alteration,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
    Outcome,
)
from legacy_mm.policies.config_filter import TopicProperty


class ClusterAdmin(Protocol):
    """One cluster. Any thread may call it. A request that fails as a whole raises HostError."""

    name: str
    """Tells the clusters apart in errors."""

    @property
    def connection(self) -> Mapping[str, str]:
        """How any other client reaches the cluster."""

    def topics(self, deadline: Deadline) -> dict[str, int]:
        """Topic -> number of partitions, of all topics the principal may see."""

    def cluster_id(self, deadline: Deadline) -> str:
        """What tells the cluster from all others; empty for brokers of before 0.10.1."""

    def properties(
        self, topics: Collection[str], deadline: Deadline
    ) -> tuple[dict[str, list[TopicProperty]], dict[str, str]]:
        """The properties of each topic, and of those that are not told, why."""

    def broker_properties(self, deadline: Deadline) -> dict[str, str]:
        """The properties of one of its brokers; none where they are not told."""

    def create_topics(
        self, wanted: Sequence[CreateTopic], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[Outcome]:
        """Make these topics; in a `trial` none is made."""

    def add_partitions(self, wanted: Sequence[AddPartitions], deadline: Deadline) -> Iterator[Outcome]:
        """Let these topics grow."""

    def alter(self, wanted: Sequence[Alteration], deadline: Deadline, *, trial: bool = False) -> Iterator[Outcome]:
        """Set and remove these properties and no others; of one topic all or none; in a `trial` none."""

    def create_rules(self, wanted: Sequence[CreateAcl], deadline: Deadline) -> Iterator[Outcome]:
        """Add these access rules."""

    def delete_rules(self, wanted: Sequence[DeleteAcl], deadline: Deadline) -> Iterator[Outcome]:
        """Remove exactly these access rules."""
