"""Things die, freeze and come back while records flow: nothing is lost, order holds, duplicates are bounded."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import members
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BACKLOG, BY_HANDLER, BY_TOOL, PATIENCE, SIZE, Scene

pytestmark = [pytest.mark.faults, pytest.mark.spark]
COMMIT_OFTEN = ("--offset.commit.interval.ms", "500")


def workers(tool: ToolProcess, target: Any) -> list[int]:
    """Spark's Python workers: the processes with connections to the target."""
    ports = {int(address.rpartition(":")[2]) for address in target.bootstrap.split(",")}
    return sorted({pid for pid, port in tool.tree.connections() if port in ports})


def spark_jvm(tool: ToolProcess) -> int:
    """The Java process of its Spark."""
    others = (pid for pid in tool.tree.pids() if pid != tool.pid)
    return next(pid for pid in others if b"PythonGatewayServer" in Path(f"/proc/{pid}/cmdline").read_bytes())


def stop(tool: ToolProcess) -> None:
    """A clean stop."""
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143, tool.output()


@BY_HANDLER
@pytest.mark.scenario(3)
def test_a_killed_worker_is_replaced(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    scene = make_scene(source, target, BACKLOG, size=SIZE)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_for(1)
    (worker,) = wait_until(lambda: workers(tool, target), PATIENCE, "a worker")
    os.kill(worker, signal.SIGKILL)
    scene.wait_committed(BACKLOG)
    stop(tool)
    assert "copy job lost" in tool.output()
    assert scene.differences(allow_duplicates=True) == []


@BY_HANDLER
@pytest.mark.scenario(7)
def test_a_frozen_worker_is_killed_and_replaced(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    """Invariant D: the frozen one is dead before another one writes."""
    scene = make_scene(source, target, BACKLOG, size=SIZE)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_for(1)
    (worker,) = wait_until(lambda: workers(tool, target), PATIENCE, "a worker")
    os.kill(worker, signal.SIGSTOP)
    wait_until(lambda: set(workers(tool, target)) - {worker}, PATIENCE, "another worker")
    assert worker not in tool.tree.pids()
    assert "copy job lost" in tool.output()
    scene.wait_committed(BACKLOG)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []


def test_a_dead_spark_jvm_ends_the_mirror(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    scene = make_scene(source, target, BACKLOG, size=SIZE)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_for(1)
    os.kill(spark_jvm(tool), signal.SIGKILL)
    assert tool.wait(40) == 255
    assert "the Java process for Spark has ended" in tool.output()
    assert scene.committed() <= scene.arrived()


@pytest.mark.scenario(3)
@pytest.mark.scenario(4)
@pytest.mark.parametrize("round_", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 11))])
@BY_HANDLER
def test_two_processes_in_one_group_and_one_is_killed(
    source: Any, target: Any, make_scene: Callable[..., Scene], round_: int
) -> None:
    """Both copy at full speed when one dies: nothing lost, order per key kept, only what was not committed doubled."""
    scene = make_scene(source, target, 1, partitions=12)
    consumer = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"}
    options = ("--num.streams", "2", *COMMIT_OFTEN)
    stays, dies = (scene.mirror(*options, consumer=consumer) for _ in range(2))
    wait_until(lambda: workers(stays, target) and workers(dies, target), PATIENCE, "both to have workers")
    scene.load(BACKLOG, size=SIZE)
    scene.wait_for(BACKLOG // 20)
    dies.signal(signal.SIGKILL)
    wait_until(lambda: dies.tree.pids() == [], PATIENCE, "the dead one's workers to end")
    committed = scene.committed()
    uncommitted = scene.arrived() - committed
    scene.wait_committed(BACKLOG + 1)
    stop(stays)
    assert scene.differences(allow_duplicates=True) == []
    assert scene.arrived() - (BACKLOG + 1) <= uncommitted, "at most what both had copied since their last commits"


@BY_TOOL
@pytest.mark.scenario(14)
def test_brokers_restart_on_either_side(own_clusters: Callable[..., Any], make_scene: Callable[..., Scene]) -> None:
    source, target = own_clusters(), own_clusters()
    scene = make_scene(source, target, BACKLOG // 2, size=SIZE)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_for(1)
    for cluster in (source, target):
        cluster.brokers[0].kill()
        cluster.brokers[0].restart()
        cluster.wait_ready()
        scene.load(BACKLOG // 4, size=SIZE, seed=9)
    scene.wait_committed(BACKLOG)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []


@pytest.mark.slow
@BY_HANDLER
@pytest.mark.scenario(13)
def test_target_down_for_30_seconds(own_clusters: Callable[..., Any], make_scene: Callable[..., Scene]) -> None:
    """The mirror waits, keeps its membership beyond max.poll.interval.ms, and goes on."""
    source, target = own_clusters(), own_clusters()
    scene = make_scene(source, target, BACKLOG, size=SIZE)
    impatient = {"max.poll.interval.ms": "10000", "session.timeout.ms": "6000"}
    tool = scene.mirror(*COMMIT_OFTEN, consumer=impatient)
    scene.wait_for(1)
    target.brokers[0].kill()
    with pytest.raises(TimeoutError):
        wait_until(lambda: not tool.running(), 30, "the end of a mirror that must go on")
    target.brokers[0].restart()
    target.wait_ready()
    scene.wait_committed(BACKLOG)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []
    assert "not committed" not in tool.output()


@BY_TOOL
@pytest.mark.scenario(27)
def test_a_record_that_cannot_be_sent_ends_the_mirror(
    source: Any, target: Any, make_scene: Callable[..., Scene], which: str
) -> None:
    """abort.on.send.failure is on by default: 255, the old line, and no member left behind; ours commits the rest."""
    scene = make_scene(source, target, 1000)
    scene.load(1, size=2_000_000)
    tool = scene.mirror()
    assert tool.wait(60) == 255
    assert members(source.bootstrap, scene.group) == 0
    assert f"Error when sending message to topic {scene.topic} with key: " in tool.output()
    assert scene.committed() == (0 if which == "old" else scene.arrived())


@BY_TOOL
@pytest.mark.scenario(27)
def test_without_abort_the_record_is_counted_and_passed(
    source: Any, target: Any, make_scene: Callable[..., Scene]
) -> None:
    scene = make_scene(source, target, 1000)
    scene.load(5, size=2_000_000)
    tool = scene.mirror("--abort.on.send.failure", "false", *COMMIT_OFTEN)
    scene.wait_committed(1005)
    stop(tool)
    assert scene.verdict().count("lost") == 5, "those that were too large, and no other"
    assert scene.arrived() == 1000
    assert tool.output().count("Error when sending message to topic") == 5
