"""The sync of access rules."""

from __future__ import annotations

from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene, Feature
from legacy_mm.features.topic_acls import flags


def _duty(scene: DutyScene) -> Scheduled | None:
    settings = scene.features[TOPIC_ACLS]
    if settings is None:
        return None
    from legacy_mm.features.topic_acls.acl_sync import scheduled

    return scheduled(scene, settings)


TOPIC_ACLS = Feature("topic_acls", flags.FLAGS, flags.read, duty=_duty)
