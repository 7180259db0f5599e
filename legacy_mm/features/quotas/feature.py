"""The sync of client quotas."""

from __future__ import annotations

from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene, Feature
from legacy_mm.features.quotas import flags


def _duty(scene: DutyScene) -> Scheduled | None:
    settings = scene.features[QUOTAS]
    if settings is None:
        return None
    from legacy_mm.features.quotas.quota_sync import scheduled

    return scheduled(scene, settings)


QUOTAS = Feature("quotas", flags.FLAGS, flags.read, duty=_duty)
