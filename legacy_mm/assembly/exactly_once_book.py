"""The positions of a flow that copies exactly once and stands still, changed by a request."""

from __future__ import annotations

from collections.abc import Collection

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import GroupOffsets, Offsets, TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.position_book import position_book


class ExactlyOnceBook:
    """Each change claims the bundles, so that whoever still copies is fenced: an offset alone would be a doubt.

    Methods are those of `PositionBook`; each raises HostError and StreamFailure.
    """

    def __init__(self, settings: Settings) -> None:
        """Take the flow."""
        self._settings = settings
        self._book = position_book(settings)

    def is_in_use(self, deadline: Deadline) -> bool:
        """Return True while the flow runs somewhere."""
        return self._book.is_in_use(deadline)

    def require_no_members(self, deadline: Deadline) -> None:
        """Raise HostError while the flow runs somewhere."""
        self._book.require_no_members(deadline)

    def offsets(self, deadline: Deadline) -> GroupOffsets:
        """Return the offsets that were committed beside the positions."""
        return self._book.offsets(deadline)

    def commit(self, offsets: Offsets, deadline: Deadline) -> None:
        """Make these offsets the positions."""
        from legacy_mm.transactions.position_changes import PositionChanges

        PositionChanges(self._settings, deadline).move(offsets)

    def forget(self, partitions: Collection[TopicPartition], deadline: Deadline) -> None:
        """Let these partitions begin where new ones would."""
        source = self._settings.source
        ends = NativeInspector(self._settings.source_admin_connection).log_ends(partitions, deadline)
        at_the_end = source.offset_reset == "latest"
        self.commit({each: high if at_the_end else low for each, (low, high) in ends.items()}, deadline)
