"""What a membership of a consumer group is to the control plane, whichever client keeps it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from legacy_mm.clock import Deadline
from legacy_mm.model import Offsets, TopicPartition


class CommitProblem(Enum):
    """What a failed offset commit means for the stream."""

    RETRY = "the coordinator did not answer; keep the offsets and try again"
    REJOINING = "the generation is over; keep the offsets until the next assignment"
    LOST = "the group does not know us any more; the partitions are lost"
    FATAL = "no later try can succeed"


Failed = Mapping[TopicPartition, tuple[CommitProblem, str]]
"""Partitions whose commit failed, and why."""


class MembershipListener(Protocol):
    """Called inside `poll()` and `close()`, on the membership's thread."""

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """These came; with a cooperative assignor, in addition to what is owned."""

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """These go to somebody else once this returns."""

    def lost(self, partitions: frozenset[TopicPartition]) -> None:
        """These belong to somebody else already."""

    def committed(self, offsets: Offsets, failed: Failed) -> None:
        """Outcome of a commit: offsets that are durable, and partitions whose commit failed."""


class RebalanceListener(Protocol):
    """The user's own, in whatever language; called on a stream's thread. Raises StreamFailure."""

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """These came."""

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """These go."""


class Member(Protocol):
    """A member of the consumer group at the source. It fetches nothing. Rule: one thread makes every call."""

    name: str

    def subscribe(self, topics: Collection[str]) -> None:
        """Ask for these topics from the next rebalance on; none leaves the subscription."""

    def poll(self, timeout: float) -> None:
        """Serve the membership for at most `timeout` seconds. Raises StreamFailure when the group refuses us."""

    def committed(self, partitions: Iterable[TopicPartition], timeout: float) -> dict[TopicPartition, int]:
        """Committed offsets of the group; partitions without one are left out. Raises TimeoutError, StreamFailure."""

    def commit(self, offsets: Offsets) -> None:
        """Commit without waiting; the outcome comes to the listener out of a later `poll()`."""

    def close(self) -> None:
        """Leave the group."""


@dataclass(frozen=True, slots=True)
class PartitionView:
    """What the source says of one partition."""

    committed: int | None
    low: int
    high: int
    """The offset of the next record."""


class TopicLister(Protocol):
    """Names of all topics of a cluster that the principal may see."""

    def topics(self) -> list[str]:
        """All topic names; raises HostError when there is no answer in time."""

    def topic_ids(self, topics: Collection[str]) -> dict[str, str]:
        """The id of each topic, which a topic that is made again does not keep; brokers before 2.8 have none."""


class Survey(Protocol):
    """Questions to the source cluster, for `explain`. Each raises HostError where there is no answer in time."""

    def partitions(self, deadline: Deadline) -> dict[str, int]:
        """Topic -> number of partitions, of all topics the principal may see."""

    def views(
        self, group: str, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, PartitionView]:
        """Committed offset and log ends of each partition."""
