"""The whole mirror is killed and frozen while it copies exactly once; and at least once, which must double records."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from kafka.admin import KafkaAdminClient

from compat.laboratory.broker import Broker
from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import change_topic, create_topic, leader, members
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import BUNDLES, bundle_of
from tests.faults.mirrors import BUSY, Mirrors
from tests.faults.test_crash_points import kill
from tests.faults.test_recovery import spark_jvm, stop
from tests.faults.test_zombies import send
from tests.fixtures.exactly_once import PATIENCE, CopiedOnce

pytestmark = [pytest.mark.faults, pytest.mark.spark]
RECORDS, SIZE = 15_000, 2_000
FEW = 1_000
UNSAFE = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}
ONCE = pytest.param(True, id="exactly once")
AT_LEAST_ONCE = pytest.param(False, id="at least once", marks=pytest.mark.slow)
BY_FLAG = pytest.mark.parametrize("once", [ONCE, AT_LEAST_ONCE])


@pytest.fixture
def mirrors(source: Any, target: Any, topic: Callable[..., str], our_tool: Callable[..., Any], once: bool) -> Mirrors:
    """With a topic that has records."""
    copy = CopiedOnce(source, target, topic("once"))
    copy.load(RECORDS, size=SIZE)
    return Mirrors(copy, our_tool, source.bootstrap, target.bootstrap, once=once)


@pytest.mark.parametrize(
    "killed", ["worker", *(pytest.param(name, marks=pytest.mark.slow) for name in ("driver", "jvm"))]
)
@BY_FLAG
def test_killed_while_busy(mirrors: Mirrors, killed: str) -> None:
    tool = mirrors.start()
    with mirrors.copy.writing():
        mirrors.wait_busy()
        match killed:
            case "worker":
                send(mirrors.copying(tool), signal.SIGKILL)
            case "driver":
                kill(tool)
            case "jvm":
                os.kill(spark_jvm(tool), signal.SIGKILL)
                assert tool.wait(PATIENCE) == 255
        if killed != "worker":
            tool = mirrors.start()
    mirrors.wait_copied()
    stop(tool)
    mirrors.judge()


@pytest.mark.slow
@BY_FLAG
def test_one_of_two_is_killed(mirrors: Mirrors) -> None:
    copy = mirrors.copy
    stays, dies = mirrors.start(), mirrors.start()
    wait_until(lambda: mirrors.copying(stays) and mirrors.copying(dies), PATIENCE, "both to copy")
    with copy.writing():
        mirrors.wait_busy()
        kill(dies)
        wait_until(lambda: members(copy.source.bootstrap, copy.flow.group) == 1, PATIENCE, "the end of its session")
    mirrors.wait_copied()
    stop(stays)
    mirrors.judge()


@pytest.mark.slow
@BY_FLAG
def test_each_of_two_hosts_is_started_twice(mirrors: Mirrors) -> None:
    """By a supervisor that does not see that the first one runs; then all are killed at once."""
    copy = mirrors.copy
    tools = [mirrors.start() for _ in range(4)]
    with copy.writing():
        wait_until(lambda: members(copy.source.bootstrap, copy.flow.group) == 4, 2 * PATIENCE, "all to be members")
        pids = [pid for tool in tools for pid in tool.tree.pids()]
        mirrors.wait_busy()
        send(pids, signal.SIGKILL)
        tools = [mirrors.start() for _ in range(2)]
        wait_until(lambda: members(copy.source.bootstrap, copy.flow.group) == 2, PATIENCE, "both to be members")
    mirrors.wait_copied()
    for tool in tools:
        stop(tool)
    mirrors.judge()


@pytest.mark.slow
@BY_FLAG
def test_two_with_the_same_instance_id(mirrors: Mirrors) -> None:
    """The group lets the second in and the first out, which ends as the legacy tool does."""
    first = mirrors.start_static("one")
    with mirrors.copy.writing():
        mirrors.wait_busy()
        second = mirrors.start_static("one")
        assert first.wait(PATIENCE) == 255
    mirrors.wait_copied()
    stop(second)
    mirrors.judge(dies=False)


@pytest.mark.slow
@BY_FLAG
def test_frozen_while_another_goes_on(mirrors: Mirrors) -> None:
    """It wakes when its bundles have long been somebody else's, and its transactions were given up."""
    copy = mirrors.copy
    sleeper = mirrors.start()
    with copy.writing():
        mirrors.wait_busy()
        pids = sleeper.tree.pids()
        send(pids, signal.SIGSTOP)
        other = mirrors.start()
        wait_until(lambda: mirrors.copying(other), PATIENCE, "the other one to copy")
    mirrors.wait_copied()
    with copy.writing():
        send(pids, signal.SIGCONT)
        wait_until(lambda: members(copy.source.bootstrap, copy.flow.group) == 2, PATIENCE, "both to be members")
    mirrors.wait_copied()
    for tool in (sleeper, other):
        stop(tool)
    mirrors.judge()


