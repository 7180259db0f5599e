"""Targets that refuse a property or a topic, and such as are too old for the requests of today: both admin clients."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from compat.laboratory.topic_state import override, overrides
from compat.laboratory.zookeeper import ZooKeeperCluster
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duties import Applier
from legacy_mm.features.feature import FeatureSettings, TopicNames
from legacy_mm.features.heartbeats.heartbeat_copies import HeartbeatCopies
from legacy_mm.features.internal_topics import InternalTopics
from legacy_mm.features.schedule import feature_duties
from legacy_mm.features.topic_configs.feature import TOPIC_CONFIGS
from legacy_mm.features.topic_configs.flags import DEFAULT_EXCLUDE, ConfigFilterSettings, ConfigSyncSettings
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.features.topic_creation.flags import CreationSettings
from legacy_mm.policies.changes import BROKER_DEFAULT, Inspection
from tests.fixtures import client_settings

pytestmark = pytest.mark.brokers
SECONDS = 30.0
TOO_SMALL = {"segment.bytes": "65536"}
"""For brokers of 4.x, not for older ones."""


@pytest.fixture
def client() -> Callable[..., Admin]:
    return NativeAdmin


@pytest.fixture(scope="module", params=["1.1.1", "2.2.2", "2.8.2"])
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperCluster]:
    with ZooKeeperCluster(tmp_path_factory.mktemp("old"), release=request.param) as cluster:
        yield cluster


def listed(patterns: Sequence[str]) -> Callable[[str], bool]:
    pattern = re.compile("|".join(patterns))
    return lambda name: pattern.fullmatch(name) is not None


class Run:
    """The creation of topics, or the sync of their properties, between two clusters; names are kept."""

    def __init__(self, source: Any, target: Any, client: Callable[..., Admin], *, sync: bool) -> None:
        kept = ConfigFilterSettings((*DEFAULT_EXCLUDE, r"delete\.retention\.ms"))
        features = (
            FeatureSettings().having(TOPIC_CONFIGS, ConfigSyncSettings(600.0, kept))
            if sync
            else FeatureSettings(preserve_partitions=True).having(TOPIC_CREATION, CreationSettings(-1, kept, grow=True))
        )
        there, here = (
            client(name, client_settings.read_connection({"bootstrap.servers": each.bootstrap}))
            for name, each in (("s", source), ("t", target))
        )
        names = TopicNames(lambda name: name, frozenset, listed)
        (self._scheduled,), self._applier = feature_duties(features, there, here, names, 300.0)

    def inspect(self, *topics: str) -> Inspection:
        return self._scheduled.duty.inspect(frozenset(topics), Deadline.after(SECONDS))

    def errors(self, found: Inspection) -> list[str]:
        applier: Applier = self._applier
        return [each.error for each in applier.apply(found.changes, Deadline.after(SECONDS)) if each.error]


def test_a_refused_property_costs_no_other(
    source_39: Any, target: Any, topic: Callable[..., str], client: Callable[..., Admin]
) -> None:
    """At creation and later: the copy of a compacted topic is compacted."""
    name, plain = topic(), topic("plain")
    create_topic(source_39.bootstrap, name, 3, config={**TOO_SMALL, "cleanup.policy": "compact", "flush.ms": "7"})
    create_topic(source_39.bootstrap, plain, 1, config={"flush.ms": "7"})
    creation = Run(source_39, target, client, sync=False)
    found = creation.inspect(name, plain)
    (trouble,) = found.troubles
    assert trouble.startswith(f"topic {name}: the target refuses segment.bytes=65536, which is left out: ")
    assert creation.errors(found) == []
    assert overrides(target.bootstrap, name) == {"cleanup.policy": "compact", "flush.ms": "7"}
    assert overrides(target.bootstrap, plain) == {"flush.ms": "7"}

    sync = Run(source_39, target, client, sync=True)
    override(source_39.bootstrap, name, {"flush.ms": "8", "max.message.bytes": "2000000"})
    found = sync.inspect(name, plain)
    (trouble,) = found.troubles
    assert trouble.startswith(f"topic {name}: the target refuses segment.bytes=65536, which is left out: ")
    assert sync.errors(found) == []
    expected = {"cleanup.policy": "compact", "flush.ms": "8", "max.message.bytes": "2000000"}
    assert overrides(target.bootstrap, name) == expected


def test_a_topic_that_cannot_be_made_is_told_before_anything_is_done(
    source: Any, target: Any, topic: Callable[..., str], client: Callable[..., Admin]
) -> None:
    name = f"{topic('a')}.x"
    create_topic(source.bootstrap, name, 1)
    create_topic(target.bootstrap, name.replace(".", "_"), 1)
    found = Run(source, target, client, sync=False).inspect(name)
    (trouble,) = found.troubles
    assert trouble.startswith(f"topic {name} cannot be created at the target: ")
    assert "collides with existing topic" in trouble
    assert (found.changes, found.unfinished) == ((), True)


def test_old_targets_are_asked_in_the_old_way(
    source: Any,
    old: ZooKeeperCluster,
    topic: Callable[..., str],
    client: Callable[..., Admin],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """1.1, 2.2: topics need a number of replicas, and to set one property means to set all. It is said once."""
    ancient = old.release.version in ("1.1.1", "2.2.2")
    missing, there = topic("missing"), topic("there")
    for name in (missing, there):
        create_topic(source.bootstrap, name, 2, config={"cleanup.policy": "compact", "flush.ms": "7"})
    create_topic(
        old.bootstrap, there, 2, config={"delete.retention.ms": "5", "flush.ms": "6", "max.message.bytes": "1000"}
    )
    creation = Run(source, old, client, sync=False)
    found = creation.inspect(missing, there)
    assert ["older than 2.4" in note for note in found.notes] == [True] * ancient
    assert creation.errors(found) == []
    assert overrides(old.bootstrap, missing) == {"cleanup.policy": "compact", "flush.ms": "7"}
    sync = Run(source, old, client, sync=True)
    found = sync.inspect(missing, there)
    assert found.troubles == ()
    assert sync.errors(found) == []
    expected = {"cleanup.policy": "compact", "flush.ms": "7", "delete.retention.ms": "5"}
    assert overrides(old.bootstrap, there) == expected
    assert caplog.text.count("can only replace all properties of a topic at once") == ancient


def test_the_mirror_s_own_topics_and_copies_of_heartbeats_get_the_default_of_old_brokers(
    source: Any, old: ZooKeeperCluster, topic: Callable[..., str], client: Callable[..., Admin]
) -> None:
    ancient = old.release.version in ("1.1.1", "2.2.2")
    there, here = (
        client(name, client_settings.read_connection({"bootstrap.servers": each.bootstrap}))
        for name, each in (("source", source), ("target", old))
    )
    own, brought = [topic("own"), topic("dispensable")], topic("heartbeats")
    create_topic(source.bootstrap, brought, 1, config={"cleanup.policy": "compact"})
    for duty in (
        InternalTopics(here, dict.fromkeys(own, BROKER_DEFAULT), dispensable=own[1:]),
        HeartbeatCopies(there, here, lambda name: name, brought.__eq__),
    ):
        found = duty.inspect(frozenset(), Deadline.after(SECONDS))
        assert ["created with 1, their default.replication.factor" in note for note in found.notes] == [True] * ancient
        assert not [each.error for each in Applier(here).apply(found.changes, Deadline.after(SECONDS)) if each.error]
    for name in (*own, brought):
        assert overrides(old.bootstrap, name) == {"cleanup.policy": "compact"}


def test_what_an_old_target_does_not_know_costs_no_other(
    source: Any, old: ZooKeeperCluster, topic: Callable[..., str], client: Callable[..., Admin]
) -> None:
    """Two at once: one whose name is unknown there, and one whose value is (before 2.1)."""
    unknown = {"compression.gzip.level": "5"}
    unknown |= {"compression.type": "zstd"} if old.release.version == "1.1.1" else {}
    wanted = {"cleanup.policy": "compact", "flush.ms": "7"}
    missing, there = topic("missing"), topic("there")
    for name in (missing, there):
        create_topic(source.bootstrap, name, 2, config={**wanted, **unknown})
    create_topic(old.bootstrap, there, 2)
    creation = Run(source, old, client, sync=False)
    found = creation.inspect(missing, there)
    assert [name for name in unknown if any(name in told for told in found.troubles)] == [*unknown]
    assert creation.errors(found) == []
    assert overrides(old.bootstrap, missing) == wanted
    sync = Run(source, old, client, sync=True)
    found = sync.inspect(missing, there)
    assert [name for name in unknown if any(name in told for told in found.troubles)] == [*unknown]
    assert sync.errors(found) == []
    assert overrides(old.bootstrap, there) == wanted
