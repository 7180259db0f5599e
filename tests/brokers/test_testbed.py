"""The oracle itself: brokers start, die and come back, the real legacy tool copies, differences are found."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.proxy import Proxy
from compat.laboratory.steady_load import SteadyLoad
from compat.laboratory.tools import mirror_maker_2
from compat.laboratory.topic_ends import TopicEnds
from legacy_mm.audit.cluster_access import (
    ObservedRecord,
    committed,
    create_topic,
    end_offsets,
    read_all,
    same_records,
    wait_for_count,
    wait_until,
)
from legacy_mm.audit.load import load, load_kinds
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.base.errors import HostError

pytestmark = pytest.mark.brokers

SOON = 60.0


def test_every_kind_of_record_is_written_and_read(source: Cluster, topic: Callable[..., str]) -> None:
    prefix = topic("kinds")
    kinds = load_kinds(source.bootstrap, prefix)
    assert len(kinds) == len({kind.topic for kind in kinds}) == 21
    for kind in kinds:
        visible = read_all(source.bootstrap, kind.topic, isolation="read_committed")
        assert len(visible) == kind.visible, kind
        assert not same_records(visible, visible, target_partitions=kind.partitions)
    everything = {kind.kind: read_all(source.bootstrap, kind.topic) for kind in kinds}
    assert len(everything["transactions"]) == 600
    assert {record.timestamp_type for record in everything["log append time"]} == {2}
    assert len(everything["compacted"]) < end_offsets(source.bootstrap, f"{prefix}-compacted")[0]
    assert {record.value for record in everything["empty keys and values"]} >= {b"", None}
    assert {record.key for record in everything["empty keys and values"]} == {b"", None, b"key"}
    assert any(header[1] is None for record in everything["headers"] for header in record.headers)


def test_a_steady_load_is_what_it_says_and_can_be_read(source: Cluster, topic: Callable[..., str]) -> None:
    template, name = topic("template"), topic("steady")
    load(source.bootstrap, template, 2_000, 100, idempotent=False)
    create_topic(source.bootstrap, name, 4)
    assert TopicEnds(source.bootstrap, name, 4).count() == 0  # its leaders know the topic
    writer = SteadyLoad(source.bootstrap, template, name, 4, records_per_second=40_000)
    writer.start()
    wait_until(lambda: writer.written >= 10_000 or writer.error, SOON, "ten thousand records")
    writer.stop()
    records = read_all(source.bootstrap, name)
    assert len(records) == writer.written
    assert {record.value for record in records} <= {record.value for record in read_all(source.bootstrap, template)}
    assert not same_records(records, records, target_partitions=4)


def test_a_steady_load_tells_what_ended_it(source: Cluster, topic: Callable[..., str]) -> None:
    template = topic("template")
    load(source.bootstrap, template, 2_000, 100, idempotent=False)
    writer = SteadyLoad(source.bootstrap, template, "bad name!", 4, records_per_second=40_000)
    writer.start()
    wait_until(lambda: writer.error is not None, SOON, "the refusal")
    with pytest.raises(ValueError, match="refuses a batch with error"):
        writer.stop()


def test_the_real_old_tool_copies_and_commits(
    source: Cluster,
    target: Cluster,
    topic: Callable[..., str],
    group: str,
    old_tool: Callable[..., ToolProcess],
) -> None:
    name = topic()
    load(source.bootstrap, name, 20_000, 100)
    tool = old_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap},
        *("--include", name, "--num.streams", "2"),
    )
    wait_for_count(target.bootstrap, name, 20_000, SOON)
    assert tool.stop(SOON) == 143
    ends = end_offsets(source.bootstrap, name)
    commits = {partition: offset for (_, partition), offset in committed(source.bootstrap, group, [name]).items()}
    assert commits == ends
    assert same_records(read_all(source.bootstrap, name), read_all(target.bootstrap, name)) == []


@pytest.mark.slow
def test_mirror_maker_2_copies(source: Cluster, target: Cluster, topic: Callable[..., str], tmp_path: Path) -> None:
    name = topic()
    load(source.bootstrap, name, 1_000, 100)
    tool = mirror_maker_2(tmp_path / "mm2", source.bootstrap, target.bootstrap, name)
    try:
        wait_for_count(target.bootstrap, name, 1_000, SOON)
    finally:
        tool.kill_tree()
    copied = read_all(target.bootstrap, name)
    assert same_records(read_all(source.bootstrap, name), copied, placement="same") == []


def test_planted_differences_are_found(source: Cluster, topic: Callable[..., str]) -> None:
    name = topic()
    load(source.bootstrap, name, 500, 50)
    whole = read_all(source.bootstrap, name)
    assert same_records(whole, whole) == []
    assert "1 records missing" in same_records(whole, whole[1:])[0]
    moved = dataclasses.replace(whole[0], partition=(whole[0].partition + 1) % 4, offset=10_000)
    assert any("belongs to partition" in line for line in same_records(whole, [moved, *whole[1:]]))
    first, second = [record for record in whole if record.partition == 0][:2]
    swapped: list[ObservedRecord] = [
        dataclasses.replace(first, offset=second.offset),
        dataclasses.replace(second, offset=first.offset),
        *(record for record in whole if record not in (first, second)),
    ]
    assert "order of source partition 0 is lost" in same_records(whole, swapped)[0]


@pytest.mark.slow
def test_a_killed_broker_comes_back_with_its_log(
    own_clusters: Callable[..., Cluster], topic: Callable[..., str]
) -> None:
    cluster = own_clusters(brokers=3)
    name = topic()
    create_topic(cluster.bootstrap, name, replication=3)
    load(cluster.bootstrap, name, 1_000, 100)
    before = read_all(cluster.bootstrap, name)
    broker = cluster.brokers[0]
    port = broker.port
    broker.kill()
    assert not broker.running
    assert read_all(cluster.bootstrap, name) == before
    broker.restart()
    cluster.wait_ready()
    assert broker.port == port
    broker.suspend()
    broker.resume()
    cluster.wait_ready()
    broker.terminate()
    assert not broker.running


def test_a_broker_that_cannot_start_says_why(own_clusters: Callable[..., Cluster]) -> None:
    with pytest.raises(HostError, match="no\\.such\\.Class|wrong"):
        own_clusters(properties={"log.retention.ms": "wrong"})


def test_a_cluster_behind_proxies(own_clusters: Callable[..., Cluster], topic: Callable[..., str]) -> None:
    proxies: list[Proxy] = []

    def advertise(port: int) -> tuple[str, int]:
        proxies.append(Proxy(port))
        return proxies[-1].address

    try:
        cluster = own_clusters(advertise=advertise)
        far = cluster.bootstrap_of(PROXIED)
        assert far != cluster.bootstrap
        name = topic()
        load(far, name, 1_000, 100)
        assert len(read_all(far, name)) == 1_000
        client = Producer({"bootstrap.servers": far, "log_level": 0})
        assert name in client.list_topics(timeout=30).topics
        assert proxies[0].cut() > 0, "the client's connection"
    finally:
        for proxy in proxies:
            proxy.close()


def test_the_tree_of_a_tool_is_seen(
    source: Cluster, target: Cluster, topic: Callable[..., str], group: str, old_tool: Callable[..., ToolProcess]
) -> None:
    name = topic()
    create_topic(source.bootstrap, name)
    tool = old_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group},
        {"bootstrap.servers": target.bootstrap},
        *("--include", name),
    )
    port = int(source.bootstrap.rpartition(":")[2])
    wait_until(lambda: (tool.pid, port) in tool.tree.connections(), SOON, "a connection to the source")
    assert tool.tree.pids() == [tool.pid]
    assert tool.tree.cpu_seconds() > 0
    assert tool.tree.memory_bytes() > 10_000_000
    tool.signal(signal.SIGKILL)
    assert tool.wait(SOON) == 137
