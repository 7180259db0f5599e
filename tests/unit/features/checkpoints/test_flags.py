"""The flags of checkpoints."""

from __future__ import annotations

from legacy_mm.features import flags
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.checkpoints.flags import CheckpointSettings, GroupFilterSettings
from tests.fixtures.flags import switched_on


def test_checkpoints() -> None:
    on = {name: [text] for name, text in switched_on(["emit.checkpoints.enabled"]).items()}
    mm2 = GroupFilterSettings((".*",), ("console-consumer-.*", "connect-.*", "__.*"))
    assert flags.settings(on)[CHECKPOINTS] == CheckpointSettings(60.0, -1, mm2, 600.0, None)
    more = {
        "emit.checkpoints.interval.seconds": ["5"],
        "checkpoints.topic.replication.factor": ["3"],
        "groups": ["a, b"],
        "groups.exclude": [""],
        "refresh.groups.enabled": ["false"],
        "sync.group.offsets.enabled": ["true"],
    }
    all_of_it = CheckpointSettings(5.0, 3, GroupFilterSettings(("a", "b"), ()), None, 60.0)
    assert flags.settings(on, more)[CHECKPOINTS] == all_of_it
