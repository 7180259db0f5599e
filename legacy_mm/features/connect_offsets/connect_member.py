"""A member of the workers' group at the target, whose offsets are records of the offsets topic."""

from __future__ import annotations

import queue
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.clients.group.member import CommitProblem, Failed, GenerationMember, MembershipListener
from legacy_mm.features.connect_offsets.offsets_topic import OffsetsTopic

_FLUSH_TIMEOUT = 10.0
"""The time that a partition's next owner waits at most for the last offset of this one."""


class _Outcome(NamedTuple):
    partition: TopicPartition
    offset: int
    reason: str | None


class ConnectMember:
    """Membership by the group, offsets by the topic. Rule: one thread makes every call."""

    def __init__(
        self,
        join: Callable[[MembershipListener], GenerationMember],
        listener: MembershipListener,
        positions: OffsetsTopic,
        commit_metadata: str = "",
    ) -> None:
        """Take the flow's positions; `join` makes the member; `commit_metadata` goes with every offset."""
        self._outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        self._listener = listener
        self._positions = positions
        self._commit_metadata = commit_metadata
        self._member = join(_Flushed(listener, self._flush))
        self.name = self._member.name

    def subscribe(self, topics: Collection[str]) -> None:
        """Ask for these topics from the next rebalance on; no topic leaves the subscription."""
        self._member.subscribe(topics)

    def poll(self, timeout: float) -> None:
        """Serve the membership for at most `timeout` seconds. Raises StreamFailure when the group refuses us."""
        self._member.poll(timeout)
        self._positions.poll()
        self._tell()

    def committed(self, partitions: Iterable[TopicPartition], timeout: float) -> dict[TopicPartition, CommittedOffset]:
        """Return the stored positions; omit partitions without one. Raise TimeoutError when nothing moves so long."""
        try:
            return self._positions.positions(list(partitions), timeout)
        except HostError as error:
            raise TimeoutError(str(error)) from error

    @property
    def generation(self) -> int:
        """The generation that gave this member its partitions; -1: none."""
        return self._member.generation

    def ask_heartbeat(self) -> None:
        """Send a heartbeat at once, for `confirmed_after`."""
        self._member.ask_heartbeat()

    def confirmed_after(self, moment: float) -> bool:
        """Return True if a heartbeat of the present generation was sent after `moment` and answered with success."""
        return self._member.confirmed_after(moment)

    def commit(self, offsets: Offsets) -> None:
        """Commit without waiting; the outcome comes to the listener out of a later `poll()`."""
        if self._member.generation < 0:  # another node may own the partitions
            why = CommitProblem.REJOINING, "no generation"
            self._listener.committed({}, dict.fromkeys(offsets, why))
            return
        self._positions.write(offsets, self._commit_metadata, self._written)

    def close(self) -> None:
        """Leave the group, once what is under way is stored."""
        try:
            self._member.close()
        finally:
            self._flush()

    def _written(self, partition: TopicPartition, offset: int, reason: str | None) -> None:
        self._outcomes.put(_Outcome(partition, offset, reason))

    def _flush(self) -> None:
        self._positions.flush(Deadline.after(_FLUSH_TIMEOUT))
        self._tell()

    def _tell(self) -> None:
        done: dict[TopicPartition, int] = {}
        failed: dict[TopicPartition, tuple[CommitProblem, str]] = {}
        while not self._outcomes.empty():
            partition, offset, reason = self._outcomes.get()
            if reason is None:
                done[partition] = offset
                failed.pop(partition, None)
            else:
                failed[partition] = CommitProblem.RETRY, reason
        if done or failed:
            self._listener.committed(done, failed)


class _Flushed:
    """The listener, whose last offsets are stored before another node gets the partitions."""

    def __init__(self, listener: MembershipListener, flush: Callable[[], None]) -> None:
        self._listener = listener
        self._flush = flush
        self.assigned = listener.assigned
        self.lost = listener.lost

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Pass it on, then wait."""
        self._listener.revoked(partitions)
        self._flush()

    def committed(self, offsets: Offsets, failed: Failed) -> None:
        """Pass it on: the group has no offsets of its own, so it never comes."""
        self._listener.committed(offsets, failed)
