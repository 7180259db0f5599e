"""The filter of topic properties, as its flags say."""

from __future__ import annotations

from legacy_mm.features.topic_configs.flags import ConfigFilterSettings
from legacy_mm.policies.config_filter import TopicProperty


def test_properties_in_the_list_are_not_brought_over() -> None:
    brought = ConfigFilterSettings(("retention.ms",)).made(lambda expressions: expressions.__contains__)
    there = [TopicProperty(name, "7", "DYNAMIC_TOPIC_CONFIG") for name in ("retention.ms", "segment.ms")]
    assert brought.at_creation(there, None) == ({"segment.ms": "7"}, [])
