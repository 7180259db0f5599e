"""The names under which a flow is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.naming.flags import NamingSettings
from legacy_mm.features.offset_syncs import flags
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.flow.flow_registry import flow_registry
from legacy_mm.flow.flow_topics import FlowTopics
from tests.unit.flow_settings import flow_settings


@pytest.mark.parametrize("on", [True, False])
def test_metrics_of_mirror_maker_2_come_with_offset_syncs(on: bool) -> None:
    syncs = flags.OffsetSyncSettings("source", -1, 100) if on else None
    naming = NamingSettings(source_alias="west", target_alias="east")
    settings = replace(flow_settings(), features=FeatureSettings(naming=naming).having(OFFSET_SYNCS, syncs))
    registry = flow_registry(settings, FlowTopics(settings.topics, settings.features, lambda _: None))  # type: ignore[arg-type, return-value]
    names = registry.mirror_names
    assert (None if names is None else (names.source, names.target)) == (("west", "east") if on else None)
