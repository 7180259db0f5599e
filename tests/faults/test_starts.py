"""A place that a policy has chosen, and an end that needs a person: what a restart finds committed."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, delete_records, delete_topic, end_offsets, grow_topic
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BY_HANDLER, PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark]
LATEST = {"auto.offset.reset": "latest", "metadata.max.age.ms": "1000"}
NEVER = ("--offset.commit.interval.ms", "3600000")
TRIMMED = 100


def kill(tool: ToolProcess) -> None:
    """And see every process of it gone."""
    tool.tree.pids()
    tool.signal(signal.SIGKILL)
    wait_until(lambda: tool.tree.pids() == [], PATIENCE, "the end of every process")


@pytest.mark.slow
@BY_HANDLER
def test_what_comes_behind_a_chosen_place_survives_a_kill(
    source: Any, target: Any, make_scene: Callable[..., Scene]
) -> None:
    """`latest` at the first start, then at a gap; each place is committed before a record comes."""
    scene = make_scene(source, target, 4_000)
    tool = scene.mirror(*NEVER, consumer=LATEST)
    scene.wait_committed(4_000)
    kill(tool)
    scene.load(1_000, seed=8)
    tool = scene.mirror(*COMMIT_OFTEN, consumer=LATEST)
    scene.wait_for(1_000)
    scene.wait_committed(5_000)
    stop(tool)
    ends = end_offsets(source.bootstrap, scene.topic)
    scene.load(4_000, seed=9)
    delete_records(source.bootstrap, scene.topic, {number: end + TRIMMED for number, end in ends.items()})
    tool = scene.mirror(*NEVER, consumer=LATEST)
    scene.wait_committed(9_000)
    kill(tool)
    lines = [line for line in tool.output().splitlines() if "Gap in " in line]
    assert len(lines) == 4
    for line in lines:
        assert f"reason: {TRIMMED} were removed by retention or a deletion of records, " in line
        assert " are there and were skipped by auto.offset.reset=latest" in line
    scene.load(1_000, seed=10)
    tool = scene.mirror(*COMMIT_OFTEN, consumer=LATEST)
    scene.wait_for(2_000)
    stop(tool)
    assert scene.verdict().count("lost") == 8_000


@BY_HANDLER
def test_a_topic_that_was_recreated_is_new(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    """With `--new.topics.from earliest` it is begun at its first record, though the group had begun at the end."""
    scene = make_scene(source, target, 4_000)
    tool = scene.mirror("--new.topics.from", "earliest", *COMMIT_OFTEN, consumer=LATEST)
    scene.wait_committed(4_000)  # before it joins the group
    scene.load(500, seed=8)
    scene.wait_for(500)  # it reads the topic that is deleted now
    delete_topic(source.bootstrap, scene.topic)
    create_topic(source.bootstrap, scene.topic, partitions=4)
    scene.load(1_000, seed=9)
    scene.wait_for(1_500)
    stop(tool)
    assert scene.arrived() == 1_500


@BY_HANDLER
@pytest.mark.parametrize("way", ["gap", "none"])
def test_an_end_that_needs_a_person_commits_what_was_copied(
    source: Any, target: Any, make_scene: Callable[..., Scene], way: str
) -> None:
    """A supervisor starts it again and again: each record of the other partitions is copied once."""
    scene = make_scene(source, target, 4_000)
    tool = scene.mirror(*NEVER, consumer={"metadata.max.age.ms": "1000"})
    scene.wait_for(4_000)
    stop(tool)
    ends = end_offsets(source.bootstrap, scene.topic)
    scene.load(4_000, seed=9)
    options: tuple[str, ...] = ()
    consumer = {"auto.offset.reset": "none", "metadata.max.age.ms": "1000"}
    if way == "gap":
        delete_records(source.bootstrap, scene.topic, {0: ends[0] + TRIMMED})
        options, consumer = ("--on.gap", "fail"), {}
    for attempt in range(3):
        tool = scene.mirror(*NEVER, *options, consumer=consumer)
        if way == "none" and not attempt:
            scene.wait_for(8_000)
            grow_topic(source.bootstrap, scene.topic, 5)
        assert tool.wait(PATIENCE) == 255, tool.output()
        assert "kafka-consumer-groups.sh --bootstrap-server SOURCE" in tool.output()
        assert f"--group {scene.group} --topic {scene.topic}:{0 if way == 'gap' else 4} " in tool.output()
        assert scene.committed() == scene.arrived()
    assert scene.arrived() == 8_000 if way == "none" else scene.arrived() > 4_000
    assert scene.verdict().count("duplicated") == 0