@pytest.mark.slow
@BY_FLAG
@pytest.mark.parametrize("frozen", ["worker", "tree"])
def test_frozen_alone(mirrors: Mirrors, frozen: str) -> None:
    """Longer than the session and the transaction; a frozen worker is replaced before that."""
    copy = mirrors.copy
    tool = mirrors.start()
    with copy.writing():
        mirrors.wait_busy()
        pids = mirrors.copying(tool) if frozen == "worker" else tool.tree.pids()
        send(pids, signal.SIGSTOP)
        if frozen == "worker":
            wait_until(lambda: pids != mirrors.copying(tool), PATIENCE, "another worker")
        else:
            wait_until(lambda: not copy.open(), PATIENCE, "the end of its transactions")
            wait_until(lambda: members(copy.source.bootstrap, copy.flow.group) == 0, PATIENCE, "that of its session")
        send(pids, signal.SIGCONT)
    mirrors.wait_copied()
    stop(tool)
    mirrors.judge()


@pytest.mark.slow
@pytest.mark.parametrize("kills", [1, 3])
def test_coordinators_are_killed(
    source: Any,
    own_clusters: Callable[..., Cluster],
    topic: Callable[..., str],
    our_tool: Callable[..., Any],
    kills: int,
) -> None:
    """Each that coordinates transactions is gone for a while, with the partitions that it leads."""
    target = own_clusters(brokers=3)
    copy = CopiedOnce(source, target, topic("once"), replication=3)
    copy.load(RECORDS, size=SIZE)
    mirrors = Mirrors(copy, our_tool, source.bootstrap, target.bootstrap)
    tool = mirrors.start()
    with copy.writing():
        for number in range(kills):
            mirrors.wait_busy()
            with closing(KafkaAdminClient(bootstrap_servers=target.bootstrap)) as admin:
                listed = admin.list_transactions()
            coordinating = [node for node, rows in listed.items() if any(copy.owns(row) for row in rows)]
            broker = target.brokers[coordinating[number % len(coordinating)] - 1]
            broker.kill()
            mirrors.wait_committed(mirrors.committed() + BUSY)
            broker.restart()
            target.wait_ready()
    mirrors.wait_copied()
    stop(tool)
    assert copy.differences() == []


@pytest.mark.slow
@pytest.mark.parametrize("cut", ["positions", "records"])
def test_an_unclean_election_at_the_target(
    source: Any, own_clusters: Callable[..., Cluster], topic: Callable[..., str], our_tool: Callable[..., Any], cut: str
) -> None:
    """What only the dead leader had is gone. Positions that have gone back end the mirror; what becomes of records
    nobody can see, so each start warns of the settings that allow it.
    """
    target = own_clusters(brokers=3)
    copy = CopiedOnce(source, target, topic("once"), partitions=1, replication=2 if cut == "records" else 3)
    name, partition = copy.topic, 0
    if cut == "positions":
        name, partition = copy.flow.bundle(bundle_of(TopicPartition(copy.topic, 0), BUNDLES)).positions
        create_topic(target.bootstrap, name, BUNDLES, 2, {"cleanup.policy": "compact"})
    change_topic(target.bootstrap, name, UNSAFE)
    mirrors = Mirrors(copy, our_tool, source.bootstrap, target.bootstrap)
    tools = [mirrors.start()]
    copy.load(RECORDS)
    mirrors.wait_copied()
    leads, lags = led_and_followed(target, name, partition)
    lags.kill()
    copy.load(FEW)
    mirrors.wait_copied()
    stop(tools[0])
    assert copy.differences() == []
    leads.kill()
    lags.restart()
    wait_until(lambda: leader(target.bootstrap, name, partition) == lags.node, PATIENCE, "an unclean election")
    leads.restart()
    target.wait_ready()
    copy.load(FEW)
    tools.append(mirrors.start())
    if cut == "positions":
        assert tools[1].wait(PATIENCE) == 255
        assert "later ones are lost; legacy-mm exactly-once adopt" in tools[1].output()
    else:
        mirrors.wait_copied()
        stop(tools[1])
        verdict = copy.verdict()
        assert (verdict.count("lost"), verdict.count("duplicated")) == (FEW, 0)
    assert [warned(each, name) for each in tools] == [{"=".join(each) for each in UNSAFE.items()}] * 2


def led_and_followed(target: Cluster, topic: str, partition: int) -> list[Broker]:
    """Return the leader and the follower of a partition with two replicas."""
    admin = AdminClient({"bootstrap.servers": target.bootstrap, "log_level": 0})
    found = admin.list_topics(topic, timeout=30).topics[topic].partitions[partition]
    nodes = sorted(found.replicas, key=lambda node: node != found.leader)
    return [next(broker for broker in target.brokers if broker.node == node) for node in nodes]


def warned(tool: ToolProcess, topic: str) -> set[str]:
    """Return the settings that its start warns of for a topic."""
    lines = [line for line in tool.output().splitlines() if "WARN Exactly once: " in line and topic in line]
    return {setting for line in lines for setting in map("=".join, UNSAFE.items()) if setting in line}
