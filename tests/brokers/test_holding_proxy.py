"""Requests of transactions that are lost or late at real brokers, and the holes that exactly once has its rules for."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import PROXIED
from compat.laboratory.holding_proxy import Api, HoldingProxy
from compat.laboratory.ports import LOOPBACK
from compat.laboratory.raw_request import ask
from legacy_mm.audit.cluster_access import create_topic, end_offsets, read_all
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol import produce_messages
from legacy_mm.protocol.message_writer import FLEXIBLE, OLDER
from legacy_mm.protocol.record_batch import ProducerStamp
from tests.unit.protocol.batches import NOW, Row, build

pytestmark = pytest.mark.brokers
SECONDS = 30.0
TRANSACTIONS, ALL_REPLICAS = 1, -1
NOT_YET = {7, 14, 15, 16, 19, 20, 51}
"""Codes after which the same request is sent again: a coordinator loads, or writes the markers still."""
INVALID_PRODUCER_EPOCH, PRODUCER_FENCED = 47, 90
NO_TAGS = FLEXIBLE.end
END_TXN_2_CODE = len(NO_TAGS) + 4
"""Where an answer of version 2 has it: behind the header's tags and throttling."""


class RawProducer:
    """The requests of transaction version 1, each on a connection of its own, for one partition."""

    def __init__(self, port: int, transactional_id: str, topic: str) -> None:
        self.port, self.name, self.topic = port, transactional_id, topic
        self.producer_id = self.epoch = -1
        self.sequence = 0
        self.produced_code = 4 + 2 + len(topic) + 4 + 4
        """Where an answer has the code of a batch."""
        wait_until(self._coordinator_is_known, SECONDS, "a coordinator")

    def init(self) -> int:
        """The epoch that the coordinator gives."""
        answer = self._insist(Api.INIT_PRODUCER_ID, 1, OLDER.string(self.name) + struct.pack(">i", 60_000), 4)
        self.producer_id, self.epoch = struct.unpack_from(">qh", answer, 6)
        self.sequence = 0
        return self.epoch

    def add(self) -> None:
        self._insist(Api.ADD_PARTITIONS_TO_TXN, 1, self._who() + self._partition(), 4 + 4 + 2 + len(self.topic) + 4 + 4)

    def produce(self) -> None:
        """One record."""
        stamp = ProducerStamp(self.producer_id, self.epoch, self.sequence)
        batch = build([Row(0, NOW, b"k", b"v")]).restamp(stamp, is_transactional=True).buffer
        head = OLDER.string(self.name) + struct.pack(">hi", ALL_REPLICAS, 30_000)
        body = head + self._partition() + struct.pack(">i", len(batch)) + batch
        self.sequence += 1
        self._insist(Api.PRODUCE, 3, body, self.produced_code)

    def commit(self) -> None:
        self._insist(Api.END_TXN, 1, self._who() + b"\x01", 4)

    def abort(self) -> None:
        """As our sessions never do."""
        self._insist(Api.END_TXN, 1, self._who() + b"\x00", 4)

    def _who(self) -> bytes:
        return OLDER.string(self.name) + struct.pack(">qh", self.producer_id, self.epoch)

    def _partition(self) -> bytes:
        return struct.pack(">i", 1) + OLDER.string(self.topic) + struct.pack(">ii", 1, 0)

    def _coordinator_is_known(self) -> bool:
        body = OLDER.string(self.name) + struct.pack(">b", TRANSACTIONS)
        return code_at(ask(LOOPBACK, self.port, Api.FIND_COORDINATOR, 1, body, SECONDS), 4) == 0

    def _insist(self, api: int, version: int, body: bytes, place: int) -> bytes:
        """The answer, whose code at `place` must be 0. Raises OSError when the connection is cut."""

        def answer() -> bytes | OSError:
            try:
                found = ask(LOOPBACK, self.port, api, version, body, SECONDS)
            except OSError as error:
                return error
            return found if code_at(found, place) not in NOT_YET else b""

        found = wait_until(answer, SECONDS, f"an answer to {api}")
        if isinstance(found, OSError):
            raise found
        assert code_at(found, place) == 0
        return found


