"""MirrorMaker 2's metrics: which scopes there are, and what JMX and Prometheus make of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import JOB, Measured, Statistics
from legacy_mm.metrics import offset_metrics
from legacy_mm.metrics.jmx import beans_of
from legacy_mm.metrics.legacy_mbeans import BEANS
from legacy_mm.metrics.metric_catalogue import BY_PLACE, LABELS
from legacy_mm.metrics.mirror_maker_2_mbeans import MIRROR_MAKER_2_BEANS
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from legacy_mm.metrics.registry import MirrorNames, Registry, Scope

T0, T1 = TopicPartition("we*ird:x", 0), TopicPartition("we*ird:x", 1)
NAMES = MirrorNames("A", "B", lambda topic: f"A.{topic}")
SOURCE_BEAN = r'kafka.connect.mirror:type=MirrorSourceConnector,source=A,target=B,topic="A.we\*ird:x",partition={}'
GROUP_BEAN = 'kafka.connect.mirror:type=MirrorCheckpointConnector,source=A,target=B,group="{}",topic=A.t,partition=0'
FACTS: dict[str, str | int] = {"version": "1", "start_time_ms": 5, "loggers": "root=WARN"}


@pytest.fixture
def registry() -> Iterator[Registry]:
    made = Registry("f", "producer-1", FACTS, mirror_names=NAMES)
    yield made
    for scope in made.snapshot().readings:
        assert tuple(name for name, _ in scope.labels) == LABELS.get(scope.level, ()), "as the reference page says"


def beans(registry: Registry) -> dict[str, dict[str, object]]:
    found = beans_of([registry.snapshot()], (*BEANS, *MIRROR_MAKER_2_BEANS))
    return {
        name: {attribute: value for attribute, _, _, value in rows}
        for name, rows in found.items()
        if name.startswith("kafka.connect.mirror:") and "source=" in name
    }


def copied(*partitions: TopicPartition, **gauges: float) -> Statistics:
    rows = [
        Measured("partition", str(each), {"records": 30}, gauges, {"latency_ms": (90, 30, 5, 1)}, {})
        for each in partitions
    ]
    return Statistics(JOB, rows)


def lags(registry: Registry) -> list[float]:
    metric = BY_PLACE["mirror_partition", "lag_seconds"]
    found = registry.snapshot().readings.items()
    return [metric.value(readings) for scope, readings in found if scope.level == "mirror_partition"]


def test_a_bean_of_a_partition(registry: Registry) -> None:
    """Counts are 0 and ages NaN until there is something."""
    stream = registry.stream(0, "g-0")
    stream.assigned(frozenset({T0}))
    stream.statistics(copied(T0, T1, last_latency_ms=4.0))
    assert beans(registry).keys() == {SOURCE_BEAN.format(0)}
    bean = beans(registry)[SOURCE_BEAN.format(0)]
    assert {name: value for name, value in bean.items() if value == value} == {
        "record-count": 30,
        "record-rate": 1.0,
        "byte-count": 0,
        "byte-rate": 0,
        "replication-latency-ms": 4.0,
        "replication-latency-ms-min": 1,
        "replication-latency-ms-max": 5,
        "replication-latency-ms-avg": 3,
    }
    assert {name for name, value in bean.items() if value != value} == {
        f"record-age-ms{ending}" for ending in ("", "-min", "-max", "-avg")
    }
    stream.statistics(
        Statistics(JOB, [Measured("partition", str(T0), {"records": 30, "value_bytes": 600}, {}, {}, {})])
    )
    bean = beans(registry)[SOURCE_BEAN.format(0)]
    assert (bean["record-count"], bean["byte-count"], bean["byte-rate"]) == (30, 600, 20.0)


def test_beans_go_with_the_partition_and_counts_stay_with_it(registry: Registry) -> None:
    stream = registry.stream(0, "g-0")
    stream.assigned(frozenset({T0, T1}))
    stream.statistics(copied(T0, T1))
    stream.copy_ended()
    stream.owns(frozenset({T1}))
    stream.statistics(copied(T0, T1))
    assert {name: bean["record-count"] for name, bean in beans(registry).items()} == {SOURCE_BEAN.format(1): 60}


def test_the_lag_in_seconds(registry: Registry) -> None:
    """Known while a record waits, 0 where the consumer has nothing left to read, else nobody can tell."""
    stream = registry.stream(0, "g-0")
    stream.assigned(frozenset({T0}))
    stream.statistics(copied(T0, uncopied_seconds=7.5))
    assert lags(registry) == [7.5]
    stream.statistics(copied(T0))
    assert math.isnan(lags(registry)[0])
    for lag, seconds in ((0, 0.0), (3, math.nan)):
        rows = [Measured("partition", str(T0), {}, {"lag": lag}, {}, {})]
        stream.statistics(Statistics("consumer", rows))
        stream.statistics(copied(T0))
        assert lags(registry) == [pytest.approx(seconds, nan_ok=True)]


def test_each_group_has_its_own_latency(registry: Registry) -> None:
    """One acknowledgement of MirrorMaker 2 updates the beans of all groups."""
    metrics = OffsetMetrics(registry)
    for group, seconds in (("g:1", 0.01), ("g:2", 0.5), ("g:1", 0.03)):
        metrics.checkpoint(group, "A.t", 0, seconds)
    endings = ("", "-min", "-max", "-avg")
    assert {
        name: tuple(bean[f"checkpoint-latency-ms{ending}"] for ending in endings)
        for name, bean in beans(registry).items()
    } == {
        GROUP_BEAN.format("g:1"): pytest.approx((30, 10, 30, 20)),
        GROUP_BEAN.format("g:2"): pytest.approx((500, 500, 500, 500)),
    }


def test_only_the_partitions_of_groups_that_came_last_are_shown(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_metrics, "_SHOWN_AT_MOST", 2)
    metrics = OffsetMetrics(registry)
    for group in ("g:1", "g:2", "g:1", "g:3"):
        metrics.checkpoint(group, "A.t", 0, 0.01)
    assert beans(registry).keys() == {GROUP_BEAN.format("g:1"), GROUP_BEAN.format("g:3")}


def test_what_is_counted_of_offsets(registry: Registry) -> None:
    metrics = OffsetMetrics(registry)
    scope = Scope("mirror_offsets", (("source", "A"), ("target", "B")))
    assert {reading.value for reading in registry.snapshot().readings[scope].values()} == {0, math.inf}
    metrics.checkpoint("g", "A.t", 0, 0.01)
    metrics.groups_synced(3)
    for failed in (True, False, False):
        metrics.sync_settled(failed=failed)
    found = registry.snapshot().readings[scope].items()
    counted = {name: reading.value for name, reading in found if not name.startswith("last_")}
    assert counted == {"checkpoints": 1, "groups": 3, "syncs": 2, "failed_syncs": 1}


def test_without_names_there_is_nothing_of_it() -> None:
    registry = Registry("f", "producer-1", FACTS)
    stream = registry.stream(0, "g-0")
    stream.assigned(frozenset({T0}))
    stream.statistics(copied(T0))
    assert beans(registry) == {}
