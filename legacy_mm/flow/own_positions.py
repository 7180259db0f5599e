"""Reads where the copying of a flow is, as the flow itself keeps it."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.clients.native.groups import GroupAdmin
from legacy_mm.clock import Deadline
from legacy_mm.features.checkpoints.group_translation import offsets_of
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.flow.connect_offset_topic import WorkersPlace
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.model import GroupOffsets


def own_positions(settings: Settings) -> Callable[[Deadline], GroupOffsets]:
    """Return the question for the flow's positions, which raises LegacyMMError: to its group at the source, or to the
    offsets topic of MirrorMaker 2's workers.
    """
    asked = settings.features[CONNECT_OFFSETS]
    if asked is not None:
        return WorkersPlace(settings, asked).offsets
    groups, group = GroupAdmin("source", settings.source_admin_connection), settings.source.group_id
    return lambda deadline: offsets_of(groups, group, deadline)
