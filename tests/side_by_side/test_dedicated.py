"""Ours in the place of the real MirrorMaker 2: the same topics from the same file, and each goes on after the other."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import java_driver
from compat.laboratory.topic_state import overrides
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark]
SECONDS = 120.0
Tool = ToolProcess | WarmMirror


def arrived(cluster: Cluster, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0


def stop(tool: Tool) -> None:
    tool.signal(signal.SIGTERM)
    tool.wait(SECONDS)


def test_each_goes_on_where_the_other_has_stopped(
    own_clusters: Callable[..., Cluster], tmp_path: Path, warm_driver: Callable[..., WarmMirror]
) -> None:
    """Every record once: both commit what they have copied when they are stopped."""
    a, b = own_clusters(), own_clusters()
    create_topic(a.bootstrap, "t", 4)
    file = driver_file({"A": a, "B": b}, **{"A->B.enabled": "true", "topics": "t"})
    writer, sent = Producer({"bootstrap.servers": a.bootstrap}), 0
    java = partial(java_driver, tmp_path / "java")
    turns: list[tuple[str, Callable[..., Tool]]] = [("java", java), ("ours", warm_driver)]
    for turn, (name, driver) in enumerate(turns * 2):
        with driver(file) as tool:
            for number in range(sent, sent + 500):
                writer.produce("t", value=b"%d" % number)
            writer.flush()
            sent += 500
            wait_until(lambda: arrived(b, "A.t") >= sent, SECONDS, f"turn {turn} of {name}")  # noqa: B023
            stop(tool)
    values = [int(record.value or b"") for record in read_all(b.bootstrap, "A.t")]
    assert sorted(values) == list(range(sent))


@pytest.mark.slow
def test_the_same_topics_at_both_ends(
    own_clusters: Callable[..., Cluster], tmp_path: Path, warm_driver: Callable[..., WarmMirror]
) -> None:
    """Two pairs of clusters, filled alike; what is ours alone is the map of exact offsets."""
    theirs, ours = (own_clusters(), own_clusters()), (own_clusters(), own_clusters())
    states = []
    java: Callable[..., Tool] = partial(java_driver, tmp_path / "java")
    for driver, (a, b) in ((java, theirs), (warm_driver, ours)):
        create_topic(a.bootstrap, "orders", 3, config={"retention.ms": "7654321", "min.insync.replicas": "1"})
        create_topic(a.bootstrap, "compacted", 1, config={"cleanup.policy": "compact"})
        create_topic(a.bootstrap, "x-internal", 1)
        create_topic(a.bootstrap, "B.back", 1)
        create_topic(b.bootstrap, "orders", 1)
        for topic in ("orders", "compacted"):
            load(a.bootstrap, topic, 100, 50, partitions=1)
        load(b.bootstrap, "orders", 70, 50, partitions=1)
        file = driver_file({"A": a, "B": b}, **{
            "A->B.enabled": "true", "B->A.enabled": "true", "sync.topic.configs.interval.seconds": "2",
            "mm2.compatibility": "4",
        })  # fmt: skip
        with driver(file) as tool:
            wait_until(lambda: arrived(b, "A.orders") == 100, SECONDS, "orders")  # noqa: B023
            wait_until(lambda: arrived(b, "A.compacted") == 100, SECONDS, "compacted")  # noqa: B023
            wait_until(lambda: arrived(a, "B.orders") == 70, SECONDS, "the way back")  # noqa: B023
            for cluster, other in ((a, "B"), (b, "A")):
                wait_until(lambda: arrived(cluster, f"{other}.heartbeats") > 0, SECONDS, "heartbeats")  # noqa: B023
                wait_until(
                    lambda: f"{other}.checkpoints.internal" in list_topics(cluster.bootstrap),  # noqa: B023
                    SECONDS,
                    "checkpoints",
                )
            stop(tool)
        states.append([described(cluster) for cluster in (a, b)])
    for real, own in zip(*states, strict=True):
        assert {name: state for name, state in real.items() if not workers_own(name)} == {
            name: state for name, state in own.items() if not workers_own(name)
        }


def workers_own(topic: str) -> bool:
    """Topics that only Kafka Connect's workers need, and the one that only we write."""
    return topic.startswith(("mm2-configs.", "mm2-status.", "mm2-offset-map."))


def described(cluster: Cluster) -> dict[str, tuple[int, dict[str, str]]]:
    names = {name: count for name, count in list_topics(cluster.bootstrap).items() if not name.startswith("__")}
    return {name: (count, overrides(cluster.bootstrap, name)) for name, count in names.items()}
