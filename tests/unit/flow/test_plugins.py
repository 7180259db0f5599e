"""Rebalance listeners: one call at a time, and how what they raise is told. Which replication policy a name means."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.features.naming.flags import NamingSettings
from legacy_mm.features.naming.policy_names import DEFAULT, IDENTITY, LEGACY
from legacy_mm.flow.plugins import OneAtATime, policy_of
from legacy_mm.policies.topic_naming import (
    DefaultReplicationPolicy,
    IdentityReplicationPolicy,
    LegacyReplicationPolicy,
    ReplicationPolicy,
)

SOME = frozenset({TopicPartition("t", 0)})

POLICIES = """
from legacy_mm.policies.topic_naming import DefaultReplicationPolicy, ReplicationPolicy

class Suffixed(DefaultReplicationPolicy):
    def configure(self, properties):
        self.suffix = properties["my.suffix"]
    def format_remote_topic(self, source_cluster_alias, topic):
        return topic + self.suffix

class Torso(ReplicationPolicy):
    def format_remote_topic(self, source_cluster_alias, topic):
        return topic

class Plain:
    pass
"""


class Recorder:
    """Notes on which thread it is called; raises on nothing."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        self.threads.add(threading.current_thread().name)

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        self.threads.add(threading.current_thread().name)
        if not partitions:
            raise OSError("no disk")


def test_calls_of_several_streams_share_one_thread() -> None:
    listener = Recorder()
    told = OneAtATime(listener)
    streams = [threading.Thread(target=told.assigned, args=(SOME,)) for _ in range(4)]
    for stream in streams:
        stream.start()
    for stream in streams:
        stream.join()
    told.revoked(SOME)
    assert len(listener.threads) == 1
    assert threading.current_thread().name not in listener.threads


def test_what_a_listener_raises_ends_the_stream() -> None:
    with pytest.raises(HandlerFailure, match="the rebalance listener failed: OSError: no disk") as failure:
        OneAtATime(Recorder()).revoked(frozenset())
    assert failure.value.exit_code == 255


@pytest.mark.parametrize(
    ("name", "kind"),
    [(LEGACY, LegacyReplicationPolicy), (IDENTITY, IdentityReplicationPolicy), (DEFAULT, DefaultReplicationPolicy)],
)
def test_policies_that_are_built_in(name: str, kind: type[ReplicationPolicy]) -> None:
    assert type(policy_of(NamingSettings(policy=name))) is kind


def test_a_policy_has_what_the_flags_say() -> None:
    naming = NamingSettings(policy=DEFAULT, separator="_", internal_separator=False, compatibility="4")
    policy = policy_of(naming)
    assert policy.format_remote_topic("A", "t") == "A_t"
    assert policy.checkpoints_topic("A") == "A.checkpoints.internal"
    assert not policy.is_internal_topic("foo.internal")


@pytest.mark.parametrize(("alias", "source"), [("A", "A"), ("", None)])
def test_an_identity_policy_without_an_alias_knows_no_source(alias: str, source: str | None) -> None:
    assert policy_of(NamingSettings(policy=IDENTITY, source_alias=alias)).topic_source("t") == source


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "naming.py"
    path.write_text(POLICIES)
    return path


def test_a_policy_of_the_user_s(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(script.parent)
    for name in ("naming:Suffixed", f"{script}:Suffixed"):
        policy = policy_of(NamingSettings(policy=name, separator="_", properties={"my.suffix": ".copy"}))
        assert policy.format_remote_topic("A", "t") == "t.copy"
        assert policy.topic_source("A_t") == "A"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Torso", "lacks topic_source, upstream_topic"),
        ("Plain", "is no ReplicationPolicy of legacy_mm.policies.topic_naming"),
        ("Suffixed", "cannot be made: KeyError: 'my.suffix'"),
        ("Missing", "cannot be loaded: AttributeError"),
    ],
)
def test_a_policy_that_cannot_be_made_is_told(script: Path, name: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^replication.policy.class: .*naming.py:{name} {reason}"):
        policy_of(NamingSettings(policy=f"{script}:{name}"))


def test_a_policy_of_a_module_that_is_missing_is_told() -> None:
    with pytest.raises(ConfigurationError, match="no_such_module_9:Policy cannot be loaded: ModuleNotFoundError"):
        policy_of(NamingSettings(policy="no_such_module_9:Policy"))
