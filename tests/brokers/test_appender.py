"""The sending half of the engine against a real broker, without an engine before it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, delete_topic
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ConnectionLost, ProducerForgotten
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce.append_options import options_from
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.single_record import SingleRecord, batch_of
from tests.fixtures import client_settings

pytestmark = pytest.mark.brokers
PARTITIONS = 6
SIZES = (10, 1_000, 15_000, 17_000, 200_000)
"""On both sides of what is sent by the thread that appends it."""
SECONDS = 60.0


def of_size(size: int) -> RecordBatch:
    return batch_of([SingleRecord(1, None, bytes(size), ())], Codec.NONE)


@pytest.fixture(params=["true", "false"], ids=["idempotent", "plain"])
def appender(request: pytest.FixtureRequest, target: Any, name: str) -> Iterator[BatchAppender]:
    properties = {"bootstrap.servers": target.bootstrap, "enable.idempotence": request.param}
    cluster = Cluster(client_settings.read_connection(properties), SECONDS)
    cluster.metadata.watch([name])
    appender = BatchAppender(
        cluster, options_from(client_settings.read_producer(properties)), Traffic("producer", print)
    )

    def started() -> bool:
        with suppress(ConnectionLost):  # a new broker may still be loading what it knows of producers
            appender.start()
            return True
        return False

    wait_until(started, SECONDS, "a producer id")
    yield appender
    appender.purge()
    cluster.close()


@pytest.fixture
def name(target: Any, topic: Callable[[], str]) -> str:
    name = topic()
    create_topic(target.bootstrap, name, partitions=PARTITIONS)
    return name


def test_little_and_much_in_any_mixture_all_arrive_in_order(appender: BatchAppender, name: str) -> None:
    arrived: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    appended: defaultdict[int, int] = defaultdict(int)
    dice = random.Random(7)

    def await_(ready: Callable[[float], bool]) -> None:
        deadline = Deadline.after(SECONDS)
        while not ready(0.1):
            assert not deadline.expired()
            take()

    def take() -> None:
        appender.poll()
        assert not appender.take_refused()
        for (number, turn), offset in appender.take_acknowledged():
            arrived[number].append((turn, offset))

    for _ in range(3_000):
        await_(appender.wait_for_room)
        number = dice.randrange(PARTITIONS)
        appender.append(TopicPartition(name, number), of_size(dice.choice(SIZES)), (number, appended[number]))
        appended[number] += 1
        if dice.random() < 0.1:  # so that the next one finds nothing under way
            await_(appender.wait_empty)
    await_(appender.wait_empty)
    take()
    assert arrived == {number: [(turn, turn) for turn in range(count)] for number, count in appended.items()}


def test_a_refused_batch_is_not_taken_for_stored_by_a_broker_that_has_forgotten_its_producer(
    appender: BatchAppender, target: Any, topic: Callable[[], str]
) -> None:
    """It takes any sequence number then, so that an answer to a later batch says nothing of those before it."""
    name, compacted = topic(), {"cleanup.policy": "compact"}
    place = TopicPartition(name, 0)
    create_topic(target.bootstrap, name, partitions=1, config=compacted)
    appender.cluster.metadata.watch([name])
    appender.append(place, keyed(b"first"), "first")
    wait_until(lambda: appender.wait_empty(0.1), SECONDS, "the first batch to arrive")
    delete_topic(target.bootstrap, name)
    create_topic(target.bootstrap, name, partitions=1, config=compacted)
    for receipt, key in (("refused", None), ("second", b"second"), ("third", b"third")):
        appender.append(place, keyed(key), receipt)

    def is_known() -> bool:
        with suppress(ProducerForgotten):
            appender.poll()
            return bool(appender.take_refused())
        return True

    wait_until(is_known, SECONDS, "the refused batch to be told, or that nobody knows")
    assert "refused" not in [receipt for receipt, _ in appender.take_acknowledged()]


def keyed(key: bytes | None) -> RecordBatch:
    """Without a key a compacted topic refuses it."""
    return batch_of([SingleRecord(1, key, b"value", ())], Codec.NONE)
