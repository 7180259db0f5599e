"""Counts of the offset features, and the gauges of the groups that had the last checkpoints."""

from __future__ import annotations

import pytest

from legacy_mm.metrics import offset_metrics
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from legacy_mm.metrics.registry import MirrorNames, Registry


@pytest.fixture
def registry() -> Registry:
    return Registry("f", "producer-1", {}, mirror_names=MirrorNames("west", "east", str))


def counts(registry: Registry) -> dict[str, float]:
    (scope,) = (scope for scope in registry.scopes if scope.level == "mirror_offsets")
    return {name: counter.read(registry.clock()).value for name, counter in registry.scopes[scope].counters.items()}


def groups(registry: Registry) -> list[str]:
    return [dict(scope.labels)["group"] for scope in registry.scopes if scope.level == "mirror_group"]


def test_every_count_is_there_from_the_start(registry: Registry) -> None:
    OffsetMetrics(registry)
    assert counts(registry) == {"checkpoints": 0, "groups": 0, "syncs": 0, "failed_syncs": 0}


def test_what_is_told_is_counted(registry: Registry) -> None:
    metrics = OffsetMetrics(registry)
    metrics.checkpoint("g", "west.t", 0, 0.25)
    metrics.groups_synced(3)
    for failed in (True, False, False):
        metrics.sync_settled(failed=failed)
    assert counts(registry) == {"checkpoints": 1, "groups": 3, "syncs": 2, "failed_syncs": 1}


def left_out(registry: Registry) -> list[str]:
    return [dict(scope.labels)["group"] for scope in registry.scopes if scope.level == "group_left_out"]


def test_each_look_at_the_groups_replaces_the_one_before(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_metrics, "_NAMED_AT_MOST", 2)
    metrics = OffsetMetrics(registry)
    metrics.groups_seen(9, dict.fromkeys("cab", "why"))
    assert left_out(registry) == ["a", "b"]
    metrics.groups_seen(9, {"d": "why"})
    assert left_out(registry) == ["d"]
    metrics.groups_seen(8, {})
    assert left_out(registry) == []
    (found,) = (each for scope, each in registry.snapshot().readings.items() if scope.level == "mirror_offsets")
    assert (found["groups_seen"].value, found["groups_left_out"].value) == (8, 0)


def test_of_very_many_groups_the_last_ones_are_shown(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_metrics, "_SHOWN_AT_MOST", 2)
    metrics = OffsetMetrics(registry)
    for group in ("a", "b", "a", "c"):
        metrics.checkpoint(group, "west.t", 0, 0.25)
    assert sorted(groups(registry)) == ["a", "c"]
    assert counts(registry)["checkpoints"] == 4
