"""What a real MirrorMaker 2 wrote, read by our client and by Kafka's own of 3.9.1 and of the current release: equal."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as ClientPartition

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import mirror_maker_2
from legacy_mm.audit.cluster_access import end_offsets, wait_for_count
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.client import MirrorClient, checkpoint_line, heartbeat_line
from tests.fixtures.java_mirror_client import JAVA_CLIENTS, JavaMirrorClient, names, offsets, offsets_of_groups

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.slow]
SECONDS = 300.0
"""MirrorMaker 2 starts three workers one after the other: on a host that is busy with other things, a minute each."""
RECORDS = 400
GROUPS = {"a-group": (0, 1), "another": (2,)}
"""Partitions at whose ends they stand: for other offsets MirrorMaker 2 may have kept no pair that is old enough."""
MM2 = {
    "dst->src.enabled": "false",
    "emit.heartbeats.enabled": "true",
    "emit.heartbeats.interval.seconds": "1",
    "emit.checkpoints.enabled": "true",
    "emit.checkpoints.interval.seconds": "1",
    "refresh.topics.interval.seconds": "1",
    "refresh.groups.interval.seconds": "1",
    "offset.lag.max": "10",
}
POLICIES = {
    "default, with a separator": {
        "replication.policy.class": "org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
        "replication.policy.separator": "__",
    },
    "identity": {
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        "source.cluster.alias": "src",
    },
}


def commit(bootstrap: str, topic: str) -> None:
    ends = end_offsets(bootstrap, topic)
    for group, partitions in GROUPS.items():
        client = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
        client.commit(offsets=[ClientPartition(topic, each, ends[each]) for each in partitions], asynchronous=False)
        client.close()


@pytest.mark.parametrize("policy", POLICIES)
def test_ours_and_java_read_the_same(
    policy: str, own_clusters: Callable[..., Cluster], tmp_path: Path, topic: str
) -> None:
    source, target = (own_clusters() for _ in range(2))
    name, known = topic, {"bootstrap.servers": target.bootstrap, **POLICIES[policy]}
    load(source.bootstrap, name, RECORDS, 100)
    commit(source.bootstrap, name)
    with MirrorClient(known) as ours:
        names_of = ours.replication_policy()
        checkpoints, beats = names_of.checkpoints_topic("src"), names_of.format_remote_topic("src", "heartbeats")
        with mirror_maker_2(
            tmp_path / "mm2", source.bootstrap, target.bootstrap, name, properties={**MM2, **POLICIES[policy]}
        ) as tool:
            wait_for_count(target.bootstrap, beats, 1, SECONDS)
            wait_for_count(target.bootstrap, checkpoints, sum(map(len, GROUPS.values())), SECONDS)

            def written() -> bool:
                """All places have checkpoints."""
                assert tool.running(), tool.output()[-4000:]
                found = ours.remote_consumer_offsets(re.compile(".*"), "src", SECONDS)
                reached = {group: {place.partition for place in places} for group, places in found.items()}
                return reached == {group: set(partitions) for group, partitions in GROUPS.items()}

            wait_until(written, SECONDS, "checkpoints of MirrorMaker 2")
            tool.kill_tree()
        by_group = ours.remote_consumer_offsets(re.compile(".*"), "src", SECONDS)
        for release in JAVA_CLIENTS:
            answers = JavaMirrorClient(tmp_path, release, known).ask(
                *(("hops", alias) for alias in ("src", "dst")),
                *(("heartbeat topics",), ("checkpoint topics",), ("upstream clusters",)),
                *(("remote topics",), ("remote topics", "src"), ("remote topics", "dst")),
                *(("offsets", "src", group) for group in (*GROUPS, "nobody")),
                *(("heartbeats", "heartbeats"), ("heartbeats", beats), ("checkpoints", checkpoints)),
            )
            java = iter(answers)
            assert [next(java), next(java)] == [[("1",)], [("-1",)]]
            assert (ours.replication_hops("src"), ours.replication_hops("dst")) == (1, -1)
            assert names(next(java)) == ours.heartbeat_topics() == {"heartbeats", beats}
            assert names(next(java)) == ours.checkpoint_topics() == {checkpoints}
            assert names(next(java)) == ours.upstream_clusters() == {"src"}
            assert names(next(java)) == ours.remote_topics() >= {beats}
            assert names(next(java)) == ours.remote_topics("src")
            assert names(next(java)) == ours.remote_topics("dst") == set()
            for group in (*GROUPS, "nobody"):
                found = offsets(next(java))
                assert found == ours.remote_consumer_offsets(group, "src", SECONDS) == by_group.get(group, {})
            for heard in ("heartbeats", beats):
                assert next(java)[-1] in [(heartbeat_line(each),) for each in ours.heartbeats(heard, SECONDS)]
            every = [line for (line,) in next(java)]
            assert {checkpoint_line(each) for each in ours.checkpoints("src", SECONDS)} <= set(every)
        (answer,) = JavaMirrorClient(tmp_path, JAVA_CLIENTS[-1], known).ask(("offsets by pattern", "src", ".*"))
        assert offsets_of_groups(answer) == by_group
