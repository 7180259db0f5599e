"""The things that clients can do, whichever library does it: membership, sending, questions, requests of an admin."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import CommittedOffset, Offsets, Outgoing, TopicPartition
from legacy_mm.policies.changes import (
    AddPartitions,
    Alteration,
    ChangeOutcome,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
)
from legacy_mm.policies.config_filter import TopicProperty

_LAST_NODE = 2_147_483_647


def coordinator_node(broker: int) -> int:
    """Return the node that the connection to a coordinator is counted as: one of its own, as in Java's client."""
    return _LAST_NODE - broker


class CommitProblem(Enum):
    """Consequence of a failed offset commit for the stream."""

    RETRY = "the coordinator did not answer; keep the offsets and try again"
    REJOINING = "the generation is over; keep the offsets until the next assignment"
    LOST = "the group does not know us any more; the partitions are lost"
    FATAL = "no later try can succeed"


Failed = Mapping[TopicPartition, tuple[CommitProblem, str]]
"""Partitions whose commit failed, and why."""


class MembershipListener(Protocol):
    """Called inside `poll()` and `close()`, on the membership's thread."""

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Take over these partitions; with a cooperative assignor, in addition to those owned."""

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Give up these partitions; another member gets them once this returns."""

    def lost(self, partitions: frozenset[TopicPartition]) -> None:
        """Drop these partitions; another member owns them already."""

    def committed(self, offsets: Offsets, failed: Failed) -> None:
        """Receive the outcome of a commit: offsets that are durable, and partitions whose commit failed."""


class AssignmentListener(Protocol):
    """The user's rebalance listener, in Python or Java; called on a stream's thread. Raises StreamFailure."""

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Receive the partitions that were assigned."""

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Receive the partitions that are revoked."""


class Member(Protocol):
    """A member of the consumer group at the source. It fetches nothing. Rule: one thread makes every call."""

    name: str

    def subscribe(self, topics: Collection[str]) -> None:
        """Ask for these topics from the next rebalance on; no topic leaves the subscription."""

    def poll(self, timeout: float) -> None:
        """Serve the membership for at most `timeout` seconds.

        Raises StreamFailure when the group refuses this member.
        """

    def committed(self, partitions: Iterable[TopicPartition], timeout: float) -> dict[TopicPartition, CommittedOffset]:
        """Return the committed offsets of the group; partitions without one are left out.

        Raises TimeoutError, StreamFailure.
        """

    def commit(self, offsets: Offsets) -> None:
        """Commit without waiting; a later `poll()` gives the outcome to the listener."""

    def close(self) -> None:
        """Leave the group."""


class GenerationMember(Member, Protocol):
    """A member that knows the generation of its group, and can prove that it is in it."""

    @property
    def generation(self) -> int:
        """The group's generation; -1: none."""

    def ask_heartbeat(self) -> None:
        """Send a heartbeat at once."""

    def confirmed_after(self, moment: float) -> bool:
        """Return True if a heartbeat that was sent after this moment was answered with success."""


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


class RefusedRecord(NamedTuple):
    """A record that the target will not have."""

    topic: str
    reason: str


class Producer(Protocol):
    """Sends single records to the target. Rule: one thread makes every call."""

    def send(self, records: Sequence[Outgoing]) -> list[RefusedRecord]:
        """Send these in their order; return those that the target refuses when all others are acknowledged.

        Raises SendFailure for what is no record, HostError when nothing is acknowledged any more.
        """

    def close(self) -> None:
        """Close the connections."""


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
