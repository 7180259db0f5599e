"""The first start of a group with `latest`, made durable before any read: `--new.topics.from earliest`.

A group that has committed nothing yet begins at the end of each log, and after a kill at the new end: records between
the two are skipped (KAFKA-2759). So the ends are committed first, for all partitions in one request that only a group
without members may make. From then on a partition without an offset is a new one, and begins at its first record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.controlplane.positions import GapGuard

LogEnds = Mapping[TopicPartition, tuple[int, int]]
"""First offset, and the next offset to be written."""


class StartBook(Protocol):
    """The place in which a flow keeps its positions."""

    def has_started(self, topics: Collection[str], deadline: Deadline) -> bool:
        """Return True if a partition of one of these topics has a position. Raise HostError, StreamFailure."""

    def begin(self, starts: Offsets, deadline: Deadline) -> bool:
        """Keep the first positions; False if somebody has started meanwhile. Raise HostError, StreamFailure."""


class GroupStart:
    """Start offsets of one flow for the topics that exist before its first member."""

    def __init__(
        self,
        book: StartBook,
        log_ends: Callable[[Collection[str], Deadline], LogEnds],
        guard: GapGuard,
        timeout: float,
    ) -> None:
        """Take the book and the services; `log_ends` returns the log ends of the partitions of these topics.

        `log_ends` raises HostError, StreamFailure.
        """
        self._book = book
        self._log_ends = log_ends
        self._guard = guard
        self._timeout = timeout

    def keep(self, topics: Collection[str]) -> None:
        """Keep the log ends as the first positions, unless the flow has started before.

        (1) A flow with a position in one of these topics has started before. (2) Read the ends of their logs. (3) Keep
        them; where others are members, they have started, too. (4) Log what is skipped.

        Raises HostError, to be tried again, and StreamFailure.
        """
        deadline = Deadline.after(self._timeout)
        # (1)
        if self._book.has_started(topics, deadline):
            return
        # (2)
        ends = self._log_ends(topics, deadline)
        # (3)
        if not ends or not self._book.begin({each: high for each, (_, high) in ends.items()}, deadline):
            return
        # (4)
        for partition, (low, high) in sorted(ends.items()):
            self._guard.begun(partition, low, high)