class RawProducer2(RawProducer):
    """So of transaction version 2: nothing is added, and each commit gives the next epoch."""

    def __init__(self, port: int, transactional_id: str, topic: str) -> None:
        super().__init__(port, transactional_id, topic)
        self.produced_code = len(NO_TAGS) + 1 + 1 + len(topic) + 1 + 4

    def produce(self) -> None:
        """One record."""
        stamp = ProducerStamp(self.producer_id, self.epoch, self.sequence)
        batch = build([Row(0, NOW, b"k", b"v")]).restamp(stamp, is_transactional=True).buffer
        place = TopicPartition(self.topic, 0)
        segments = produce_messages.encode(produce_messages.ADDING, ALL_REPLICAS, 30_000, [(place, batch)], self.name)
        self._insist(Api.PRODUCE, produce_messages.ADDING, NO_TAGS + b"".join(segments), self.produced_code)
        self.sequence += 1

    def commit(self) -> None:
        who = FLEXIBLE.string(self.name) + struct.pack(">qh", self.producer_id, self.epoch)
        answer = self._insist(Api.END_TXN, 5, NO_TAGS + who + b"\x01" + NO_TAGS, END_TXN_2_CODE)
        self.producer_id, self.epoch = struct.unpack_from(">qh", answer, END_TXN_2_CODE + 2)
        self.sequence = 0


def code_at(answer: bytes, place: int) -> int:
    found: int = struct.unpack_from(">h", answer, place)[0]
    return found


CORRELATION_ID = 4
END_TXN_CODE = CORRELATION_ID + 4
"""Where a held request's answer has its code: behind correlation id and throttling."""


AnyProducer = TypeVar("AnyProducer", bound=RawProducer)


@pytest.fixture
def proxy() -> Iterator[HoldingProxy]:
    with HoldingProxy() as made:
        yield made


