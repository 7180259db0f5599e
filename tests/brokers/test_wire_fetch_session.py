"""A real broker remembers what is read: what it answers to requests that name only what is new."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer

from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import LATEST, TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.fetch_session import FetchSession
from legacy_mm.protocol import fetch_messages
from legacy_mm.protocol.fetch_messages import FetchOptions, FetchResponse, Wanted
from tests.fixtures import client_settings
from tests.fixtures.clusters import Kafka

pytestmark = pytest.mark.brokers
SECONDS = 20.0
OPTIONS = FetchOptions(100, 1, 1 << 20, 1 << 20, committed_only=True, rack="")


class Reader:
    """Asks the leader of all partitions of a topic, by a session."""

    def __init__(self, cluster: Cluster, partitions: list[TopicPartition]) -> None:
        leader = cluster.metadata.leader(partitions[0])
        assert leader is not None
        self.session = FetchSession()
        self._cluster = cluster
        self._connection = cluster.connect(leader.node)

    def ask(self, offsets: dict[TopicPartition, int]) -> tuple[bool, FetchResponse]:
        """Whether the broker went along, and its answer."""
        version = self._connection.version(fetch_messages.API_KEY, fetch_messages.LOWEST, fetch_messages.HIGHEST)
        wanted = [
            Wanted(partition, offset, self._cluster.metadata.leader_epoch(partition))
            for partition, offset in offsets.items()
        ]
        request = fetch_messages.encode(version, OPTIONS, self.session.next(wanted))
        self._connection.send(fetch_messages.API_KEY, version, [request])
        response = fetch_messages.decode(version, self._connection.receive())
        return self.session.answered(response), response

    def told(self, offsets: dict[TopicPartition, int]) -> set[TopicPartition]:
        """The partitions of a good answer."""
        went_along, response = self.ask(offsets)
        assert went_along and not response.error
        return {row.partition for row in response.partitions if not row.error}

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


@pytest.fixture
def partitions(source: Kafka, topic: Callable[..., str]) -> list[TopicPartition]:
    name = topic()
    create_topic(source.bootstrap, name, 3)
    return [TopicPartition(name, number) for number in range(3)]


@pytest.fixture
def reader(source: Kafka, partitions: list[TopicPartition]) -> Iterator[Reader]:
    cluster = Cluster(client_settings.read_connection({"bootstrap.servers": source.bootstrap}), SECONDS)
    cluster.offsets.of(partitions, LATEST)  # waits for leaders
    opened = Reader(cluster, partitions)
    yield opened
    opened.close()
    cluster.close()


def write(source: Kafka, partition: TopicPartition) -> None:
    producer = Producer({"bootstrap.servers": source.bootstrap, "log_level": 0})
    producer.produce(partition.topic, b"value", partition=partition.partition)
    assert not producer.flush(SECONDS)


def test_an_answer_names_what_is_new(source: Kafka, partitions: list[TopicPartition], reader: Reader) -> None:
    first, second, third = partitions
    assert reader.told(dict.fromkeys(partitions, 0)) == set(partitions)
    assert reader.told(dict.fromkeys(partitions, 0)) == set()
    write(source, second)
    found: set[TopicPartition] = wait_until(lambda: reader.told(dict.fromkeys(partitions, 0)), SECONDS, "news")
    assert found == {second}
    # where reading goes on is told, and a partition that is not wanted any more is not looked at
    write(source, third)
    assert reader.told({first: 0, second: 1}) == set()
    found = wait_until(lambda: reader.told({first: 0, second: 1, third: 0}), SECONDS, "the one that is wanted again")
    assert found == {third}


@pytest.mark.parametrize("number", ["_epoch", "_id"])
def test_a_broker_that_remembers_something_else_is_told_all_again(
    partitions: list[TopicPartition], reader: Reader, number: str
) -> None:
    offsets = dict.fromkeys(partitions, 0)
    assert reader.told(offsets) == set(partitions)
    setattr(reader.session, number, getattr(reader.session, number) + 1)
    went_along, response = reader.ask(offsets)
    assert not went_along and not response.partitions
    assert reader.told(offsets) == set(partitions)
    assert reader.told(offsets) == set()
