"""The end at a certain step, or by what nobody expects: what is committed, and what a next run does.

Scenarios 2, 3, 6, 25.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, grow_topic
from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BACKLOG, BY_HANDLER, BY_TOOL, PATIENCE, SIZE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
RECORDS = 4_000
LATEST = {"auto.offset.reset": "latest", "metadata.max.age.ms": "1000"}
PROTOCOLS = {"classic": {"session.timeout.ms": "6000"}, "consumer": {"group.protocol": "consumer"}}
"""With `consumer` the brokers set the session: a dead member is missed after 45 s."""
FROM_EARLIEST = ("--new.topics.from", "earliest", *COMMIT_OFTEN)
SKIPPED = re.compile(r"Skipped in \S+: from \d+ to \d+, (\d+) offsets were not copied")
BLOCKS = """
import threading
from pathlib import Path

seen = 0

def handle(record):
    global seen
    seen += 1
    if seen > 1000:
        Path({marker!r}).touch()
        threading.Event().wait()
    return [record.to(record.topic)]
"""
WORKER_OUT_OF_MEMORY = """
from legacy_mm.dataplane.copy_engine import CopyEngine

def run_out(engine, *, blocked):
    raise MemoryError("no more")

CopyEngine._tend = run_out

def handle(record):
    return [record.to(record.topic)]
"""
DRIVER_OUT_OF_MEMORY = """
from legacy_mm.controlplane.commits import Commits
from legacy_mm.handlers.api import RebalanceListener

def run_out(commits):
    raise MemoryError("no more")

class Listener(RebalanceListener):
    def assigned(self, partitions):
        Commits.tick = run_out

    def revoked(self, partitions):
        pass
