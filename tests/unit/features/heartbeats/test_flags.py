"""The flags of heartbeats."""

from __future__ import annotations

import pytest

from legacy_mm.features import flags
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.heartbeats.flags import HeartbeatSettings

ALIASES = {"source.cluster.alias": ["a"], "target.cluster.alias": ["b"]}


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, None),
        ({"emit.heartbeats.enabled": "true"}, HeartbeatSettings(1.0, -1, replicated=True)),
        (
            {"emit.heartbeats.enabled": "true", "heartbeats.replication.enabled": "false"},
            HeartbeatSettings(1.0, -1),
        ),
        (
            {"heartbeats.replication.enabled": "true", "emit.heartbeats.interval.seconds": "2"},
            HeartbeatSettings(None, -1, replicated=True),
        ),
        (
            {
                "emit.heartbeats.enabled": "true",
                "emit.heartbeats.interval.seconds": "7",
                "heartbeats.topic.replication.factor": "3",
            },
            HeartbeatSettings(7.0, 3, replicated=True),
        ),
    ],
)
def test_heartbeats(given: dict[str, str], asked: HeartbeatSettings | None) -> None:
    read = flags.settings({name: [text] for name, text in given.items()}, ALIASES)
    assert read[HEARTBEATS] == asked
