"""Heartbeats: those of this flow, and copies of those of flows before it."""

from __future__ import annotations

from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene, Feature
from legacy_mm.features.heartbeats import flags
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION


def _duty(scene: DutyScene) -> Scheduled | None:
    """Make the topics of the copies, unless topic creation does."""
    features = scene.features
    settings, created = features[HEARTBEATS], features[TOPIC_CREATION] is not None and not features.canary
    if settings is None or not settings.replicated or created:
        return None
    from legacy_mm.features.heartbeats.heartbeat_copies import scheduled

    return scheduled(scene)


HEARTBEATS = Feature("heartbeats", flags.FLAGS, flags.read, imply=flags.imply, duty=_duty)
"""The emitter is a thread of a flow: `flow/topic_features.py`."""
