"""Processes that freeze and wake when their partitions may be somebody else's: the ledger decides. Scenario 7."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import members
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BY_HANDLER, BY_TOOL, PATIENCE, Scene
from tests.faults.test_hot_swap import under_load
from tests.faults.test_recovery import COMMIT_OFTEN, spark_jvm, stop, workers

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
ROUNDS, RECORDS = 20, 50_000
SHORT_SESSION = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"}
FROZEN: dict[str, Callable[[ToolProcess, Any], list[int]]] = {
    "driver": lambda tool, source: [tool.pid],
    "jvm": lambda tool, source: [spark_jvm(tool)],
    "worker": lambda tool, source: copying(tool, source),
    "tree": lambda tool, source: tool.tree.pids(),
}


def copying(tool: ToolProcess, source: Any) -> list[int]:
    """Workers that have reached the source."""
    return [pid for pid in workers(tool, source) if pid != tool.pid]


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Signal those that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


class Pair:
    """Two processes of one group. One that lost its copy job too often has ended with 255, and is started anew."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.tools = [self._start(), self._start()]

    def wait(self) -> None:
        """Until both have partitions and read them."""
        wait_until(self._both_copy, PATIENCE, "both to copy")

    def _both_copy(self) -> bool:
        for index, tool in enumerate(self.tools):
            if not tool.running():
                assert tool.wait(0) == 255, tool.output()
                self.tools[index] = self._start()
        source = self._scene.source
        return all(copying(tool, source) for tool in self.tools) and members(source.bootstrap, self._scene.group) == 2

    def _start(self) -> ToolProcess:
        return self._scene.mirror(*COMMIT_OFTEN, consumer=SHORT_SESSION)


def freeze_and_wake(scene: Scene, target: Cluster, sleeper: ToolProcess, kind: str, *, early: bool) -> int:
    """What had arrived when it woke. What is frozen has its queues full; `early`: it wakes as soon as the other one
    has its partitions, else when that has copied all, so that what arrives afterwards is the sleeper's.
    """
    target.brokers[0].suspend()
    scene.load(RECORDS)
    total = scene.ledger.acknowledged
    pids = FROZEN[kind](sleeper, scene.source)
    send(pids, signal.SIGSTOP)
    target.brokers[0].resume()
    if early and kind in ("driver", "tree"):
        wait_until(lambda: members(scene.source.bootstrap, scene.group) == 1, PATIENCE, "the other one to be alone")
    elif not early:
        scene.wait_committed(total)
    arrived = scene.arrived()
    send(pids, signal.SIGCONT)
    scene.wait_committed(total)
    return arrived


@pytest.mark.scenario(7)
@BY_HANDLER
def test_twenty_zombies(source: Any, own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene]) -> None:
    """Nothing lost, order kept; only a whole tree that was frozen doubles anything after it wakes."""
    target = own_clusters()
    scene = make_scene(source, target, RECORDS, partitions=8)
    pair = Pair(scene)
    pair.wait()
    late: dict[str, int] = dict.fromkeys(FROZEN, 0)
    for number in range(ROUNDS):
        kind, early = list(FROZEN)[number % 4], number // 4 != 1
        arrived = freeze_and_wake(scene, target, pair.tools[number // 4 % 2], kind, early=early)
        pair.wait()
        if not early:
            late[kind] += scene.arrived() - arrived
    for tool in pair.tools:
        stop(tool)
    assert scene.differences(allow_duplicates=True) == []
    assert late.pop("tree") <= RECORDS, "at most its queues"
    assert not any(late.values()), late


@BY_TOOL
@pytest.mark.scenario(7)
def test_a_zombie_wakes_when_the_others_have_gone(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    """An empty group takes commits from anybody: what the sleeper had not committed must not go there."""
    scene = make_scene(source, target, RECORDS, partitions=8)
    sleeper = scene.mirror("--offset.commit.interval.ms", "5000", consumer=SHORT_SESSION)
    writer = under_load(scene, 20_000, 2_000)
    scene.wait_for(RECORDS + 5_000)
    pids = sleeper.tree.pids()
    send(pids, signal.SIGSTOP)
    other = scene.mirror(*COMMIT_OFTEN, consumer=SHORT_SESSION)
    writer.join()
    total = scene.ledger.acknowledged
    scene.wait_committed(total)
    stop(other)
    send(pids, signal.SIGCONT)
    seen: list[int] = []

    def committed() -> int:
        seen.append(scene.committed())
        return seen[-1]

    wait_until(lambda: committed() and members(source.bootstrap, scene.group), PATIENCE, "the sleeper to be a member")
    scene.load(RECORDS, seed=9)
    wait_until(lambda: committed() >= total + RECORDS, PATIENCE, "the sleeper to copy")
    stop(sleeper)
    assert min(seen) == total, "an older offset was committed"
    assert scene.differences(allow_duplicates=True) == []
