"""The duties that a flow's features ask for: the same ones for the mirror and for `legacy-mm plan`."""

from __future__ import annotations

import math

from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features import internal_topics
from legacy_mm.features.duties import Applier
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import DutyScene, FeatureSettings, TopicNames
from legacy_mm.features.internal_topics import InternalTopics
from legacy_mm.features.rows import FEATURES


def feature_duties(
    features: FeatureSettings,
    source: Admin,
    target: Admin,
    names: TopicNames,
    watch_interval: float,
    own_clients: frozenset[tuple[str, str]] = frozenset(),
) -> tuple[list[Scheduled], Applier]:
    """Return the duties that are switched on, with their schedules, and the applier of their changes.

    Those before copying come first: topics before what depends on them. `watch_interval` is the interval at which the
    legacy tool looks for topics. `own_clients`: as a `DutyScene` has them.
    """
    scene = DutyScene(features, source, target, names, watch_interval, own_clients)
    makers = (internal_topics.scheduled, *(each.duty for each in FEATURES if each.duty is not None))
    found = [duty for scheduled in makers if (duty := scheduled(scene)) is not None]
    notes = [each.note for each in found if each.note is not None]
    return sorted(found, key=lambda each: not each.before_copying), Applier(target, notes)


def source_duties(source: Admin, names: TopicNames) -> list[Scheduled]:
    """Return the duties at the source, whose administrator may have to allow them."""
    wanted = names.own_at_source
    duty = InternalTopics(source, wanted, dispensable=names.dispensable)
    return [Scheduled(duty, math.inf, before_copying=True)] if wanted else []
