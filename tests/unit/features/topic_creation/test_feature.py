"""What topic creation implies, and its duty where no topic is created."""

from __future__ import annotations

import pytest

from legacy_mm.features.feature import DutyScene, FeatureSettings, TopicNames
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.features.topic_creation.flags import CreationSettings
from tests.fakes.admin import FakeAdmin

NAMES = TopicNames(str, frozenset, lambda expressions: expressions.__contains__)


SETTINGS = CreationSettings(-1, ConfigFilterSettings(("a", "b")), grow=True, refresh_interval=7.0)


@pytest.mark.parametrize(
    ("features", "interval"),
    [
        (FeatureSettings(), None),
        (FeatureSettings(preserve_partitions=True), 300.0),
        (FeatureSettings(preserve_partitions=True).having(TOPIC_CREATION, SETTINGS), 7.0),
    ],
)
def test_partitions_are_looked_at_where_they_are_preserved(features: FeatureSettings, interval: float | None) -> None:
    assert TOPIC_CREATION.duty is not None
    made = TOPIC_CREATION.duty(DutyScene(features, FakeAdmin(), FakeAdmin(), NAMES, 300.0))
    assert (made and made.interval) == interval


def test_expressions_of_its_filter_are_tried() -> None:
    assert TOPIC_CREATION.expressions(SETTINGS) == {"config.properties.exclude": ("a", "b")}
