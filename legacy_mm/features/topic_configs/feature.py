"""The sync of topic properties."""

from __future__ import annotations

from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene, Feature
from legacy_mm.features.topic_configs import flags


def _duty(scene: DutyScene) -> Scheduled | None:
    settings = scene.features[TOPIC_CONFIGS]
    if settings is None:
        return None
    from legacy_mm.features.topic_configs.config_sync import scheduled

    return scheduled(scene, settings)


TOPIC_CONFIGS = Feature(
    "topic_configs",
    flags.FLAGS,
    flags.read,
    expressions=lambda settings: settings.filter.expressions,
    duty=_duty,
)
