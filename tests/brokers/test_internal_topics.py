"""Writing and reading the topics that keep state, MirrorMaker 2's own among them, on a real broker and on none."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, delete_topic, list_topics, read_all
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.clients.topics.internal_log import InternalLog
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter
from tests.fixtures import client_settings

pytestmark = pytest.mark.brokers
SECONDS = 30.0
Results = list[tuple[bytes, str | None]]


def test_records_keep_order_and_timestamp_in_partition_0(target: Cluster, topic: Callable[..., str]) -> None:
    name, results = topic(), Results()
    create_topic(target.bootstrap, name, 3)
    # what only a consumer understands is not for this client
    properties = {"bootstrap.servers": target.bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
    with closing(
        InternalTopicWriter(client_settings.read_connection(properties), name, lambda *told: results.append(told))
    ) as writer:
        for number in range(300):
            assert writer.send(b"k%d" % (number % 2), b"%d" % number, 1_712_564_822_000 + number)
        assert writer.flush(Deadline.after(SECONDS))
        assert writer.waiting() == 0
    assert results == [(b"k%d" % (number % 2), None) for number in range(300)]
    assert [(each.partition, each.value, each.timestamp) for each in read_all(target.bootstrap, name)] == [
        (0, b"%d" % number, 1_712_564_822_000 + number) for number in range(300)
    ]


def test_a_topic_that_is_missing_is_not_made_in_the_brokers_way(target: Cluster, topic: Callable[..., str]) -> None:
    """It would lose records by age. Once a duty has made it, records arrive."""
    name, results = topic(), Results()
    properties = {"bootstrap.servers": target.bootstrap}
    with closing(
        InternalTopicWriter(
            client_settings.read_connection(properties), name, lambda *told: results.append(told), give_up_seconds=2
        )
    ) as writer:
        writer.send(b"k", b"lost")
        assert writer.flush(Deadline.after(SECONDS))
        ((_, reason),) = results
        assert reason is not None
        assert name not in list_topics(target.bootstrap)
        create_topic(target.bootstrap, name, 1, config={"cleanup.policy": "compact"})

        def arrives() -> bool:
            results.clear()
            writer.send(b"k", b"v")
            return writer.flush(Deadline.after(SECONDS)) and results == [(b"k", None)]

        wait_until(arrives, SECONDS, "a record to arrive")
    assert {each.value for each in read_all(target.bootstrap, name)} == {b"v"}


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where nobody answers."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


def test_without_a_broker_the_queue_is_bounded_and_the_reason_told(nobody: str) -> None:
    results = Results()
    properties = {"bootstrap.servers": nobody}
    writer = InternalTopicWriter(
        client_settings.read_connection(properties), "t", lambda *told: results.append(told), give_up_seconds=2
    )
    taken = sum(writer.send(b"k", b"v") for _ in range(20_000))
    assert writer.waiting() == taken == 10_000
    assert writer.flush(Deadline.after(SECONDS))
    assert len(results) == taken
    assert all(reason is not None and "refused" in reason for _, reason in results), set(results)
    writer.send(b"k", b"v")
    writer.close()
    assert len(results) == taken


def test_nothing_is_given_up_while_the_broker_is_away_for_a_moment(
    own_clusters: Callable[..., Cluster], topic: Callable[..., str]
) -> None:
    """It dies, and comes back in less than the time for which a record is tried."""
    cluster, name, results = own_clusters(), topic(), Results()
    create_topic(cluster.bootstrap, name, 1)
    connection = client_settings.read_connection({"bootstrap.servers": cluster.bootstrap})
    with closing(InternalTopicWriter(connection, name, lambda *told: results.append(told))) as writer:
        assert writer.send(b"first", b"v")
        assert writer.flush(Deadline.after(SECONDS))
        cluster.brokers[0].kill()
        for number in range(300):
            assert writer.send(b"%d" % number, b"v")
        cluster.brokers[0].restart()
        assert writer.flush(Deadline.after(2 * SECONDS))
    assert {reason for _, reason in results} == {None}
    assert [row.key for row in read_all(cluster.bootstrap, name)] == [b"first", *(b"%d" % each for each in range(300))]


def test_a_log_is_read_from_its_start_and_then_only_what_is_new(source: Cluster, topic: Callable[..., str]) -> None:
    """Also where the topic is not there yet, and after it has been made again with fewer records."""
    name = topic("log")
    properties = {"bootstrap.servers": source.bootstrap}
    log = InternalLog(client_settings.read_connection(properties), name, "test")

    def read() -> list[tuple[bytes | None, bytes | None]]:
        return list(log.read(Deadline.after(SECONDS)))

    assert read() == []
    create_topic(source.bootstrap, name, 1, config={"cleanup.policy": "compact"})
    connection = client_settings.read_connection(properties)
    with closing(log), closing(InternalTopicWriter(connection, name, lambda key, reason: None)) as writer:
        for numbers in (range(3), range(3, 5)):
            for number in numbers:
                assert writer.send(b"%d" % number, b"v")
            assert writer.flush(Deadline.after(SECONDS))
            assert [key for key, _ in read()] == [b"%d" % number for number in numbers]
            assert read() == []
        delete_topic(source.bootstrap, name)
        create_topic(source.bootstrap, name, 1)
        assert writer.send(b"again", b"v")
        assert writer.flush(Deadline.after(SECONDS))
        assert wait_until(read, SECONDS, "the record of the new topic") == [(b"again", b"v")]
