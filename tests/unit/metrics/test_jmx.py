"""Bean names, attributes and types out of a snapshot; and the thread that hands them to Java."""

from __future__ import annotations

import logging
import math
import queue
import threading

import pytest
from typing_extensions import override

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.reports import Measured, Progress, Statistics
from legacy_mm.metrics import jmx
from legacy_mm.metrics.connect_mbeans import CONNECT_BEANS
from legacy_mm.metrics.jmx import BeanServer, Publisher, beans_of, object_name, pause_after
from legacy_mm.metrics.legacy_mbeans import BEANS
from legacy_mm.metrics.metric_catalogue import BY_PLACE, METRICS
from legacy_mm.metrics.mirror_maker_2_mbeans import MIRROR_MAKER_2_BEANS
from legacy_mm.metrics.registry import Registry

FACTS: dict[str, str | int] = {"version": "1", "start_time_ms": 5, "loggers": "root=WARN,kafka=INFO"}


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("mirror-0", "mirror-0"),
        ("a b%c.d_e\tf", "a b%c.d_e\tf"),
        ("a:b", '"a:b"'),
        ("a,b", '"a,b"'),
        ("a=b", '"a=b"'),
        ("a|b->c", '"a|b->c"'),
        ('a"b', r'"a\"b"'),
        ("a*b", r'"a\*b"'),
        ("a?b", r'"a\?b"'),
        ("a\\b", r'"a\\b"'),
        ("a\nb", r'"a\nb"'),
        ("a\n", r'"a\n"'),
        ("a\rb", '"a\rb"'),
        ("é", '"é"'),
        ("日本", '"日本"'),
        ("😀", '"😀"'),
        ("{client_id}", '"{client_id}"'),
    ],
)
def test_labels_are_quoted_as_kafka_s_clients_quote_them(label: str, shown: str) -> None:
    """`tests/side_by_side/test_connect_mbeans.py` reads these names from the real tool."""
    assert object_name("x:type=y,client-id={client_id}", (("client_id", label),)) == f"x:type=y,client-id={shown}"


def test_an_empty_label_is_left_out_as_kafka_s_clients_leave_it_out() -> None:
    labels = (("group", ""), ("topic", "t"))
    assert object_name("x:type=y,group={group},topic={topic}", labels) == "x:type=y,topic=t"


def test_a_topic_with_dots() -> None:
    labels = (("client_id", "c"), ("topic", "a.b"))
    assert object_name("x:a={topic},b={dotless_topic}", labels) == "x:a=a.b,b=a_b"


def test_values_have_java_s_types() -> None:
    registry = Registry("f", "producer-1", FACTS)
    registry.stream(0, "g-0").progress(Progress({}, 7, {"t": 1, "u": 2}, False))
    beans = beans_of([registry.snapshot()], BEANS)
    dropped = beans["kafka.tools:type=MirrorMaker,name=MirrorMaker-numDroppedMessages"]
    assert dropped == [("Value", "java.lang.Object", "Integer", 3)]
    assert ("version", "double", "String", "1") in beans["kafka.consumer:type=app-info,client-id=g-0"]
    producer = {name: value for name, _, _, value in beans["kafka.producer:type=producer-metrics,client-id=producer-1"]}
    assert producer["record-error-total"] == 3
    assert producer["record-send-total"] == 0
    assert isinstance(producer["request-latency-avg"], float)
    assert math.isnan(producer["request-latency-avg"])
    assert math.isnan(float(producer["io-ratio"]))
    topics = {topic: f"kafka.producer:type=producer-topic-metrics,client-id=producer-1,topic={topic}" for topic in "tu"}
    assert [("record-error-total", "double", "Double", failed) for failed in (1, 2)] == [
        row for topic in "tu" for row in beans[topics[topic]] if row[0] == "record-error-total"
    ]
    assert beans["kafka:type=kafka.Log4jController"][0][-1] == "root=WARN,kafka=INFO"


def test_before_the_first_assignment_there_is_nothing_rather_than_no_number() -> None:
    """Sums over beans, and alerts on 0, work from the start, and between two copy jobs."""
    registry = Registry("f", "producer-1", FACTS)
    stream = registry.stream(0, "g-0")
    stream.statistics(Statistics("producer", [Measured("client", "", {}, {"connections": 2}, {}, {})]))
    stream.copy_ended()
    beans = beans_of([registry.snapshot()], BEANS)
    values = {
        (bean, name): value
        for bean, rows in beans.items()
        for name, _, _, value in rows
        if name in ("connection-count", "assigned-partitions", "requests-in-flight", "waiting-threads")
    }
    assert values == {
        ("kafka.consumer:type=consumer-metrics,client-id=g-0", "connection-count"): 0.0,
        ("kafka.consumer:type=consumer-coordinator-metrics,client-id=g-0", "assigned-partitions"): 0.0,
        ("kafka.producer:type=producer-metrics,client-id=producer-1", "connection-count"): 0.0,
        ("kafka.producer:type=producer-metrics,client-id=producer-1", "requests-in-flight"): 0.0,
        ("kafka.producer:type=producer-metrics,client-id=producer-1", "waiting-threads"): 0.0,
    }
    coordinator = beans["kafka.consumer:type=consumer-coordinator-metrics,client-id=g-0"]
    assert ("last-rebalance-seconds-ago", "double", "Double", -1.0) in coordinator