"""


def kill(tool: ToolProcess) -> None:
    """And see every process of it gone."""
    tool.tree.pids()
    tool.signal(signal.SIGKILL)
    wait_until(lambda: tool.tree.pids() == [], PATIENCE, "the end of every process")


@pytest.mark.parametrize("which", ["ours", "old"])
@pytest.mark.scenario(2)
def test_killed_after_the_poll_and_before_the_send(
    source: Any,
    target: Any,
    make_scene: Callable[..., Scene],
    handler_jars: dict[str, Path],
    tmp_path: Path,
    which: str,
) -> None:
    """A handler has the records when the end comes; they are read again."""
    scene = make_scene(source, target, RECORDS)
    script, marker = tmp_path / "blocks.py", tmp_path / "blocked"
    script.write_text(BLOCKS.format(marker=str(marker)))
    session = {"session.timeout.ms": "6000"}
    handler = ("Blocks", "--message.handler.args", str(marker)) if which == "old" else (str(script),)
    classpath = [handler_jars["Blocks"]]
    tool = scene.mirror("--message.handler", *handler, *COMMIT_OFTEN, consumer=session, classpath=classpath)
    wait_until(marker.exists, PATIENCE, "the handler to have the records")
    kill(tool)
    arrived, committed = scene.arrived(), scene.committed()
    assert committed <= arrived < RECORDS
    tool = scene.mirror(*COMMIT_OFTEN, consumer=session)
    scene.wait_committed(RECORDS)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []
    assert scene.arrived() == RECORDS + arrived - committed, "doubled is what was not committed"


@BY_TOOL
@pytest.mark.scenario(2)
@pytest.mark.scenario(3)
def test_killed_between_send_and_acknowledgement(
    source: Any, own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene]
) -> None:
    """The target answers nothing any more, so what the tool has read is sent without an answer, or waits to be sent."""
    target = own_clusters()
    scene = make_scene(source, target, BACKLOG, size=SIZE)
    session = {"session.timeout.ms": "6000"}
    tool = scene.mirror(*COMMIT_OFTEN, consumer=session)
    scene.wait_for(BACKLOG // 20)
    target.brokers[0].suspend()
    kill(tool)
    target.brokers[0].resume()
    committed = scene.committed()
    assert committed < BACKLOG
    tool = scene.mirror(*COMMIT_OFTEN, consumer=session)
    scene.wait_committed(BACKLOG)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []
    assert scene.arrived() <= 2 * BACKLOG - committed, "doubled is what was not committed"


@BY_TOOL
@pytest.mark.scenario(6)
def test_killed_before_the_first_commit(source: Any, target: Any, make_scene: Callable[..., Scene], which: str) -> None:
    """KAFKA-2759: without a committed offset `latest` passes over what was written while nobody read.

    Ours commits at once where it begins, and says what it skips there.
    """
    scene = make_scene(source, target, 0)
    latest = {"auto.offset.reset": "latest", "session.timeout.ms": "6000"}
    tool = scene.mirror(consumer=latest)
    wait_until(lambda: copies_something(scene), PATIENCE, "the tool to copy")
    kill(tool)
    began_behind = skipped(tool)
    lost_before = scene.verdict().count("lost")
    scene.load(RECORDS, seed=9)
    tool = scene.mirror(*COMMIT_OFTEN, consumer=latest)
    arrived = scene.arrived()
    wait_until(lambda: copies_something(scene, arrived), PATIENCE, "the tool to copy again")
    if which == "old":
        stop(tool)
        assert scene.verdict().count("lost") - lost_before >= RECORDS, "the documented hole"
        return
    wait_until(lambda: scene.verdict().count("lost") == began_behind, PATIENCE, "all but what it says it skips")
    stop(tool)
    assert skipped(tool) == 0


@BY_HANDLER
@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.scenario(6)
def test_only_what_the_first_start_says_is_skipped(
    source: Any, target: Any, make_scene: Callable[..., Scene], protocol: str
) -> None:
    """`--new.topics.from earliest`, killed before it copies: nothing later is missing, not even in a new partition and
    in a new topic.
    """
    scene = make_scene(source, target, RECORDS)
    later = replace(scene, topic=f"{scene.topic}-later", ledger=Ledger(f"{scene.topic}-later"))
    both = replace(scene, topic=f"{scene.topic}.*")
    reading = LATEST | PROTOCOLS[protocol]
    start = lambda: both.mirror(*FROM_EARLIEST, "--num.streams", "2", consumer=reading)  # noqa: E731
    tool = start()
    wait_until(lambda: skipped(tool) == RECORDS, PATIENCE, "the word about what it skips")
    kill(tool)
    assert scene.committed() == RECORDS
    grow_topic(target.bootstrap, scene.topic, 6)
    grow_topic(source.bootstrap, scene.topic, 6)
    scene.load(RECORDS, seed=9)
    tool = start()
    scene.wait_committed(2 * RECORDS)
    for cluster in (target, source):
        create_topic(cluster.bootstrap, later.topic, 2)
    later.load(RECORDS, seed=11)
    later.wait_committed(RECORDS)
    stop(tool)
    assert skipped(tool) == 0
    assert later.differences(allow_duplicates=True) == []
    verdict = scene.verdict()
    assert (verdict.count("lost"), verdict.count("reordered"), verdict.count("altered")) == (RECORDS, 0, 0)


@BY_HANDLER
@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.scenario(6)
@pytest.mark.scenario(25)
def test_a_partition_is_added_while_nothing_runs(
    source: Any, target: Any, make_scene: Callable[..., Scene], protocol: str
) -> None:
    """The group has offsets for some partitions, and none for the new ones: those are copied from their beginning."""
    scene = make_scene(source, target, RECORDS)
    tool = scene.mirror(*FROM_EARLIEST, consumer=LATEST | PROTOCOLS[protocol])
    wait_until(lambda: skipped(tool) == RECORDS, PATIENCE, "the word about what it skips")
    scene.load(RECORDS, seed=9)
    scene.wait_for(1)
    kill(tool)
    grow_topic(target.bootstrap, scene.topic, 6)
    grow_topic(source.bootstrap, scene.topic, 6)
    scene.load(RECORDS, seed=11)
    tool = scene.mirror(*FROM_EARLIEST, consumer=LATEST | PROTOCOLS[protocol])
    scene.wait_committed(3 * RECORDS)
    stop(tool)
    assert skipped(tool) == 0
    verdict = scene.verdict()
    assert (verdict.count("lost"), verdict.count("reordered"), verdict.count("altered")) == (RECORDS, 0, 0)


def skipped(tool: ToolProcess) -> int:
    """Records that it says it skipped."""
    return sum(map(int, SKIPPED.findall(tool.output())))


def copies_something(scene: Scene, before: int = 0) -> bool:
    """Whether what is written from now on arrives; more is written as long as it does not."""
    scene.load(10)
    return scene.arrived() > before


@pytest.mark.parametrize(
    ("option", "script"),
    [
        ("--message.handler", WORKER_OUT_OF_MEMORY),
        ("--consumer.rebalance.listener", DRIVER_OUT_OF_MEMORY),
    ],
    ids=["worker", "driver"],
)
def test_out_of_memory_is_the_end(
    source: Any, target: Any, make_scene: Callable[..., Scene], tmp_path: Path, option: str, script: str
) -> None:
    """255, and nothing is committed that was not proven before; as after any exception that nobody expects."""
    scene = make_scene(source, target, RECORDS)
    file = tmp_path / "sabotage.py"
    file.write_text(script)
    tool = scene.mirror(option, f"{file}:Listener" if "listener" in option else str(file), *COMMIT_OFTEN)
    assert tool.wait(PATIENCE) == 255
    assert "no more" in tool.output()
    assert scene.committed() == 0
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(RECORDS)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []
