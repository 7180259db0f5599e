"""Three real legacy processes are replaced by three of ours in one group, under load, and back again.

Also Kafka's own old system test of bouncing (contract 8.3), on ours and on the real tool.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import members
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BY_TOOL, PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN

pytestmark = [pytest.mark.faults, pytest.mark.spark]
RECORDS, RATE = 60_000, 1_000


def under_load(scene: Scene, records: int, rate: int) -> threading.Thread:
    """Write while the test goes on."""
    writer = threading.Thread(target=lambda: scene.load(records, seed=9, rate=rate), name="load")
    writer.start()
    return writer


@pytest.mark.slow
@pytest.mark.scenario(33)
def test_three_old_processes_are_replaced_and_come_back(
    source: Any,
    target: Any,
    make_scene: Callable[..., Scene],
    old_tool: Callable[..., ToolProcess],
    our_tool: Callable[..., ToolProcess],
) -> None:
    """Host by host: a clean stop, then the other tool; nothing lost, nothing doubled, order kept."""
    scene = make_scene(source, target, 1_000, partitions=6)
    read = {"bootstrap.servers": source.bootstrap, "group.id": scene.group, "auto.offset.reset": "earliest"}
    written = {"bootstrap.servers": target.bootstrap}

    def start(tool: Callable[..., ToolProcess], running: int) -> ToolProcess:
        process = tool(read, written, "--whitelist", scene.topic, *COMMIT_OFTEN)
        wait_until(lambda: members(source.bootstrap, scene.group) == running, PATIENCE, f"{running} members")
        return process

    hosts = [start(old_tool, number) for number in (1, 2, 3)]
    writer = under_load(scene, RECORDS, RATE)
    for tool in (our_tool, old_tool):
        for number in range(3):
            hosts[number].signal(signal.SIGTERM)
            assert hosts[number].wait(60) == 143
            hosts[number] = start(tool, 3)
    writer.join()
    scene.wait_committed(RECORDS + 1_000)
    for host in hosts:
        host.signal(signal.SIGTERM)
        assert host.wait(60) == 143
    assert scene.differences(allow_duplicates=False) == []
    assert scene.committed() == RECORDS + 1_000, "lag tools see none"


@BY_TOOL
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["clean", "hard"])
@pytest.mark.slow
@pytest.mark.scenario(4)
def test_bounce(source: Any, target: Any, make_scene: Callable[..., Scene], number: signal.Signals) -> None:
    """Kafka's `test_bounce`: three times down and up while 1,000 records a second are written."""
    scene = make_scene(source, target, 100, partitions=1)
    options = ("--offset.commit.interval.ms", "1000")
    tool = scene.mirror(*options)
    scene.wait_committed(100)
    writer = under_load(scene, 30_000, RATE)
    for _ in range(3):
        before = scene.arrived()
        tool.signal(number)
        tool.wait(30)
        tool = scene.mirror(*options)
        scene.wait_for(before + 100)
    writer.join()
    scene.wait_committed(30_100)
    tool.signal(signal.SIGTERM)
    assert tool.wait(30) == 143
    assert scene.differences(allow_duplicates=number is signal.SIGKILL) == []
