"""Clean hand-overs under load: partitions move between processes and nothing is lost or doubled."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BACKLOG, PATIENCE, SIZE, Scene
from tests.faults.report import HANDLERS
from tests.faults.test_recovery import stop, workers

pytestmark = [pytest.mark.faults, pytest.mark.spark]
HALF = BACKLOG // 2

GROUPS = {
    "range": {},
    "roundrobin": {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RoundRobinAssignor"},
    "cooperative-sticky": {
        "partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
    },
    "consumer protocol": {"group.protocol": "consumer"},
}
SLOW = dict.fromkeys(("roundrobin", "cooperative-sticky", "consumer protocol"), pytest.mark.slow)


@pytest.mark.scenario(33)
@pytest.mark.parametrize(
    ("kind", "which"),
    [
        *(pytest.param(kind, "ours", marks=SLOW.get(kind, ())) for kind in GROUPS),
        *(pytest.param("range", which, marks=pytest.mark.slow) for which in (*HANDLERS, "old")),
    ],
)
def test_a_process_joins_and_leaves_under_load(
    source: Any, target: Any, make_scene: Callable[..., Scene], kind: str
) -> None:
    """The commit of a revocation precedes the new owner's read of the offsets: not one duplicate."""
    scene = make_scene(source, target, HALF, size=SIZE, partitions=8)
    first = scene.mirror("--num.streams", "2", consumer=GROUPS[kind])
    scene.wait_for(1)
    second = scene.mirror("--num.streams", "2", consumer=GROUPS[kind])
    wait_until(lambda: workers(second, target), PATIENCE, "the second process to copy")
    scene.load(HALF, size=SIZE, seed=8)
    scene.wait_for(HALF + HALF // 2)
    stop(second)
    scene.load(HALF // 2, size=SIZE, seed=9)
    scene.wait_for(BACKLOG + HALF // 2)
    first.signal(signal.SIGTERM)
    assert first.wait(40) == 143
    assert scene.arrived() == scene.committed() == BACKLOG + HALF // 2
    assert scene.differences(allow_duplicates=False) == []
