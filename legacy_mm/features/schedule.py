"""The duties that a flow's features ask for: the same ones for the mirror and for `legacy-mm plan`.

Each feature makes its own duty: its line stands in `_DUTIES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from legacy_mm.clients.api import Admin
from legacy_mm.features import internal_topics
from legacy_mm.features.duties import Applier, Scheduled
from legacy_mm.features.duty_scene import DutyScene, TopicNames
from legacy_mm.features.feature_settings import FeatureSettings
from legacy_mm.features.heartbeats import heartbeat_copies
from legacy_mm.features.internal_topics import InternalTopics
from legacy_mm.features.topic_acls import acl_sync
from legacy_mm.features.topic_acls.made_rules import MadeRules, state_folder
from legacy_mm.features.topic_configs import config_sync
from legacy_mm.features.topic_creation import creation

_DUTIES: tuple[Callable[[DutyScene], Scheduled | None], ...] = (
    internal_topics.scheduled,
    creation.scheduled,
    heartbeat_copies.scheduled,
    config_sync.scheduled,
    acl_sync.scheduled,
)
"""In the order in which they run: topics before what depends on them."""


def feature_duties(
    features: FeatureSettings, source: Admin, target: Admin, names: TopicNames, watch_interval: float
) -> tuple[list[Scheduled], Applier]:
    """Return the duties that are switched on, with their schedules, and the applier of their changes.

    `watch_interval` is the interval at which the legacy tool looks for topics.
    """
    made = MadeRules(state_folder()) if features.acl_sync is not None and features.acl_sync.remove else None
    scene = DutyScene(features, source, target, names, watch_interval, made)
    found = [duty for scheduled in _DUTIES if (duty := scheduled(scene)) is not None]
    return found, Applier(target, made)


def source_duties(source: Admin, names: TopicNames) -> list[Scheduled]:
    """Return the duties at the source, whose administrator may have to allow them."""
    wanted = names.own_at_source
    return [Scheduled(InternalTopics(source, wanted), math.inf, before_copying=True)] if wanted else []
