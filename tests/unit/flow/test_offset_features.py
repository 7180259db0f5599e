"""What is said of offsets that could not be written down. The writers of the topics are stand-ins."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.clients.topics.internal_topic import OnResult
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.offset_syncs.flags import OffsetSyncSettings
from legacy_mm.flow import offset_features
from legacy_mm.flow.offset_features import FlowOffsets
from legacy_mm.metrics.registry import MirrorNames, Registry
from tests.fixtures import client_settings

MAP, SYNCS = "map", "syncs"
SERVERS = {"bootstrap.servers": "127.0.0.1:1"}


def test_a_topic_that_takes_nothing_is_told_once_until_it_takes_a_record(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told: dict[str, OnResult] = {}

    def writer(properties: Any, topic: str, on_result: OnResult) -> None:
        told[topic] = on_result

    monkeypatch.setattr(offset_features, "InternalTopicWriter", writer)
    features = FeatureSettings()
    at = client_settings.read_connection(SERVERS)
    settings: Any = SimpleNamespace(
        source_admin_connection=at,
        target_admin_connection=at,
        commit_interval=60.0,
        features=features,
        connect_names=None,
    )
    names: Any = SimpleNamespace(offset_syncs_topic=lambda _: SYNCS, exact_offsets_topic=lambda _: MAP)
    registry = Registry("f", "producer-1", {}, mirror_names=MirrorNames("A", "B", str))
    FlowOffsets(settings, names, OffsetSyncSettings("source", -1, 100), registry)
    for topic in (SYNCS, MAP):
        for reason in ("refused", "refused", "away", None, "refused"):
            told[topic](b"k", reason)
    assert caplog.messages == [
        f"[offset-syncs] topic {topic}: refused; records that it refuses are not written again"
        for topic in (SYNCS, SYNCS, MAP, MAP)
    ]
