"""The place of a flow's positions: its group at the source, or the place of MirrorMaker 2's workers.

The one door to them for the start, the tools, and what tells of earlier copies. While the flow copies, its members
commit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Protocol

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, StreamFailure
from legacy_mm.base.model import CommittedOffset, GroupOffsets, Lacking, Offsets, TopicPartition
from legacy_mm.clients.group.group_protocol import DescribedGroup
from legacy_mm.clients.group.groups import DEAD, EMPTY, GroupAdmin, require_no_members
from legacy_mm.clients.net import error_text
from legacy_mm.controlplane.positions import of_group
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.metrics.registry import Registry

if TYPE_CHECKING:
    from legacy_mm.clients.group.sharing import Sharing
    from legacy_mm.flow.connect_offset_topic import WorkersPlace


class PositionBook(Protocol):
    """The positions of one flow. Its questions raise HostError, and StreamFailure where a right is missing."""

    def offsets(self, deadline: Deadline) -> GroupOffsets:
        """Return all positions, each the next record to copy."""

    def lacking(self, partitions: Collection[TopicPartition], deadline: Deadline) -> Lacking:
        """Return those that have no position which counts."""

    def has_started(self, topics: Collection[str], deadline: Deadline) -> bool:
        """Return True if a partition of one of these topics has a position."""

    def is_in_use(self, deadline: Deadline) -> bool:
        """Return True while the flow runs somewhere."""

    def described(self, deadline: Deadline) -> DescribedGroup:
        """Return the group whose members copy the flow, with their partitions."""

    def require_no_members(self, deadline: Deadline) -> None:
        """Raise HostError while the flow runs somewhere."""

    def begin(self, starts: Offsets, deadline: Deadline) -> bool:
        """Keep the first positions; False if somebody has started meanwhile."""

    def commit(self, offsets: Offsets, deadline: Deadline) -> None:
        """Keep positions of a flow that does not run."""

    def forget(self, partitions: Collection[TopicPartition], deadline: Deadline) -> None:
        """Forget positions of a flow that does not run."""

    def set_position(self, place: TopicPartition, where: str) -> str:
        """Return how a person sets a position; `where` in words of kafka-consumer-groups.sh."""


class GroupBook:
    """The offsets of a consumer group at the source."""

    def __init__(self, group: str, admin: GroupAdmin) -> None:
        self._group = group
        self._admin = admin

    def offsets(self, deadline: Deadline) -> GroupOffsets:
        """Return what the group has committed."""
        found, untold = self._admin.offsets([self._group], deadline)
        self._require_told(untold, "read")
        return {place: each for place, each in found[self._group].items() if each.offset >= 0}

    def lacking(self, partitions: Collection[TopicPartition], deadline: Deadline) -> Lacking:
        """Return those for which the group has committed nothing."""
        known = self.offsets(deadline)
        return Lacking([partition for partition in partitions if partition not in known], {})

    def has_started(self, topics: Collection[str], deadline: Deadline) -> bool:
        """Return True if the group has an offset for one of these topics."""
        return any(place.topic in topics for place in self.offsets(deadline))

    def is_in_use(self, deadline: Deadline) -> bool:
        """Return True while the group has members; False also where nobody tells."""
        return self._admin.states([self._group], deadline)[0].get(self._group, EMPTY) not in (EMPTY, DEAD)

    def described(self, deadline: Deadline) -> DescribedGroup:
        """Return the group, with the partitions of its members."""
        return self._admin.described(self._group, deadline)

    def require_no_members(self, deadline: Deadline) -> None:
        """Raise HostError while the group has members."""
        require_no_members(self._admin, self._group, deadline)

    def begin(self, starts: Offsets, deadline: Deadline) -> bool:
        """Commit, which a group with members refuses."""
        refused = self._commit(starts, deadline)
        if error_text.tells_of_members(refused.get(self._group, "")):
            return False
        self._require_told(refused, "committed")
        return True

    def commit(self, offsets: Offsets, deadline: Deadline) -> None:
        """Commit for a group without members."""
        self._require_told(self._commit(offsets, deadline), "committed")

    def forget(self, partitions: Collection[TopicPartition], deadline: Deadline) -> None:
        """Delete offsets of a group without members."""
        refused = self._admin.forget(self._group, partitions, deadline)
        self._require_told({self._group: refused} if refused else {}, "deleted")

    def set_position(self, place: TopicPartition, where: str) -> str:
        """Return the command of Kafka's that resets the group."""
        return of_group(self._group)(place, where)

    def _commit(self, offsets: Offsets, deadline: Deadline) -> Mapping[str, str]:
        committed = {partition: CommittedOffset(offset) for partition, offset in offsets.items()}
        return self._admin.commit({self._group: committed}, deadline)

    def _require_told(self, untold: Mapping[str, str], what: str) -> None:
        """Raise StreamFailure if a right is missing, as joining the group would."""
        if why := untold.get(self._group):
            failure = StreamFailure if error_text.forbids(why) else HostError
            raise failure(f"offsets of group {self._group} cannot be {what}: {why}")


def workers_place(
    settings: Settings, registry: Registry | None = None, bundles: Callable[[str], Sharing] | None = None
) -> WorkersPlace | None:
    """Return the place of MirrorMaker 2's workers; None where its file does not ask for it (invariant E).

    `registry` counts what a flow asks while it runs, and `bundles` makes the sharing of its nodes where they copy
    exactly once.
    """
    offsets = settings.features[CONNECT_OFFSETS]
    if offsets is None:
        return None
    from legacy_mm.flow.connect_offset_topic import WorkersPlace

    return WorkersPlace(settings, offsets, registry, bundles)


def group_book(settings: Settings) -> GroupBook:
    """Return the offsets of the flow's group, where `workers_place` is None."""
    return GroupBook(settings.source.group_id, GroupAdmin("source", settings.source.connection))


def position_book(settings: Settings) -> PositionBook:
    """Return the place of a flow's positions, whichever it is."""
    return workers_place(settings) or group_book(settings)
