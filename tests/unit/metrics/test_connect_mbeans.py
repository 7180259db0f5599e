"""The beans of Kafka Connect for the flows of one process."""

from __future__ import annotations

import math

import pytest

from legacy_mm.base.reports import Measured, Statistics
from legacy_mm.metrics.connect_mbeans import CONNECT_BEANS
from legacy_mm.metrics.jmx import beans_of
from legacy_mm.metrics.registry import Registry

FACTS: dict[str, str | int] = {"version": "1", "start_time_ms": 5}
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
    return Registry("A->B", "", FACTS)


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
    other = Registry("C->D", "", FACTS)
    life.flow_runs(up=True, connectors=(SOURCE,))
    other.flow_runs(up=False, connectors=(SOURCE, HEARTBEAT))
    beans = shown(life, other)
    assert beans["connect-worker-metrics"]["connector-count"] == 3
    tasks = beans[f"connect-worker-metrics,connector={SOURCE}"]
    assert (tasks["connector-total-task-count"], tasks["connector-failed-task-count"]) == (2, 1)
    assert beans[f"connector-metrics,connector={SOURCE}"]["status"] == "running"


def test_what_was_copied_is_the_source_task_s(life: Registry) -> None:
    mirror = Registry("A->B", "producer", FACTS)
    mirror.stream(0, "consumer")
    task = shown(life, mirror)[f"source-task-metrics,connector={SOURCE},task=0"]
    assert (task["source-record-poll-total"], task["source-record-write-total"]) == (0, 0)


def client(name: str, **counters: float) -> Statistics:
    return Statistics(name, [Measured(level, "1", counters, {}, {}, {}) for level in ("client", "node")])


def test_a_member_of_the_workers_group_is_connect_s_and_no_part_of_the_consumer() -> None:
    registry = Registry("A->B", "producer", FACTS)
    registry.in_workers_group("A->B", 3)
    for index in range(2):
        stream = registry.stream(index, f"consumer-{index}")
        stream.statistics(client("consumer", requests=40))
        stream.statistics(client("member", requests=7, heartbeats=5))
        stream.assigned(frozenset())
    beans = shown(registry)
    of = 'client-id="A->B"'
    assert beans[f"connect-metrics,{of}"]["request-total"] == 14
    assert beans[f"connect-node-metrics,{of},node-id=node-1"]["request-total"] == 14
    coordinator = beans[f"connect-coordinator-metrics,{of}"]
    assert (coordinator["heartbeat-total"], coordinator["rebalance-total"]) == (10, 2)
    assert (coordinator["assigned-connectors"], coordinator["assigned-tasks"]) == (3, 3)
    assert beans[f"app-info,{of}"]["start-time-ms"] == 5
    consumers = beans_of([registry.snapshot()], CONNECT_BEANS)
    assert not [name for name in consumers if "consumer-coordinator" in name]
    totals = [
        value
        for name, _, _, value in consumers["kafka.consumer:type=consumer-metrics,client-id=consumer-0"]
        if name == "request-total"
    ]
    assert totals == [40]


def test_a_member_of_a_consumer_group_is_a_part_of_its_consumer() -> None:
    registry = Registry("A->B", "producer", FACTS)
    registry.stream(0, "consumer-0").statistics(client("member", requests=7))
    beans = beans_of([registry.snapshot()], CONNECT_BEANS)
    assert not [name for name in beans if name.startswith("kafka.connect:type=connect-metrics")]
    found = {name: value for name, _, _, value in beans["kafka.consumer:type=consumer-metrics,client-id=consumer-0"]}
    assert found["request-total"] == 7


def test_an_admin_client_counts_on_when_it_is_made_anew() -> None:
    registry = Registry("A->B", "producer", FACTS)

    def requests(told: Statistics | None) -> object:
        registry.admin("A->B|admin", lambda: told)
        beans = beans_of([registry.snapshot()], CONNECT_BEANS)
        rows = beans['kafka.admin.client:type=admin-client-metrics,client-id="A->B|admin"']
        return next(value for name, _, _, value in rows if name == "request-total")

    assert [requests(None), requests(client("admin", requests=7)), requests(client("admin", requests=5))] == [0, 7, 12]


def test_what_a_worker_tells_of_itself_needs_no_flow_that_runs(life: Registry) -> None:
    life.flow_runs(up=False, connectors=(SOURCE,))
    assert shown(life)["app-info"] == {"version": "1", "start-time-ms": 5, "commit-id": "unknown"}
