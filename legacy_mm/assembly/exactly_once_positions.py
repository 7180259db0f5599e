"""The positions of a flow that copies exactly once and stands still, changed by a request."""

from __future__ import annotations

from collections.abc import Collection

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.flow.flow_settings import Settings


def move_positions(
    settings: Settings, moved: Offsets, forgotten: Collection[TopicPartition], deadline: Deadline
) -> None:
    """Make these offsets the positions, and let forgotten partitions begin where new ones would.

    The bundles are claimed, so that whoever still copies is fenced: an offset alone would be a doubt. Raises HostError
    and StreamFailure.
    """
    from legacy_mm.transactions.position_changes import PositionChanges

    ends = NativeInspector(settings.source_admin_connection).log_ends(forgotten, deadline)
    at_the_end = settings.source.offset_reset == "latest"
    begins = {each: high if at_the_end else low for each, (low, high) in ends.items()}
    PositionChanges(settings, deadline).move({**moved, **begins})
