"""The flags of offset syncs."""

from __future__ import annotations

from legacy_mm.features import flags
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.features.offset_syncs.flags import OffsetSyncSettings

ALIASES = {"source.cluster.alias": ["a"], "target.cluster.alias": ["b"]}


def test_offset_syncs() -> None:
    on = {"emit.offset-syncs.enabled": ["true"], "topic.creation": ["true"]}
    assert flags.settings(on, ALIASES)[OFFSET_SYNCS] == OffsetSyncSettings("source", -1, 100)
    more = {
        "offset-syncs.topic.location": ["target"],
        "offset-syncs.topic.replication.factor": ["3"],
        "offset.lag.max": ["0"],
    }
    assert flags.settings(on, more, ALIASES)[OFFSET_SYNCS] == OffsetSyncSettings("target", 3, 0)
