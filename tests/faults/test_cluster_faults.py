"""Clusters lose leaders, replicas and disks while records flow. Scenarios 8 to 12."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import change_topic, end_offsets, leader
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BY_TOOL, PATIENCE, SIZE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
RECORDS = 30_000
QUIET_SECONDS = 5.0


@pytest.fixture(scope="module")
def three(module_clusters: Callable[..., Cluster]) -> Cluster:
    """Three brokers; each test leaves them running."""
    return module_clusters(brokers=3)


def broker_of(cluster: Cluster, topic: str) -> Any:
    """The broker that leads the topic's first partition."""
    node = leader(cluster.bootstrap, topic, 0)
    return next(broker for broker in cluster.brokers if broker.node == node)


def all_in_sync(cluster: Cluster) -> bool:
    topics = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0}).list_topics(timeout=30).topics
    rows = [row for topic in topics.values() for row in topic.partitions.values()]
    return all(len(row.isrs) == len(row.replicas) for row in rows)


@BY_TOOL
@pytest.mark.scenario(8)
def test_a_leader_of_the_source_is_killed(three: Cluster, target: Any, make_scene: Callable[..., Scene]) -> None:
    scene = make_scene(three, target, RECORDS, replication=(3, 1))
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_for(1)
    broker = broker_of(three, scene.topic)
    broker.kill()
    scene.wait_committed(RECORDS)
    broker.restart()
    three.wait_ready()
    scene.load(1_000, seed=9)
    scene.wait_committed(RECORDS + 1_000)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []


@BY_TOOL
def test_a_partition_without_a_leader_keeps_no_other_from_being_copied(
    three: Cluster, target: Any, make_scene: Callable[..., Scene]
) -> None:
    """The group is new, so where each partition begins has to be asked; the leader that is away comes back later."""
    scene = make_scene(three, target, 6_000, partitions=6)
    broker = broker_of(three, scene.topic)
    wait_until(lambda: all_in_sync(three), PATIENCE, "all replicas, also of the committed offsets, to be in sync")
    ends = end_offsets(three.bootstrap, scene.topic)
    lost = {number for number in ends if leader(three.bootstrap, scene.topic, number) == broker.node}
    broker.kill()
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(sum(end for number, end in ends.items() if number not in lost))
    broker.restart()
    three.wait_ready()
    scene.wait_committed(6_000)
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []


@BY_TOOL
@pytest.mark.scenario(9)
def test_a_leader_of_the_target_is_killed(source: Any, three: Cluster, make_scene: Callable[..., Scene]) -> None:
    """The producer is idempotent: a retry doubles nothing."""
    scene = make_scene(source, three, RECORDS, replication=(1, 3))
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_for(1)
    broker = broker_of(three, scene.topic)
    broker.kill()
    scene.wait_committed(RECORDS)
    broker.restart()
    three.wait_ready()
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []


@BY_TOOL
@pytest.mark.scenario(10)
def test_an_unclean_election_at_the_source(
    three: Cluster, target: Any, make_scene: Callable[..., Scene], which: str
) -> None:
    """The new leader lacks 1,000 records that were copied, and has others at their offsets: those are copied, too."""
    scene = make_scene(three, target, 1_000, partitions=1, replication=(2, 1))
    change_topic(three.bootstrap, scene.topic, {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"})
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(1_000)
    first = broker_of(three, scene.topic)
    (second,) = (broker for broker in three.brokers if broker.node in replicas(three, scene.topic) - {first.node})
    second.kill()
    scene.load(1_000, seed=9)
    scene.wait_committed(2_000)
    first.kill()
    second.restart()
    wait_until(lambda: leader(three.bootstrap, scene.topic, 0) == second.node, PATIENCE, "an unclean election")
    scene.load(1_500, seed=11)
    scene.wait_for(3_500)
    scene.wait_committed(2_500)
    first.restart()
    three.wait_ready()
    stop(tool)
    verdict = scene.verdict()
    assert verdict.count("lost") == verdict.count("altered") == verdict.count("duplicated") == 0
    if which != "old":
        assert f"Gap in {scene.topic}-0: from 2000 to " in tool.output()


def replicas(cluster: Cluster, topic: str) -> set[int]:
    """Who keeps the topic's first partition."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    return set(admin.list_topics(topic, timeout=30).topics[topic].partitions[0].replicas)


@BY_TOOL
@pytest.mark.scenario(11)
def test_the_target_has_too_few_replicas(source: Any, three: Cluster, make_scene: Callable[..., Scene]) -> None:
    """Nothing is committed that the target did not acknowledge; memory does not grow with the backlog."""
    scene = make_scene(source, three, 1_000, replication=(1, 3))
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(1_000)
    followers = [broker for broker in three.brokers if broker is not broker_of(three, scene.topic)]
    for broker in followers:
        broker.kill()
    before = tool.tree.memory_bytes()
    scene.load(RECORDS, size=SIZE, seed=9)
    with pytest.raises(TimeoutError):
        wait_until(lambda: scene.committed() > 1_000, QUIET_SECONDS, "a commit that must not come")
    assert tool.running()
    assert tool.tree.memory_bytes() - before < 150 << 20
    for broker in followers:
        broker.start()
    three.wait_ready()
    scene.wait_committed(RECORDS + 1_000)
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder of 40 MB; needs the right to mount."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@BY_TOOL
@pytest.mark.scenario(12)
def test_the_disk_of_the_target_is_full(source: Any, small_disk: Path, make_scene: Callable[..., Scene]) -> None:
    settings = {"log.segment.bytes": "4194304", "log.index.size.max.bytes": "65536"}
    with Cluster(small_disk, properties=settings) as full:
        scene = make_scene(source, full, 60_000, size=1_000)
        tool = scene.mirror(*COMMIT_OFTEN, producer={"compression.type": "none"})
        wait_until(lambda: not full.brokers[0].running, PATIENCE, "the broker to end for want of space")
        committed = scene.committed()
        assert committed < 60_000
        subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
        full.brokers[0].restart()
        scene.wait_committed(60_000)
        stop(tool)
        assert scene.differences(allow_duplicates=True) == []