@pytest.fixture(params=["target", pytest.param("target_39", marks=pytest.mark.slow)])
def cluster(request: pytest.FixtureRequest) -> Any:
    """Brokers of today, and those of the last release that had the legacy tool."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def producer(proxy: HoldingProxy, cluster: Any, topic: Callable[..., str]) -> RawProducer:
    """A producer behind the proxy, whose topic is there."""
    return behind(proxy, cluster, topic("held"), RawProducer)


@pytest.fixture
def producer_2(proxy: HoldingProxy, target: Any, topic: Callable[..., str]) -> RawProducer2:
    """So one of version 2."""
    return behind(proxy, target, topic("held"), RawProducer2)


def behind(proxy: HoldingProxy, cluster: Any, name: str, kind: type[AnyProducer]) -> AnyProducer:
    create_topic(cluster.bootstrap, name, partitions=1)
    wait_until(lambda: end_offsets(cluster.bootstrap, name) == {0: 0}, SECONDS, "its leader")
    port = int(cluster.bootstrap.rpartition(":")[2])
    return kind(proxy.before(port)[1], name, name)


def committed(cluster: Any, producer: RawProducer) -> int:
    return len(read_all(cluster.bootstrap, producer.topic, isolation="read_committed"))


def test_a_request_that_is_lost_never_arrives(proxy: HoldingProxy, producer: RawProducer) -> None:
    lost = proxy.lose(Api.INIT_PRODUCER_ID)
    with pytest.raises(OSError):
        producer.init()
    assert (producer.init(), producer.init(), lost.applied) == (0, 1, 1)


def test_a_request_whose_answer_is_lost_has_arrived(proxy: HoldingProxy, producer: RawProducer) -> None:
    lost = proxy.lose_answer(Api.INIT_PRODUCER_ID, containing=producer.name.encode())
    with pytest.raises(OSError):
        producer.init()
    assert (producer.init(), lost.applied) == (1, 1)


def test_a_late_end_ends_the_next_transaction(proxy: HoldingProxy, producer: RawProducer, cluster: Any) -> None:
    """Unless its producer has a new epoch by then: so a session gets one after each doubt."""
    producer.init()
    for renews in (False, True):
        producer.add()
        producer.produce()
        late = proxy.hold(Api.END_TXN)
        with pytest.raises(OSError):
            producer.commit()
        producer.commit()
        if renews:
            producer.init()
        producer.add()  # so the markers of the transaction before are written
        before = committed(cluster, producer)
        producer.produce()
        assert committed(cluster, producer) == before
        code = code_at(late.deliver(), END_TXN_CODE)
        if renews:
            assert code == INVALID_PRODUCER_EPOCH
            assert committed(cluster, producer) == before
        else:
            assert code == 0
            wait_until(lambda: committed(cluster, producer) == 2, SECONDS, "what nobody has committed")
        assert (late.applied, late.delivered) == (1, 1)


def test_a_late_batch_belongs_to_the_next_transaction(proxy: HoldingProxy, producer: RawProducer, cluster: Any) -> None:
    """After an abort that keeps the epoch: so a session never aborts in this way."""
    producer.init()
    producer.add()
    late = proxy.hold(Api.PRODUCE, client="^legacy_mm-testbed$", containing=producer.topic.encode())
    with pytest.raises(OSError):
        producer.produce()
    producer.abort()
    producer.add()
    assert code_at(late.deliver(), CORRELATION_ID + producer.produced_code) == 0
    producer.commit()
    wait_until(lambda: committed(cluster, producer) == 1, SECONDS, "the record of the transaction that was aborted")


def test_late_partitions_open_an_empty_transaction(proxy: HoldingProxy, producer: RawProducer, cluster: Any) -> None:
    """The next epoch is the one after next, because this transaction is aborted first."""
    producer.init()
    late = proxy.hold(Api.ADD_PARTITIONS_TO_TXN)
    with pytest.raises(OSError):
        producer.add()
    producer.add()
    producer.produce()
    producer.commit()
    wait_until(lambda: committed(cluster, producer) == 1, SECONDS, "the markers")
    late.deliver()
    assert (late.delivered, producer.init()) == (1, 2)
    assert committed(cluster, producer) == 1


def test_version_2_refuses_a_late_batch_of_an_earlier_epoch(
    proxy: HoldingProxy, producer_2: RawProducer2, target: Any
) -> None:
    producer_2.init()
    late = proxy.hold(Api.PRODUCE, client="^legacy_mm-testbed$", containing=producer_2.topic.encode())
    with pytest.raises(OSError):
        producer_2.produce()
    producer_2.produce()
    producer_2.commit()
    producer_2.produce()
    assert code_at(late.deliver(), CORRELATION_ID + producer_2.produced_code) == INVALID_PRODUCER_EPOCH
    producer_2.commit()
    wait_until(lambda: committed(target, producer_2) == 2, SECONDS, "both transactions")
    assert (producer_2.epoch, late.delivered) == (2, 1)


def test_version_2_refuses_a_late_end_of_an_earlier_epoch(
    proxy: HoldingProxy, producer_2: RawProducer2, target: Any
) -> None:
    producer_2.init()
    producer_2.produce()
    late = proxy.hold(Api.END_TXN)
    with pytest.raises(OSError):
        producer_2.commit()
    producer_2.commit()
    producer_2.produce()
    assert code_at(late.deliver(), CORRELATION_ID + END_TXN_2_CODE) == PRODUCER_FENCED
    assert committed(target, producer_2) == 1
    producer_2.commit()
    wait_until(lambda: committed(target, producer_2) == 2, SECONDS, "both transactions")


def test_version_2_answers_a_repeated_commit_with_the_same_epoch(
    proxy: HoldingProxy, producer_2: RawProducer2, target: Any
) -> None:
    producer_2.init()
    producer_2.produce()
    proxy.lose_answer(Api.END_TXN)
    with pytest.raises(OSError):
        producer_2.commit()
    wait_until(lambda: committed(target, producer_2) == 1, SECONDS, "the commit")
    producer_2.commit()
    assert producer_2.epoch == 1
    producer_2.produce()
    producer_2.commit()
    wait_until(lambda: committed(target, producer_2) == 2, SECONDS, "both transactions")


def test_a_late_batch_that_comes_by_itself(proxy: HoldingProxy, producer: RawProducer, cluster: Any) -> None:
    producer.init()
    producer.add()
    late = proxy.hold(Api.PRODUCE, after=0.5)
    with pytest.raises(OSError):
        producer.produce()
    wait_until(lambda: late.delivered, SECONDS, "the delivery")
    producer.commit()
    wait_until(lambda: committed(cluster, producer) == 1, SECONDS, "the markers")


def test_a_client_is_led_through_the_proxy_and_sends_again(
    proxy: HoldingProxy, module_clusters: Callable[..., Any], topic: Callable[..., str]
) -> None:
    """librdkafka's transactions bear a lost answer and a request that is never delivered."""
    proxied = module_clusters(advertise=proxy.before)
    name = topic()
    create_topic(proxied.bootstrap, name)
    client = {"bootstrap.servers": proxied.bootstrap_of(PROXIED), "transactional.id": name, "client.id": "led"}
    producer = Producer({**client, "log_level": 0})
    rules = [
        proxy.lose_answer(Api.PRODUCE, client="^led$"),
        proxy.lose(Api.ADD_PARTITIONS_TO_TXN, client="^led$"),
        proxy.hold(Api.END_TXN, client="^led$"),
    ]
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    producer.produce(name, b"value")
    producer.commit_transaction(SECONDS)
    assert len(read_all(proxied.bootstrap, name, isolation="read_committed")) == 1
    assert [rule.applied for rule in rules] == [1, 1, 1]
