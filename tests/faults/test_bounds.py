"""What a mirror costs while it has nothing to do. Figures go to compat/reports/bounds.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient

from legacy_mm.clock import monotonic
from legacy_mm.testbed.cluster import Cluster
from legacy_mm.testbed.tools import ToolProcess
from legacy_mm.testbed.waiting import wait_until
from tests.faults import report
from tests.faults.conftest import Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
IDLE_SECONDS, LOOK_SECONDS = 30.0, 5.0
PARTITIONS, RECORDS = 1_000, 20_000
TOPIC_WATCH = 1
TOOLS = [("ours", "batches"), ("ours", "records"), ("old", "")]


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


def options(engine: str) -> tuple[str, ...]:
    """The old tool has no engines."""
    return (*COMMIT_OFTEN, *(("--engine", engine) if engine else ()))


def coordinator(bootstrap: str, group: str) -> int:
    """Port of the group's coordinator."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    return int(admin.describe_consumer_groups([group])[group].result(30).coordinator.port)


@pytest.fixture(scope="module")
def three(module_clusters: Callable[..., Cluster]) -> Cluster:
    """A source of three brokers."""
    return module_clusters(brokers=3)


@pytest.mark.parametrize(("which", "engine"), TOOLS)
def test_a_thousand_idle_partitions(
    three: Cluster, own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene], which: str, engine: str
) -> None:
    """Few connections: at most 4 to the coordinator's broker, 2 to any other source broker, 2 to a target broker; and
    the topic watch, of which a process has one, has its own to some source broker."""
    target = own_clusters()
    scene = make_scene(three, target, RECORDS, partitions=PARTITIONS)
    tool = scene.mirror(*options(engine))
    scene.wait_committed(RECORDS)
    idle = cost(tool, IDLE_SECONDS)
    found = Counter(port for _, port in tool.tree.connections())
    leading = coordinator(three.bootstrap, scene.group)
    others = [found[broker.port] for broker in three.brokers if broker.port != leading]
    counts = {"coordinator": found[leading], "other": max(others), "target": found[target.brokers[0].port]}
    name = f"{PARTITIONS} idle partitions"
    report.note_bound(name, f"{which} {engine}".strip(), {**idle._asdict(), "connections": counts})
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []
    if which == "ours":
        assert counts["coordinator"] <= 4
        assert counts["other"] <= 2 + TOPIC_WATCH
        assert counts["target"] <= 2
