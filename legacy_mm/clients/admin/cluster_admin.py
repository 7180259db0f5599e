"""One cluster, as duties and looks see it. What asks it is in `admin.py` and `inspector.py`, which load slowly."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.policies.changes import (
    AddPartitions,
    Alteration,
    ChangeOutcome,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
    SetQuota,
)
from legacy_mm.policies.config_filter import TopicProperty


@dataclass(frozen=True, slots=True)
class PartitionView:
    """One partition as the source reports it."""

    committed: int | None
    low: int
    high: int
    """The offset of the next record."""
    readable: int
    """The offset at which reading ends for now: before an open transaction, if only committed records are read."""


class TopicLister(Protocol):
    """All topics of a cluster that the principal may see."""

    def topics(self) -> Mapping[str, str]:
        """Return each topic and its id, which changes when it is recreated; raise HostError if no answer is in time.

        Brokers before 2.8 have no ids: all are empty.
        """

    def close(self) -> None:
        """End a connection that was kept."""


class Admin(Protocol):
    """One cluster. Any thread may call it. A request that fails as a whole raises HostError."""

    name: str
    """Name of the cluster in errors."""

    @property
    def connection(self) -> ConnectionSettings:
        """Return the way on which any other client reaches the cluster."""

    def topics(self, deadline: Deadline) -> dict[str, int]:
        """Return topic -> number of partitions, for all topics the principal may see."""

    def cluster_id(self, deadline: Deadline) -> str:
        """Return the id of the cluster; empty for brokers before 0.10.1."""

    def cluster_ids(self, deadline: Deadline) -> tuple[str, ...]:
        """Return all ids that brokers tell, `cluster_id` last: several where addresses lead to several clusters."""

    def properties(
        self, topics: Collection[str], deadline: Deadline
    ) -> tuple[dict[str, list[TopicProperty]], dict[str, str]]:
        """Return the properties of each topic, and topic -> reason for topics whose properties could not be read."""

    def broker_properties(self, deadline: Deadline) -> dict[str, str]:
        """Return the properties of one of the brokers; none if they cannot be read."""

    def create_topics(
        self, wanted: Sequence[CreateTopic], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[ChangeOutcome]:
        """Create these topics; a `trial` creates none."""

    def add_partitions(self, wanted: Sequence[AddPartitions], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Add these partitions."""

    def alter(
        self, wanted: Sequence[Alteration], deadline: Deadline, *, trial: bool = False
    ) -> Iterator[ChangeOutcome]:
        """Set and remove these properties and no others.

        For one topic either all changes are made or none; a `trial` makes none.
        """

    def create_rules(self, wanted: Sequence[CreateAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Add these access rules."""

    def delete_rules(self, wanted: Sequence[DeleteAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Remove exactly these access rules."""

    def set_quotas(self, wanted: Sequence[SetQuota], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Set these limits and no others; for one entity either all are set or none."""
