"""The first start of a group with `latest`, made durable before any read: `--new.topics.from earliest`.

A group that has committed nothing yet begins at the end of each log, and after a kill at the new end: records between
the two are skipped (KAFKA-2759). So the ends are committed first, for all partitions in one request that only a group
without members may make. From then on a partition without an offset is a new one, and begins at its first record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from legacy_mm.clients.native import error_text
from legacy_mm.clients.native.groups import GroupAdmin, raise_untold
from legacy_mm.clock import Deadline
from legacy_mm.controlplane.positions import GapGuard
from legacy_mm.errors import StreamFailure
from legacy_mm.model import CommittedOffset, TopicPartition

LogEnds = Mapping[TopicPartition, tuple[int, int]]
"""First offset, and the next offset to be written."""


class GroupStart:
    """Start offsets of one group for the topics that exist before its first member."""

    def __init__(
        self,
        group: str,
        admin: GroupAdmin,
        log_ends: Callable[[Collection[str], Deadline], LogEnds],
        guard: GapGuard,
        timeout: float,
    ) -> None:
        """Take the group and its services; `log_ends` returns the log ends of the partitions of these topics.

        `log_ends` raises HostError, StreamFailure.
        """
        self._group = group
        self._admin = admin
        self._log_ends = log_ends
        self._guard = guard
        self._timeout = timeout

    def keep(self, topics: Collection[str]) -> None:
        """Commit the log ends as the group's first offsets, unless it has started before.

        (1) A group with an offset for one of these topics has started before. (2) Read the ends of their logs. (3)
        Commit them; a group with members refuses that, and has started, too. (4) Log what is skipped.

        Raises HostError, to be tried again, and StreamFailure.
        """
        deadline = Deadline.after(self._timeout)
        # (1)
        offsets, untold = self._admin.offsets([self._group], deadline)
        self._require_told(untold)
        if any(place.topic in topics and each.offset >= 0 for place, each in offsets[self._group].items()):
            return
        # (2)
        ends = self._log_ends(topics, deadline)
        if not ends:
            return
        # (3)
        starts = {partition: CommittedOffset(high) for partition, (_, high) in ends.items()}
        refused = self._admin.commit({self._group: starts}, deadline)
        if error_text.tells_of_members(refused.get(self._group, "")):
            return
        self._require_told(refused)
        # (4)
        for partition, (low, high) in sorted(ends.items()):
            self._guard.begun(partition, low, high)

    def _require_told(self, untold: Mapping[str, str]) -> None:
        """Raise StreamFailure if a right is missing, as joining the group would."""
        if (why := untold.get(self._group)) and error_text.forbids(why):
            raise StreamFailure(f"group {self._group} cannot be started: {why}")
        raise_untold(untold)