def test_flows_share_the_beans_that_have_no_name_of_their_own() -> None:
    """Several sources in one process: each its consumers, one count of dropped records, one producer."""
    flows = [Registry(name, "producer-1", FACTS) for name in ("a", "b")]
    for index, (registry, copied, dropped) in enumerate(zip(flows, (7, 5), (3, 1), strict=True)):
        registry.stream(index, f"g-{index}").progress(Progress({}, copied, {"t": dropped}, False))
    beans = beans_of([registry.snapshot() for registry in flows], BEANS)
    assert beans["kafka.tools:type=MirrorMaker,name=MirrorMaker-numDroppedMessages"][0][-1] == 4
    producer = {name: value for name, _, _, value in beans["kafka.producer:type=producer-metrics,client-id=producer-1"]}
    assert producer["record-error-total"] == 4
    consumers = {"kafka.consumer:type=app-info,client-id=g-0", "kafka.consumer:type=app-info,client-id=g-1"}
    assert consumers <= beans.keys()


def test_every_attribute_has_a_row_in_the_catalogue_and_every_row_an_attribute() -> None:
    beans = (*BEANS, *MIRROR_MAKER_2_BEANS, *CONNECT_BEANS)
    shown = {(bean.level, each.metric) for bean in beans for each in bean.attributes if each.metric not in {*FACTS, ""}}
    assert shown <= BY_PLACE.keys()
    ours = {("mirror", f"records_{what}_total") for what in ("filtered", "quarantined")}
    ours |= {("mirror", "unwritable_topics")}
    ours |= {("mirror", "gaps_total"), ("mirror", "gap_offsets_total"), ("mirror", "skipped_offsets_total")}
    ours |= {(level, f"lag_{what}") for level in ("mirror", "partition") for what in ("seconds", "is_longer")}
    ours |= {("mirror", "caught_up_seconds"), ("flow", "up"), ("flow", "failures_total")}
    ours |= {("transactions", name) for name in ("claim_seconds_total", "claims_total", "open_seconds")}
    ours |= {("transactions", f"{what}_total") for what in ("committed", "given_up", "doubtful")}
    ours |= {("duty", "changes_total"), ("duty", "failures_total")}
    ours |= {("mirror_partition", "lag_seconds"), ("mirror_partition", "estimated_byte_count")}
    ours |= {("mirror_offsets", f"{what}_total") for what in ("checkpoints_emitted", "groups_synced")}
    ours |= {("mirror_offsets", f"offset_syncs_{how}_total") for how in ("sent", "failed")}
    assert {metric for metric in BY_PLACE if metric not in shown} == ours


def test_no_metric_is_there_twice() -> None:
    assert len({metric.prometheus for metric in METRICS}) == len(METRICS) == len(BY_PLACE)


def test_an_error_is_said_once_and_publishing_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(jmx, "_LEAST_INTERVAL", 0.001)
    calls, enough = [], threading.Event()

    class Gone(BeanServer):
        @override
        def publish(self, beans: jmx.Beans) -> None:
            calls.append(beans)
            if len(calls) == 3:
                enough.set()
            raise OSError("Java is gone")

        @override
        def unread(self) -> float:
            return 0.0

    publisher = Publisher(dict, Gone())
    with caplog.at_level(logging.WARNING, logger="legacy_mm"):
        publisher.start()
        assert enough.wait(10)
        publisher.stop()
        publisher.join(10)
    assert [record.getMessage() for record in caplog.records] == [
        "MBeans cannot be published (OSError); going on without them"
    ]


def test_beans_that_nobody_reads_are_published_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jmx, "_LEAST_INTERVAL", 0.001)
    monkeypatch.setattr(jmx, "_UNREAD_INTERVAL", 3600.0)
    published, asked = queue.SimpleQueue[None](), queue.SimpleQueue[float]()

    class Server(BeanServer):
        @override
        def publish(self, beans: jmx.Beans) -> None:
            published.put(None)

        @override
        def unread(self) -> float:
            return asked.get(timeout=10)

    publisher = Publisher(dict, Server())
    publisher.start()
    published.get(timeout=10)
    for seconds in (3600.0, 121.0):
        asked.put(seconds)
    wait_until(asked.empty, 10, "the questions")
    assert published.empty()
    asked.put(1.0)
    published.get(timeout=10)
    publisher.stop()
    asked.put(1.0)
    publisher.join(10)


def test_thousands_of_beans_are_published_less_often() -> None:
    assert [pause_after(beans) for beans in (0, 1_000, 2_500, 50_000)] == [2, 2, 5, 10]
