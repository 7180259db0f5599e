"""The membership of a consumer group, as streams need it: ours, or librdkafka's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from typing import Protocol

from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition


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
