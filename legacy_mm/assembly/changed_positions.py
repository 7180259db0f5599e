"""The positions of a flow that stands still, changed by a request, in whichever way the flow keeps them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import GroupOffsets, Offsets, TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.position_book import position_book


class ChangedPositions(Protocol):
    """Positions, and how they are changed; each method raises HostError and StreamFailure."""

    def is_in_use(self, deadline: Deadline) -> bool:
        """Return True while the flow runs somewhere."""

    def require_no_members(self, deadline: Deadline) -> None:
        """Raise HostError while the flow runs somewhere."""

    def offsets(self, deadline: Deadline) -> GroupOffsets:
        """Return all positions, each the next record to copy."""

    def commit(self, offsets: Offsets, deadline: Deadline) -> None:
        """Keep these positions."""

    def forget(self, partitions: Collection[TopicPartition], deadline: Deadline) -> None:
        """Let these partitions begin as new ones do."""


def changed_positions(settings: Settings) -> ChangedPositions:
    """Return the positions of a flow."""
    return position_book(settings) if settings.features[EXACTLY_ONCE] is None else _OfExactlyOnce(settings)


class _OfExactlyOnce:
    """Each change claims the bundles, so that whoever still copies is fenced: an offset alone would be a doubt."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._book = position_book(settings)

    def is_in_use(self, deadline: Deadline) -> bool:
        return self._book.is_in_use(deadline)

    def require_no_members(self, deadline: Deadline) -> None:
        self._book.require_no_members(deadline)

    def offsets(self, deadline: Deadline) -> GroupOffsets:
        return self._book.offsets(deadline)

    def commit(self, offsets: Offsets, deadline: Deadline) -> None:
        from legacy_mm.transactions.position_changes import PositionChanges

        PositionChanges(self._settings, deadline).move(offsets)

    def forget(self, partitions: Collection[TopicPartition], deadline: Deadline) -> None:
        source = self._settings.source
        ends = NativeInspector(self._settings.source_admin_connection).log_ends(partitions, deadline)
        at_the_end = source.offset_reset == "latest"
        self.commit({each: high if at_the_end else low for each, (low, high) in ends.items()}, deadline)
