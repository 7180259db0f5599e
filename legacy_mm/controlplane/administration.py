"""The requests of duties to a cluster, whichever client sends them."""

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
    """Name of the cluster in errors."""

    @property
    def connection(self) -> Mapping[str, str]:
        """Return the properties with which any other client reaches the cluster."""

    def topics(self, deadline: Deadline) -> dict[str, int]:
        """Return topic -> number of partitions, for all topics the principal may see."""

    def cluster_id(self, deadline: Deadline) -> str:
        """Return the id of the cluster; empty for brokers before 0.10.1."""

    def properties(
        self, topics: Collection[str], deadline: Deadline
    ) -> tuple[dict[str, list[TopicProperty]], dict[str, str]]:
        """Return the properties of each topic, and topic -> reason for topics whose properties could not be read."""

    def broker_properties(self, deadline: Deadline) -> dict[str, str]:
        """Return the properties of one of the brokers; none if they cannot be read."""

    def create_topics(
        self, wanted: Sequence[CreateTopic], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[Outcome]:
        """Create these topics; a `trial` creates none."""

    def add_partitions(self, wanted: Sequence[AddPartitions], deadline: Deadline) -> Iterator[Outcome]:
        """Add these partitions."""

    def alter(self, wanted: Sequence[Alteration], deadline: Deadline, *, trial: bool = False) -> Iterator[Outcome]:
        """Set and remove these properties and no others.

        For one topic either all changes are made or none; a `trial` makes none.
        """

    def create_rules(self, wanted: Sequence[CreateAcl], deadline: Deadline) -> Iterator[Outcome]:
        """Add these access rules."""

    def delete_rules(self, wanted: Sequence[DeleteAcl], deadline: Deadline) -> Iterator[Outcome]:
        """Remove exactly these access rules."""
