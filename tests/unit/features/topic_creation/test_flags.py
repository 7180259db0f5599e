"""The flags of topic creation."""

from __future__ import annotations

from legacy_mm.features import flags
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.features.topic_creation.flags import CreationSettings


def test_creation() -> None:
    read = flags.settings({"topic.creation": ["true"], "use.defaults.from": ["source"]})
    assert read.preserve_partitions
    creation = read[TOPIC_CREATION]
    assert creation is not None
    assert (creation.replication_factor, creation.refresh_interval, creation.grow) == (-1, 600.0, True)
    assert creation.filter.source_defaults
    assert r"min\.insync\.replicas" in creation.filter.exclude
    still = flags.settings(
        {"topic.creation": ["true"], "refresh.topics": [], "refresh.topics.enabled": ["false"]},
        {"config.properties.exclude": [""], "topic.creation.fewer.partitions": ["refuse"]},
    )
    assert still[TOPIC_CREATION] == CreationSettings(-1, ConfigFilterSettings(()))
