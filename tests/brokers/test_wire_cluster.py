"""The wire against a real cluster: metadata, offsets, calls, and what a connection does when its broker dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from legacy_mm.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.testbed.load import load
from legacy_mm.testbed.records import create_topic
from legacy_mm.wire.cluster import Cluster
from tests.fixtures.clusters import Kafka

pytestmark = pytest.mark.brokers
SECONDS = 20.0
RECORDS = 100


@pytest.fixture
def cluster(source: Kafka) -> Iterator[Cluster]:
    opened = Cluster({"bootstrap.servers": source.bootstrap}, SECONDS)
    yield opened
    opened.close()


def test_what_a_topic_is(cluster: Cluster, source: Kafka, topic: Callable[..., str]) -> None:
    name = topic()
    create_topic(source.bootstrap, name, 3)
    cluster.watch([name])
    assert cluster.partitions(name) == 3
    assert cluster.topic_id(name) is not None
    leader = cluster.leader(TopicPartition(name, 2))
    assert leader is not None and f"{leader.host}:{leader.port}" in source.bootstrap
    assert cluster.leader_epoch(TopicPartition(name, 2)) >= 0


def test_first_and_next_offsets(cluster: Cluster, source: Kafka, topic: Callable[..., str]) -> None:
    name = topic()
    load(source.bootstrap, name, RECORDS, 100)
    partitions = [TopicPartition(name, number) for number in range(4)]
    assert set(cluster.offsets(partitions, EARLIEST).values()) == {0}
    assert sum(cluster.offsets(partitions, LATEST).values()) == RECORDS
