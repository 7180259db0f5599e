"""What a mirror costs while it has nothing to do, or cannot do it. Figures go to compat/reports/bounds.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from confluent_kafka.admin import AdminClient

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import monotonic
from tests.faults import report
from tests.faults.conftest import BY_TOOL, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
IDLE_SECONDS, DOWN_SECONDS, LOOK_SECONDS = 30.0, 180.0, 5.0
PARTITIONS, RECORDS = 1_000, 20_000
TOPIC_WATCH = 1
LARGE_RECORDS, LARGE, BUFFER_MB = 300_000, 1_000, 32


class Cost(NamedTuple):
    """Of a process tree over some time."""

    cpu_percent: float
    """Of one core."""
    memory_mb: int
    """The most that was seen."""


def cost(tool: ToolProcess, seconds: float) -> Cost:
    """Watch a tool that must go on running."""
    begin, before, most = monotonic(), tool.tree.cpu_seconds(), 0
    while monotonic() < begin + seconds:
        with pytest.raises(TimeoutError):
            wait_until(lambda: not tool.running(), LOOK_SECONDS, "the end of a mirror that must go on")
        most = max(most, tool.tree.memory_bytes())
    return Cost(round(100 * (tool.tree.cpu_seconds() - before) / (monotonic() - begin), 1), most >> 20)


def coordinator(bootstrap: str, group: str) -> int:
    """Port of the group's coordinator."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    return int(admin.describe_consumer_groups([group])[group].result(30).coordinator.port)


@pytest.fixture(scope="module")
def three(module_clusters: Callable[..., Cluster]) -> Cluster:
    """A source of three brokers."""
    return module_clusters(brokers=3)


@BY_TOOL
def test_a_thousand_idle_partitions(
    three: Cluster, own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene], which: str
) -> None:
    """Few connections: at most 4 to the coordinator's broker, 2 to any other source broker, 2 to a target broker; and
    the topic watch, of which a process has one, has its own to some source broker.
    """
    target = own_clusters()
    scene = make_scene(three, target, RECORDS, partitions=PARTITIONS)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(RECORDS)
    idle = cost(tool, IDLE_SECONDS)
    found = Counter(port for _, port in tool.tree.connections())
    leading = coordinator(three.bootstrap, scene.group)
    others = [found[broker.port] for broker in three.brokers if broker.port != leading]
    counts = {"coordinator": found[leading], "other": max(others), "target": found[target.brokers[0].port]}
    name = f"{PARTITIONS} idle partitions"
    report.note_bound(name, which, {**idle._asdict(), "connections": counts})
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []
    if which != "old":
        assert counts["coordinator"] <= 4
        assert counts["other"] <= 2 + TOPIC_WATCH
        assert counts["target"] <= 2


@BY_TOOL
@pytest.mark.scenario(13)
def test_the_target_is_down_for_minutes(
    source: Any, own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene], which: str
) -> None:
    """Memory does not grow with the backlog, which is ten times `buffer.memory`; nothing is committed beyond."""
    target = own_clusters()
    scene = make_scene(source, target, RECORDS)
    limits = {"compression.type": "none", "buffer.memory": str(BUFFER_MB << 20)}
    tool = scene.mirror(*COMMIT_OFTEN, producer=limits)
    scene.wait_committed(RECORDS)
    before = tool.tree.memory_bytes() >> 20
    target.brokers[0].kill()
    scene.load(LARGE_RECORDS, size=LARGE)
    filled = cost(tool, IDLE_SECONDS)
    waiting = cost(tool, DOWN_SECONDS - IDLE_SECONDS)
    grown = {"grown_mb": filled.memory_mb - before, "grown_later_mb": waiting.memory_mb - filled.memory_mb}
    name = f"target down for {DOWN_SECONDS:g} s, {LARGE_RECORDS * LARGE // 1_000_000} MB waiting"
    report.note_bound(name, which, {**waiting._asdict(), **grown})
    assert scene.committed() == RECORDS
    target.brokers[0].restart()
    scene.wait_committed(RECORDS + LARGE_RECORDS)
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []
    if which != "old":
        assert grown["grown_mb"] < 4 * BUFFER_MB
        assert grown["grown_later_mb"] < BUFFER_MB
        assert waiting.cpu_percent < 3
