"""The beans of Kafka Connect for the flows of one process."""

from __future__ import annotations

import math

import pytest

from legacy_mm.metrics.connect_mbeans import CONNECT_BEANS
from legacy_mm.metrics.jmx import beans_of
from legacy_mm.metrics.registry import Registry

SOURCE, HEARTBEAT = "MirrorSourceConnector", "MirrorHeartbeatConnector"
Shown = dict[str, dict[str, object]]


def shown(*registries: Registry) -> Shown:
    found = beans_of([registry.snapshot() for registry in registries], CONNECT_BEANS)
    return {
        name.removeprefix("kafka.connect:type="): {attribute: value for attribute, _, _, value in rows}
        for name, rows in found.items()
    }


@pytest.fixture
def life() -> Registry:
    return Registry("A->B", "", {})


def test_a_flow_that_runs_is_its_connectors_with_a_task_each(life: Registry) -> None:
    life.flow_runs(up=True, connectors=(SOURCE, HEARTBEAT))
    beans = shown(life)
    worker = beans["connect-worker-metrics"]
    assert (worker["connector-count"], worker["task-count"]) == (2, 2)
    assert (worker["connector-startup-attempts-total"], worker["task-startup-success-total"]) == (2, 2)
    assert (worker["connector-startup-success-percentage"], worker["connector-startup-failure-percentage"]) == (1, 0)
    for connector in (SOURCE, HEARTBEAT):
        tasks = beans[f"connect-worker-metrics,connector={connector}"]
        assert (tasks["connector-total-task-count"], tasks["connector-running-task-count"]) == (1, 1)
        assert (tasks["connector-failed-task-count"], tasks["connector-paused-task-count"]) == (0, 0)
        assert beans[f"connector-metrics,connector={connector}"] == {
            "connector-class": f"org.apache.kafka.connect.mirror.{connector}",
            "connector-type": "source",
            "connector-version": "4.3.0",
            "status": "running",
        }
        task = beans[f"connector-task-metrics,connector={connector},task=0"]
        assert (task["status"], task["running-ratio"]) == ("running", 1)
        task_class = f"org.apache.kafka.connect.mirror.{connector.removesuffix('Connector')}Task"
        assert (task["task-class"], task["connector-class"]) == (task_class, task_class[:-4] + "Connector")
        assert math.isnan(float(str(task["batch-size-avg"])))
        assert set(beans[f"task-error-metrics,connector={connector},task=0"].values()) == {0.0}


def test_a_flow_that_has_failed(life: Registry) -> None:
    life.flow_runs(up=True, connectors=(SOURCE,))
    life.flow_runs(up=False, connectors=(SOURCE,))
    beans = shown(life)
    tasks = beans[f"connect-worker-metrics,connector={SOURCE}"]
    assert (tasks["connector-running-task-count"], tasks["connector-failed-task-count"]) == (0, 1)
    assert beans[f"connector-task-metrics,connector={SOURCE},task=0"]["status"] == "failed"
    assert beans["connect-worker-metrics"]["connector-startup-failure-total"] == 0, "it had started"
    life.flow_runs(up=False, connectors=(SOURCE,))
    worker = shown(life)["connect-worker-metrics"]
    assert (worker["connector-startup-attempts-total"], worker["connector-startup-failure-total"]) == (2, 1)


def test_flows_are_added_up(life: Registry) -> None:
    other = Registry("C->D", "", {})
    life.flow_runs(up=True, connectors=(SOURCE,))
    other.flow_runs(up=False, connectors=(SOURCE, HEARTBEAT))
    beans = shown(life, other)
    assert beans["connect-worker-metrics"]["connector-count"] == 3
    tasks = beans[f"connect-worker-metrics,connector={SOURCE}"]
    assert (tasks["connector-total-task-count"], tasks["connector-failed-task-count"]) == (2, 1)
    assert beans[f"connector-metrics,connector={SOURCE}"]["status"] == "running"


def test_what_was_copied_is_the_source_task_s(life: Registry) -> None:
    mirror = Registry("A->B", "producer", {})
    mirror.stream(0, "consumer")
    task = shown(life, mirror)[f"source-task-metrics,connector={SOURCE},task=0"]
    assert (task["source-record-poll-total"], task["source-record-write-total"]) == (0, 0)
