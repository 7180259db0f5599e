"""Topic creation: missing target topics are made, and grow with their source."""

from __future__ import annotations

from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene, Feature
from legacy_mm.features.topic_creation import flags


def _duty(scene: DutyScene) -> Scheduled | None:
    """Return the duty also where no topic is created: it finds a target with too few partitions."""
    if not scene.features.preserve_partitions:
        return None
    from legacy_mm.features.topic_creation.creation import scheduled

    return scheduled(scene, scene.features[TOPIC_CREATION])


TOPIC_CREATION = Feature(
    "topic_creation",
    flags.FLAGS,
    flags.read,
    imply=flags.imply,
    expressions=lambda settings: settings.filter.expressions,
    duty=_duty,
)
