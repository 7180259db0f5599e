"""Whether a flow makes the topics of the heartbeats that it mirrors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from legacy_mm.features.feature import DutyScene, FeatureSettings, TopicNames
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.heartbeats.flags import HeartbeatSettings
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.features.topic_creation.flags import CreationSettings
from tests.fakes.admin import FakeAdmin

NAMES = TopicNames(str, frozenset, lambda expressions: expressions.__contains__)


EMITTED = FeatureSettings().having(HEARTBEATS, HeartbeatSettings(1.0, -1))


MIRRORED = FeatureSettings().having(HEARTBEATS, HeartbeatSettings(1.0, -1, replicated=True))


CREATED = MIRRORED.having(TOPIC_CREATION, CreationSettings(-1, ConfigFilterSettings(())))


@pytest.mark.parametrize(
    ("features", "made"),
    [
        (FeatureSettings(), False),
        (EMITTED, False),
        (MIRRORED, True),
        (CREATED, False),
        (replace(CREATED, canary="orders"), True),
    ],
    ids=["off", "emitted", "mirrored", "topic creation makes them", "but not outside its scope"],
)
def test_topics_of_copies_are_made_where_nobody_else_makes_them(features: FeatureSettings, made: bool) -> None:
    assert HEARTBEATS.duty is not None
    assert (HEARTBEATS.duty(DutyScene(features, FakeAdmin(), FakeAdmin(), NAMES, 300.0)) is not None) == made
