"""The membership of one stream: its member of the group, and the partitions that the group gives it.

The stream's thread makes every call.
"""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.base.model import Offsets, TopicPartition, describe_partitions
from legacy_mm.clients.group.member import AssignmentListener, Member, MembershipListener
from legacy_mm.logs import events
from legacy_mm.metrics.registry import StreamMetrics


class StreamMembership:
    """One membership, from the first poll until the member leaves, with what the user's listener hears of it."""

    def __init__(
        self,
        stream: int,
        make_member: Callable[[MembershipListener], Member],
        pattern: str,
        metrics: StreamMetrics,
        listener: AssignmentListener | None = None,
    ) -> None:
        """Take the number of the stream and the maker of its member; `listener` is the user's."""
        self.stream = stream
        self.owned: frozenset[TopicPartition] = frozenset()
        self.generation = 0
        """Grows with each change of what is owned."""
        self._make_member = make_member
        self._pattern = pattern
        self._metrics = metrics
        self._listener = listener
        self._untold: list[frozenset[TopicPartition]] = []
        self._member: Member | None = None
        self._has_subscribed = False

    def join(self, listener: MembershipListener) -> None:
        """Make the member."""
        self._member = self._make_member(listener)

    @property
    def member(self) -> Member:
        """The member, between `join` and `leave`."""
        assert self._member is not None
        return self._member

    def leave(self) -> None:
        """Leave the group, if it was joined."""
        if self._member is not None:
            self._member.close()
            self._member = None

    def subscribe(self, topics: frozenset[str]) -> None:
        """Mirror these topics from the next rebalance on."""
        member = self.member
        if not self._has_subscribed:
            self._has_subscribed = True
            events.emit(events.SUBSCRIBED, client=member.name, pattern=self._pattern)
        member.subscribe(topics)
        if not topics:
            self._metrics.left_group()

    def commit(self, offsets: Offsets) -> None:
        """Send offsets to the group, without waiting."""
        self._metrics.commit_sent()
        self.member.commit(offsets)

    def commit_settled(self) -> None:
        """Note that the outcome of a commit has come."""
        self._metrics.commit_settled()

    # --- rebalances

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Add partitions that the group has given."""
        self.generation += 1
        self.owned |= partitions
        self._metrics.assigned(self.owned)
        if self._listener is not None:
            self._untold.append(partitions)
        if partitions:
            self._say(events.ASSIGNED, partitions)

    def tell_assigned(self) -> None:
        """Call the user's listener once for each assignment, before the copy job or the revocation."""
        while self._untold and self._listener is not None:
            self._listener.assigned(self._untold.pop(0))

    def released(self, partitions: frozenset[TopicPartition]) -> None:
        """Drop partitions whose copying has ended."""
        self.generation += 1
        self.owned -= partitions
        self._metrics.owns(self.owned)

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Tell of partitions that were released because the group revokes them, also to the user's listener."""
        if partitions:
            self._say(events.REVOKED, partitions)
        if self._listener is not None:
            self.tell_assigned()
            self._listener.revoked(partitions)

    def lost(self, partitions: frozenset[TopicPartition]) -> frozenset[TopicPartition]:
        """Return what somebody else owns by now, before it is released. An empty set means all partitions."""
        self._metrics.left_group()
        gone = partitions or self.owned
        if gone:
            self._say(events.LOST, gone)
        return gone

    def _say(self, event: events.Event, partitions: frozenset[TopicPartition]) -> None:
        described = describe_partitions(partitions)
        events.emit(event, stream=self.stream, generation=self.generation, partitions=described)
