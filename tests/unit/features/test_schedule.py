"""Which duties the flags ask for. No cluster is reached: a client is made when it is first asked."""

from __future__ import annotations

import math

import pytest

from legacy_mm.clients.native.admin import NativeAdmin
from legacy_mm.config import property_names
from legacy_mm.features.duty_scene import TopicNames
from legacy_mm.features.feature_settings import FeatureSettings
from legacy_mm.features.schedule import feature_duties
from legacy_mm.features.topic_acls.flags import AclSyncSettings
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings, ConfigSyncSettings
from legacy_mm.features.topic_creation.flags import CreationSettings

FILTER = ConfigFilterSettings(())
NOWHERE = NativeAdmin("source", property_names.read_connection({"bootstrap.servers": "nowhere.invalid:1"}))
NAMES = TopicNames(str, frozenset, lambda expressions: expressions.__contains__)


@pytest.mark.parametrize(
    ("features", "due"),
    [
        (FeatureSettings(), []),
        (FeatureSettings(preserve_partitions=True), [("topic-creation", 300.0, True)]),
        (
            FeatureSettings(preserve_partitions=True, creation=CreationSettings(1, FILTER), refresh_interval=7.0),
            [("topic-creation", 7.0, True)],
        ),
        (
            FeatureSettings(preserve_partitions=True, creation=CreationSettings(1, FILTER)),
            [("topic-creation", math.inf, True)],
        ),
        (FeatureSettings(replicate_heartbeats=True), [("heartbeat-copies", 300.0, True)]),
        (
            FeatureSettings(
                preserve_partitions=True, creation=CreationSettings(1, FILTER), replicate_heartbeats=True, canary="a"
            ),
            [("topic-creation", math.inf, True), ("heartbeat-copies", 300.0, True)],
        ),
        (
            FeatureSettings(preserve_partitions=True, creation=CreationSettings(1, FILTER), replicate_heartbeats=True),
            [("topic-creation", math.inf, True)],
        ),
        (FeatureSettings(config_sync=ConfigSyncSettings(8.0, FILTER)), [("topic-configs", 8.0, False)]),
        (FeatureSettings(acl_sync=AclSyncSettings(9.0)), [("topic-acls", 9.0, False)]),
        (
            FeatureSettings(config_sync=ConfigSyncSettings(8.0, FILTER), acl_sync=AclSyncSettings(9.0)),
            [("topic-configs", 8.0, False), ("topic-acls", 9.0, False)],
        ),
    ],
)
def test_what_is_switched_on(features: FeatureSettings, due: list[tuple[str, float, bool]]) -> None:
    found, _ = feature_duties(features, NOWHERE, NOWHERE, NAMES, 300.0)
    assert [(each.duty.name, each.interval, each.before_copying) for each in found] == due
    assert features.have_duties == bool(due)
