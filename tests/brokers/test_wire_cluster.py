"""The wire against a real cluster: metadata, offsets, calls, and what a connection does when its broker dies."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from compat.laboratory import cluster as testbed
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost, UnsupportedVersion
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fixtures import client_settings
from tests.fixtures.clusters import Kafka

pytestmark = pytest.mark.brokers
SECONDS = 20.0
RECORDS = 100
FETCH, METADATA = 1, 3


@pytest.fixture
def cluster(source: Kafka) -> Iterator[Cluster]:
    opened = Cluster(client_settings.read_connection({"bootstrap.servers": source.bootstrap}), SECONDS)
    yield opened
    opened.close()


def test_what_a_topic_is(cluster: Cluster, source: Kafka, topic: Callable[..., str]) -> None:
    name = topic()
    create_topic(source.bootstrap, name, 3)
    cluster.metadata.watch([name])
    assert cluster.metadata.partitions(name) == 3
    leader = cluster.metadata.leader(TopicPartition(name, 2))
    assert leader is not None and f"{leader.host}:{leader.port}" in source.bootstrap
    assert cluster.metadata.leader_epoch(TopicPartition(name, 2)) >= 0


def test_first_and_next_offsets(cluster: Cluster, source: Kafka, topic: Callable[..., str]) -> None:
    name = topic()
    load(source.bootstrap, name, RECORDS, 100)
    partitions = [TopicPartition(name, number) for number in range(4)]
    assert set(cluster.offsets.of(partitions, EARLIEST).values()) == {0}
    assert sum(cluster.offsets.of(partitions, LATEST).values()) == RECORDS


def test_a_topic_that_is_not_there(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic()
    cluster.metadata.watch([name])
    assert (cluster.metadata.partitions(name), cluster.metadata.leader(TopicPartition(name, 0))) == (0, None)
    assert cluster.metadata.problem(name) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert cluster.offsets.of([], LATEST) == {}


def test_a_topic_that_brokers_make_when_they_are_asked(source: Kafka, topic: Callable[..., str]) -> None:
    name = topic()
    asking = Cluster(client_settings.read_connection({"bootstrap.servers": source.bootstrap}), SECONDS)
    asking.metadata.watch([name], create=True)

    def made() -> bool:
        asking.metadata.stale()
        return asking.metadata.partitions(name) == 4

    wait_until(made, SECONDS, "the topic")
    asking.close()


@pytest.mark.parametrize("version", [1, 8])
def test_a_request_by_hand(cluster: Cluster, version: int) -> None:
    cluster.metadata.refresh()
    with closing(cluster.connect(1)) as connection:
        asked = MetadataRequest(topics=[], allow_auto_topic_creation=True).encode(version=version)
        connection.send(METADATA, version, [asked[:2], asked[2:]])
        answer = connection.receive()
    assert [broker.node_id for broker in MetadataResponse.decode(answer, version=version).brokers] == [1]


def test_versions_that_the_broker_has_and_that_it_has_no_more(cluster: Cluster) -> None:
    cluster.metadata.refresh()
    with closing(cluster.connect(1)) as connection:
        assert connection.version(METADATA, 0, 12) == 12
        with pytest.raises(UnsupportedVersion, match=r"Fetch is needed in version 0 to 2; the broker .* has 4 to \d+"):
            connection.version(FETCH, 0, 2)


def test_threads_share_a_cluster(cluster: Cluster, source: Kafka, topic: Callable[..., str]) -> None:
    names = [topic(f"shared-{number}") for number in range(4)]
    for name in names:
        create_topic(source.bootstrap, name, 2)

    def ask(name: str) -> tuple[int, dict[TopicPartition, int]]:
        cluster.metadata.watch([name])
        partitions = [TopicPartition(name, 0), TopicPartition(name, 1)]
        return cluster.metadata.partitions(name), cluster.offsets.of(partitions, LATEST)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, names * 4))
    assert {count for count, _ in answers} == {2}
    assert {offset for _, offsets in answers for offset in offsets.values()} == {0}


def test_a_connection_that_broke_is_made_anew_for_a_call(cluster: Cluster) -> None:
    cluster.metadata.refresh()
    for line in cluster.network._lines.values():
        line.close()
    assert cluster.call_any(MetadataRequest(topics=[])).brokers


def test_nobody_is_there(unused_port: int) -> None:
    alone = Cluster(
        client_settings.read_connection(
            {"bootstrap.servers": f"127.0.0.1:{unused_port}", "reconnect.backoff.max.ms": "50"}
        ),
        0.3,
    )
    with pytest.raises(ClusterUnreachable, match=r"no broker answered in 0\.3 s; .*Connection refused"):
        alone.metadata.refresh()


@pytest.fixture
def unused_port() -> Iterator[int]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.slow  # test_copy_engine has it with records under way
def test_a_leader_that_is_killed(own_clusters: Callable[..., testbed.Cluster], topic: Callable[..., str]) -> None:
    kafka = own_clusters(brokers=3)
    name = topic()
    create_topic(kafka.bootstrap, name, 1, replication=3)
    partition = TopicPartition(name, 0)
    cluster = Cluster(client_settings.read_connection({"bootstrap.servers": kafka.bootstrap}), SECONDS)
    cluster.metadata.watch([name])
    before, epoch = cluster.metadata.leader(partition), cluster.metadata.leader_epoch(partition)
    assert before is not None
    connection = cluster.connect(before.node)
    with ThreadPoolExecutor(1) as threads:
        blocked = threads.submit(connection.receive)
        kafka.brokers[before.node - 1].kill()
        with pytest.raises(ConnectionLost):
            blocked.result(SECONDS)
    with pytest.raises(ConnectionLost, match="cannot be reached: Connection refused"):
        cluster.connect(before.node)

    def moved() -> bool:
        cluster.metadata.stale()
        after = cluster.metadata.leader(partition)
        return after is not None and after.node != before.node

    wait_until(moved, SECONDS, "a new leader")
    assert cluster.metadata.leader_epoch(partition) > epoch
    assert cluster.offsets.of([partition], LATEST) == {partition: 0}
    cluster.close()
