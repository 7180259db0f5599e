"""What names tell about the clusters upstream: Apache's own tests of its client (13.1 of the contract)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from legacy_mm.policies.remote_clusters import (
    checkpoint_topics,
    endless_copies,
    heartbeat_topics,
    hops_of,
    remote_topics,
    replication_hops,
    upstream_clusters,
)
from legacy_mm.policies.topic_naming import (
    DefaultReplicationPolicy,
    IdentityReplicationPolicy,
    LegacyReplicationPolicy,
    ReplicationPolicy,
)

DEFAULT = DefaultReplicationPolicy()
IDENTITY = IdentityReplicationPolicy(source_alias="primary")


@pytest.mark.parametrize(
    ("topic", "alias", "hops"),
    [
        ("topic", "source", -1),
        ("source", "source", -1),
        ("sourcetopic", "source", -1),
        ("source1.topic", "source2", -1),
        ("source1.topic", "source1", 1),
        ("source2.source1.topic", "source2", 1),
        ("source2.source1.topic", "source1", 2),
        ("source3.source2.source1.topic", "source1", 3),
        ("source3.source2.source1.topic", "source4", -1),
    ],
)
def test_the_hops_of_one_topic(topic: str, alias: str, hops: int) -> None:
    assert hops_of(DEFAULT, topic, alias) == hops


HEARTBEATS = ["heartbeats", "source1.heartbeats", "source1.source2.heartbeats", "source3.heartbeats"]


@pytest.mark.parametrize("policy", [DEFAULT, IDENTITY])
@pytest.mark.parametrize(("alias", "hops"), [("source1", 1), ("source2", 2), ("source3", 1), ("source4", -1)])
def test_the_shortest_way_of_heartbeats(policy: ReplicationPolicy, alias: str, hops: int) -> None:
    assert replication_hops(policy, HEARTBEATS, alias) == hops
    assert replication_hops(policy, [*HEARTBEATS, "source2.source4.data"], alias) == hops
    assert replication_hops(policy, [*reversed(HEARTBEATS), "source5.source1.heartbeats"], alias) == hops


@pytest.mark.parametrize("policy", [DEFAULT, IDENTITY])
def test_heartbeats_and_checkpoints_are_picked_out(policy: ReplicationPolicy) -> None:
    mixed = ["topic1", "topic2", "heartbeats", "source1.heartbeats", "source2.source1.heartbeats", "source3.heartbeats"]
    assert heartbeat_topics(policy, mixed) == set(mixed[2:])
    mixed = ["topic1", "checkpoints.internal", "source1.checkpoints.internal", "source2.checkpoints.internal"]
    assert checkpoint_topics(policy, mixed) == set(mixed[2:])


@pytest.mark.parametrize("policy", [DEFAULT, IDENTITY])
def test_upstream_clusters_are_all_that_heartbeats_have_passed(policy: ReplicationPolicy) -> None:
    topics = ["topic1", "heartbeats", "source1.heartbeats", "source1.source2.heartbeats", "other.topic"]
    topics.append("source3.source4.source5.heartbeats")
    assert upstream_clusters(policy, topics) == {"source1", "source2", "source3", "source4", "source5"}


@pytest.mark.parametrize("separator", [".", "__"])
def test_remote_topics_are_those_with_a_prefix(separator: str) -> None:
    policy = DefaultReplicationPolicy(separator=separator)
    remote = [separator.join(names) for names in (("source1", "topic4"), ("source1", "source2", "topic5"))]
    remote += [separator.join(("source3", name)) for name in ("topic6", "heartbeats")]
    internal = [policy.checkpoints_topic("source1"), policy.offset_syncs_topic("source1"), "__consumer_offsets", ".x.y"]
    assert remote_topics(policy, ["topic1", "heartbeats", *remote, *internal]) == set(remote)
    assert remote_topics(policy, remote, "source1") == set(remote[:2])
    assert remote_topics(policy, remote, "source2") == set()


def test_with_names_kept_every_topic_of_the_alias_is_remote() -> None:
    topics = ["topic1", "topic2", "topic3", "heartbeats", "backup.heartbeats", "__consumer_offsets"]
    assert remote_topics(IDENTITY, topics) == {"topic1", "topic2", "topic3", "backup.heartbeats"}
    assert remote_topics(IDENTITY, topics, "primary") == {"topic1", "topic2", "topic3"}
    assert remote_topics(IDENTITY, topics, "backup") == {"backup.heartbeats"}
    assert remote_topics(IdentityReplicationPolicy(), topics) == {"backup.heartbeats"}


def test_names_that_tell_nothing_name_no_cluster() -> None:
    policy = LegacyReplicationPolicy()
    topics = ["heartbeats", "a.heartbeats", "a.topic", "a.checkpoints.internal"]
    assert heartbeat_topics(policy, topics) == {"heartbeats"}
    assert checkpoint_topics(policy, topics) == {"a.checkpoints.internal"}
    assert (upstream_clusters(policy, topics), remote_topics(policy, topics)) == (set(), set())
    assert replication_hops(policy, topics, "a") == -1


PREFIX = "A.{}".format


@pytest.mark.parametrize(
    ("topics", "remote", "found"),
    [
        (["t", "B.A.t", "B.A.B.A.t"], PREFIX, ("t", "B.A.t", "B.A.B.A.t")),
        (["u", "B.A.B.A.t", "B.A.t", "t"], PREFIX, ("t", "B.A.t", "B.A.B.A.t")),
        (["t", "A.t", "A.A.t", "A.A.A.t"], PREFIX, ("t", "A.t", "A.A.t", "A.A.A.t")),
        (["t", "t-A", "t-A-A", "t-A-A-A"], "{}-A".format, ("t", "t-A", "t-A-A", "t-A-A-A")),
        (["t", "B.A.t"], PREFIX, ()),
        (["t", "A.t", "A.A.t"], PREFIX, ()),
        (["t", "B.A.t", "C.A.B.A.t"], PREFIX, ()),
        (["a", "aa", "aaa", "aaaa", "aaaaa"], PREFIX, ()),
        (["t", "B.A.t", "B.A.B.A.t"], str, ()),
        ([], PREFIX, ()),
    ],
    ids=[
        *("two rounds", "in any order", "our prefix alone", "a policy that appends"),
        *("one round", "a user's names like copies", "by other ways", "no copies", "names are kept", "no topic"),
    ],
)
def test_topics_of_the_source(topics: Sequence[str], remote: Callable[[str], str], found: tuple[str, ...]) -> None:
    assert endless_copies(topics, remote) == found
