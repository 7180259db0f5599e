"""The mirror itself with feature flags on: what a user sees on both clusters."""

from __future__ import annotations

import signal
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.topic_state import overrides
from legacy_mm.audit.cluster_access import create_topic, end_offsets, grow_topic, list_topics, read_all
from legacy_mm.audit.record_comparison import ObservedRecord
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

pytestmark = pytest.mark.brokers
SECONDS = 60.0
Start = Callable[..., ToolProcess]


@pytest.fixture
def start(source: Cluster, target: Cluster, our_mirror: Start, group: str) -> Start:
    """Our command with these options, and flags in the producer file."""

    def mirror(*options: str, consumer: dict[str, Any] | None = None, **flags: str) -> ToolProcess:
        reading = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
        written = {
            "bootstrap.servers": target.bootstrap,
            **{name.replace("_", "."): text for name, text in flags.items()},
        }
        return our_mirror(reading | (consumer or {}), written, *options)

    return mirror


def load(cluster: Cluster, topic: str, partitions: int, *records: tuple[int, bytes]) -> None:
    """A topic with these records: partition and value."""
    create_topic(cluster.bootstrap, topic, partitions)
    write(cluster, topic, *records)


def write(cluster: Cluster, topic: str, *records: tuple[int, bytes]) -> None:
    writer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for partition, value in records:
        writer.produce(topic, value, b"k", partition)
    assert writer.flush(30) == 0


def copied(cluster: Cluster, topic: str) -> list[tuple[int, bytes | None]]:
    """Partition and value of what arrived."""
    return sorted((record.partition, record.value) for record in read_all(cluster.bootstrap, topic))


def stop(tool: ToolProcess) -> None:
    tool.signal(signal.SIGTERM)
    assert tool.wait(SECONDS) == 143, tool.output()


def test_topics_are_made_renamed_and_grow(
    start: Start, source: Cluster, target: Cluster, topic: Callable[..., str]
) -> None:
    """Records keep their partition, in a topic that has as many, under the source's alias; only the canary's.

    Heartbeats reach the target, and the source's own are mirrored, whatever the pattern and the canary say.
    """
    name, plain, barred = topic("canary"), topic("plain"), topic("barred")
    records = [(number, b"%d" % number) for number in range(5)]
    load(source, name, 5, *records)
    load(source, plain, 1, (0, b"x"))
    load(source, barred, 1, (0, b"x"))
    chain = f"{topic('far')}.heartbeats"
    been_there = f"east.{chain}"
    load(source, chain, 1, (0, b"of another flow"))
    load(source, been_there, 1, (0, b"of this one"))
    tool = start(
        *("--whitelist", f"{name}.*|{plain}|{barred}", "--rename.topics", "true", "--feature.topics", f"{name}.*"),
        *("--topics.exclude", barred, "--log.level", "INFO"),
        consumer={"metadata.max.age.ms": "1000"},
        topic_creation="true",
        source_cluster_alias="west",
        target_cluster_alias="east",
        emit_heartbeats="true",
    )
    remote = f"west.{name}"
    wait_until(lambda: copied(target, remote) == records, SECONDS, "all partitions")
    wait_until(lambda: copied(target, plain), SECONDS, "the other topic")
    assert len(end_offsets(target.bootstrap, remote)) == 5
    grow_topic(source.bootstrap, name, 7)
    write(source, name, (6, b"new"))
    wait_until(lambda: copied(target, remote) == [*records, (6, b"new")], SECONDS, "the new partition")
    load(source, f"{name}-later", 3, *records[:3])
    wait_until(lambda: copied(target, f"{remote}-later") == records[:3], SECONDS, "a topic that came meanwhile")
    assert len(end_offsets(target.bootstrap, f"{remote}-later")) == 3
    wait_until(lambda: len(heartbeats(target)) >= 3, SECONDS, "three heartbeats")
    wait_until(lambda: copied(target, f"west.{chain}") == [(0, b"of another flow")], SECONDS, "those of another flow")
    stop(tool)
    assert f"[topic-creation] create topic {remote}" in tool.output()
    assert not {name, barred, f"west.{been_there}"} & set(list_topics(target.bootstrap))
    assert overrides(target.bootstrap, f"west.{chain}") == {"cleanup.policy": "delete"}  # as at the source
    assert overrides(target.bootstrap, "heartbeats") == {"cleanup.policy": "compact"}
    assert list_topics(target.bootstrap)["heartbeats"] == 1
    beats = heartbeats(target)
    times = [struct.unpack(">hq", beat.value or b"") for beat in beats]
    assert times == [(0, beat.timestamp) for beat in beats]
    assert all(earlier[1] < later[1] for earlier, later in pairwise(times))
    assert "heartbeat" not in "".join(line for line in tool.output().splitlines() if "WARN" in line)


@pytest.mark.slow
def test_topics_are_as_the_source_has_them_where_the_target_was_away(
    our_mirror: Start, source: Cluster, own_clusters: Callable[..., Cluster], topic: Callable[..., str], group: str
) -> None:
    """Longer than the duties are waited for before copying begins."""
    name, target = topic(), own_clusters()
    create_topic(source.bootstrap, name, 6, config={"cleanup.policy": "compact"})
    write(source, name, (5, b"5"))
    target.brokers[0].kill()
    tool = our_mirror(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap, "topic.creation": "true"},
        *("--whitelist", name, "--log.level", "INFO"),
    )
    wait_until(
        lambda: "[producer-1] no broker answered" in tool.output(), 2 * SECONDS, "copying to wait for the target"
    )
    target.brokers[0].restart()
    wait_until(lambda: copied(target, name) == [(5, b"5")], 2 * SECONDS, "the record")
    stop(tool)
    assert overrides(target.bootstrap, name) == {"cleanup.policy": "compact"}
    assert len(end_offsets(target.bootstrap, name)) == 6


def heartbeats(cluster: Cluster) -> list[ObservedRecord]:
    """Those of west to east, in partition 0."""
    if "heartbeats" not in list_topics(cluster.bootstrap):
        return []
    key = b"\0\4west\0\4east"
    return [beat for beat in read_all(cluster.bootstrap, "heartbeats") if beat.key == key and beat.partition == 0]


def test_a_circle_is_noticed(start: Start, source: Cluster, topic: Callable[..., str]) -> None:
    """A record that has been at the target before ends the mirror, with 255."""
    name = topic("circle")
    create_topic(source.bootstrap, name, 1)
    writer = Producer({"bootstrap.servers": source.bootstrap, "log_level": 0})
    writer.produce(name, b"v", headers=[("mirror.path", b"east")])
    assert writer.flush(30) == 0
    tool = start("--whitelist", name, "--detect.loops=true", source_cluster_alias="west", target_cluster_alias="east")
    assert tool.wait(SECONDS) == 255
    assert f"{name} goes in a circle: this record was at east before (its path: east, west)" in tool.output()
    assert "Traceback" not in tool.output()
