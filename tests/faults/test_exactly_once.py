"""The whole mirror is killed and frozen while it copies exactly once; and at least once, which must double records."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from kafka.admin import KafkaAdminClient

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import members
from legacy_mm.audit.waiting import wait_until
from tests.faults.mirrors import BUSY, Mirrors
from tests.faults.test_crash_points import kill
from tests.faults.test_recovery import spark_jvm, stop
from tests.faults.test_zombies import send
from tests.fixtures.exactly_once import PATIENCE, CopiedOnce

pytestmark = [pytest.mark.faults, pytest.mark.spark]
RECORDS, SIZE = 60_000, 500
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
@pytest.mark.parametrize("once", [ONCE])
def test_two_with_the_same_instance_id(mirrors: Mirrors) -> None:
    """The group lets the second in and the first out, which ends as the legacy tool does."""
    first = mirrors.start_static("one")
    with mirrors.copy.writing():
        mirrors.wait_busy()
        second = mirrors.start_static("one")
        assert first.wait(PATIENCE) == 255
    mirrors.wait_copied()
    stop(second)
    mirrors.judge()


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
@pytest.mark.parametrize("once", [ONCE])
@pytest.mark.parametrize("frozen", ["worker", "tree"])
def test_frozen_alone(mirrors: Mirrors, frozen: str) -> None:
    """Longer than the session and the transaction; a frozen worker is replaced before that."""
    copy = mirrors.copy
    tool = mirrors.start()
    with copy.writing():
        mirrors.wait_busy()
        pids = mirrors.copying(tool) if frozen == "worker" else tool.tree.pids()
        send(pids, signal.SIGSTOP)
        wait_until(lambda: not copy.open() if frozen == "tree" else pids != mirrors.copying(tool), PATIENCE, "the end")
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
