"""Several streams in one process: what happens to one of them, or to the process, costs no record of the others."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import end_offsets, members
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BACKLOG, PATIENCE, SIZE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop, workers

pytestmark = [pytest.mark.faults, pytest.mark.spark]
STREAMS = 4
FEW = 4_000
ONE_CORE = ("taskset", "-c", "0")
"""As many processes as cores: all streams are in one."""


def mirror(scene: Scene, *options: str, **settings: Any) -> ToolProcess:
    """A mirror whose streams share one process."""
    return scene.mirror("--num.streams", str(STREAMS), *COMMIT_OFTEN, *options, wrapper=ONE_CORE, **settings)


def the_process(tool: ToolProcess, target: Any) -> int:
    """The one process that copies; after a rebalance the one before may still be there."""
    wait_until(lambda: len(workers(tool, target)) == 1, PATIENCE, "one copy process")
    return workers(tool, target)[0]


def lost(tool: ToolProcess) -> list[str]:
    """The lines that tell of copy jobs that were lost."""
    return [line for line in tool.output().splitlines() if "copy job lost" in line]


def threads(pid: int) -> list[str]:
    """The names of the threads of a process."""
    return [(task / "comm").read_text().strip() for task in Path(f"/proc/{pid}/task").iterdir()]


@pytest.mark.scenario(3)
def test_a_killed_process_is_replaced_for_all_its_streams(
    source: Any, target: Any, make_scene: Callable[..., Scene]
) -> None:
    scene = make_scene(source, target, BACKLOG, size=SIZE, partitions=12)
    tool = mirror(scene)
    scene.wait_for(1)
    os.kill(the_process(tool, target), signal.SIGKILL)
    scene.wait_committed(BACKLOG)
    stop(tool)
    assert lost(tool)
    assert scene.differences(allow_duplicates=True) == []


@pytest.mark.scenario(7)
def test_a_frozen_process_is_gone_before_another_one_writes(
    source: Any, target: Any, make_scene: Callable[..., Scene]
) -> None:
    """Invariant D holds for each of its streams."""
    scene = make_scene(source, target, BACKLOG, size=SIZE, partitions=12)
    tool = mirror(scene)
    scene.wait_for(1)
    frozen = the_process(tool, target)
    os.kill(frozen, signal.SIGSTOP)
    wait_until(lambda: set(workers(tool, target)) - {frozen}, PATIENCE, "another process")
    assert frozen not in tool.tree.pids()
    scene.wait_committed(BACKLOG)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []


@pytest.mark.scenario(4)
def test_partitions_go_and_come_back_while_the_process_copies(
    source: Any, target: Any, make_scene: Callable[..., Scene]
) -> None:
    """A second mirror joins and leaves: each stream's job ends and begins in a process that others use, too."""
    scene = make_scene(source, target, 1, partitions=12)
    tool = mirror(scene)
    scene.wait_committed(1)
    guest = mirror(scene)
    wait_until(lambda: workers(guest, target), PATIENCE, "the guest to copy")
    scene.load(BACKLOG, size=SIZE, seed=2)
    scene.wait_for(BACKLOG // 10)
    stop(guest)
    scene.wait_committed(BACKLOG + 1)
    stop(tool)
    assert lost(tool) == lost(guest) == []
    assert scene.differences(allow_duplicates=False) == []
    assert sum(end_offsets(target.bootstrap, scene.topic).values()) == BACKLOG + 1


def test_idle_streams_keep_no_thread_for_the_target(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    """Sending starts again where it has ended."""
    scene = make_scene(source, target, 1, partitions=12)
    tool = mirror(scene)
    wait_until(lambda: members(source.bootstrap, scene.group) == STREAMS, PATIENCE, "all streams to have joined")
    scene.load(FEW, seed=1)
    scene.wait_committed(FEW + 1)
    process = the_process(tool, target)
    wait_until(lambda: len(threads(process)) <= 4 + 2 * STREAMS, PATIENCE, "the threads that are idle to end")
    scene.load(FEW, seed=2)
    scene.wait_committed(2 * FEW + 1)
    assert the_process(tool, target) == process
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []


@pytest.mark.parametrize("where", ["here", "aside"])
def test_streams_that_share_a_jvm_end_together_when_a_handler_ends_the_program(
    source: Any, target: Any, make_scene: Callable[..., Scene], handler_jars: dict[str, Path], where: str
) -> None:
    """`here`: in the thread that handles records, which never returns. What all of them have sent is committed."""
    scene = make_scene(source, target, FEW, partitions=12)
    args = ("--message.handler", "Enough", "--message.handler.args", f"{FEW} 7 {where}")
    tool = mirror(scene, *args, classpath=[handler_jars["Enough"]])
    scene.wait_committed(FEW)
    the_process(tool, target)
    scene.load(2 * STREAMS * FEW, seed=2)
    assert tool.wait(PATIENCE) == 7, tool.output()
    assert lost(tool) == []
    assert FEW <= scene.arrived() == scene.committed()


def test_a_killed_jvm_is_replaced_for_all_its_streams(
    source: Any, target: Any, make_scene: Callable[..., Scene], handler_jars: dict[str, Path]
) -> None:
    """Their handlers are made anew, in one process again."""
    scene = make_scene(source, target, BACKLOG, size=SIZE, partitions=12)
    tool = mirror(scene, "--message.handler", "Counter", classpath=[handler_jars["Counter"]])
    scene.wait_for(1)
    killed = the_process(tool, target)
    os.kill(killed, signal.SIGKILL)
    scene.wait_committed(BACKLOG)
    assert the_process(tool, target) != killed
    stop(tool)
    assert lost(tool)
    assert scene.arrived() >= BACKLOG
