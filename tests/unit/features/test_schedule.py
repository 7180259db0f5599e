"""Which duties the flags ask for. No cluster is reached: a client is made when it is first asked."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.features.feature import FeatureSettings, TopicNames
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.heartbeats.flags import HeartbeatSettings
from legacy_mm.features.quotas.feature import QUOTAS
from legacy_mm.features.quotas.flags import QuotaSyncSettings
from legacy_mm.features.schedule import feature_duties
from legacy_mm.features.topic_acls.feature import TOPIC_ACLS
from legacy_mm.features.topic_acls.flags import AclSyncSettings
from legacy_mm.features.topic_configs.feature import TOPIC_CONFIGS
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings, ConfigSyncSettings
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.features.topic_creation.flags import CreationSettings
from tests.fixtures import client_settings

FILTER = ConfigFilterSettings(())
NOWHERE = NativeAdmin("source", client_settings.read_connection({"bootstrap.servers": "nowhere.invalid:1"}))
NAMES = TopicNames(str, frozenset, lambda expressions: expressions.__contains__)


OFF = FeatureSettings()
PRESERVED = FeatureSettings(preserve_partitions=True)
CREATED = PRESERVED.having(TOPIC_CREATION, CreationSettings(1, FILTER))
REPLICATED = HeartbeatSettings(None, -1, replicated=True)
SYNCED = OFF.having(TOPIC_CONFIGS, ConfigSyncSettings(8.0, FILTER))


@pytest.mark.parametrize(
    ("features", "due"),
    [
        (OFF, []),
        (PRESERVED, [("topic-creation", 300.0, True)]),
        (
            PRESERVED.having(TOPIC_CREATION, CreationSettings(1, FILTER, refresh_interval=7.0)),
            [("topic-creation", 7.0, True)],
        ),
        (CREATED, [("topic-creation", math.inf, True)]),
        (OFF.having(HEARTBEATS, REPLICATED), [("heartbeat-copies", 300.0, True)]),
        (
            replace(CREATED, canary="a").having(HEARTBEATS, REPLICATED),
            [("topic-creation", math.inf, True), ("heartbeat-copies", 300.0, True)],
        ),
        (CREATED.having(HEARTBEATS, REPLICATED), [("topic-creation", math.inf, True)]),
        (SYNCED, [("topic-configs", 8.0, False)]),
        (
            SYNCED.having(HEARTBEATS, REPLICATED),
            [("heartbeat-copies", 300.0, True), ("topic-configs", 8.0, False)],
        ),
        (OFF.having(TOPIC_ACLS, AclSyncSettings(9.0)), [("topic-acls", 9.0, False)]),
        (OFF.having(QUOTAS, QuotaSyncSettings(5.0)), [("quotas", 5.0, False)]),
        (
            SYNCED.having(TOPIC_ACLS, AclSyncSettings(9.0)),
            [("topic-configs", 8.0, False), ("topic-acls", 9.0, False)],
        ),
    ],
)
def test_what_is_switched_on(features: FeatureSettings, due: list[tuple[str, float, bool]]) -> None:
    found, _ = feature_duties(features, NOWHERE, NOWHERE, NAMES, 300.0)
    assert [(each.duty.name, each.interval, each.before_copying) for each in found] == due
    assert features.have_duties == bool(due)
