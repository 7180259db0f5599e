"""What a feature makes its duty of."""

from __future__ import annotations

from legacy_mm.features.duty_scene import DutyScene, TopicNames
from legacy_mm.features.feature_settings import FeatureSettings
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings
from legacy_mm.policies.config_filter import TopicProperty
from tests.fakes.admin import FakeAdmin


def test_properties_in_the_list_are_not_brought_over() -> None:
    names = TopicNames(str, frozenset, lambda expressions: expressions.__contains__)
    scene = DutyScene(FeatureSettings(), FakeAdmin(), FakeAdmin(), names, 300.0)
    brought = scene.properties(ConfigFilterSettings(("retention.ms",)))
    there = [TopicProperty(name, "7", "DYNAMIC_TOPIC_CONFIG") for name in ("retention.ms", "segment.ms")]
    assert brought.at_creation(there, None) == ({"segment.ms": "7"}, [])
