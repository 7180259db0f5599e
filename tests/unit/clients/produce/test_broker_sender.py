"""The conversation with one broker: what goes into a request, what its answer comes to, and what a break leaves."""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from select import select
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse
from typing_extensions import override

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.kafka_clients import ConnectionSettings, ProducerSettings, ProduceSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.topology import Broker
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.login import BrokerVersions
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.net.transport_layer import PlaintextTransportLayer
from legacy_mm.clients.produce.append_options import options_from
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.broker_sender import BrokerSender, _Link, _Request
from legacy_mm.clients.produce.partition_queue import PartitionQueue
from legacy_mm.protocol import produce_messages
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.message_set import HeadersRefused, MessageSets
from legacy_mm.protocol.message_writer import FLEXIBLE
from legacy_mm.protocol.produce_messages import Appended
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.transactions.transactional_queue import TransactionalQueue
from legacy_mm.transactions.txn_requests import ProducerIdAndEpoch, TransactionVersion
from tests.fakes.cluster import FakeCluster
from tests.unit.clients.appending import NOW, PLACE, make, sent
from tests.unit.clients.broker import response
from tests.unit.protocol.batches import Row, build, decode

DAMAGED, LEADER_GONE, DUPLICATE = 2, 6, 46
SECONDS, MOMENT = 10.0, 0.02
VERSION = 8
NODE = 77
"""No other test has threads of this name."""


def test_a_broker_that_is_away_uses_up_no_retries(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing was sent: as in Java the batch waits for its broker, until `delivery.timeout.ms`."""
    appender = make(retries="0", enable_idempotence="true")
    appender._ids = SimpleNamespace(current=(7, 0))  # type: ignore[assignment]
    entry = sent(appender)
    for _ in range(3):
        BrokerSender(appender, 1).send([entry])
        assert appender.take_refused() == []
        assert appender._queues[PLACE].begin() is entry
    assert not entry.doubtful, "and it is certain that no broker has it"
    assert "it is down" in capsys.readouterr().out


def test_without_a_quarantine_what_is_called_damaged_is_sent_again_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    """As in Java, for which it was damaged on its way."""
    appender = make()
    entry = sent(appender)
    sender = BrokerSender(appender, 1)
    for _ in range(10):
        sender._settle(_Request([entry], 9, 0.0, 0), [Appended(PLACE, DAMAGED, -1, "", {})], 0, 0)
        assert appender.take_refused() == []
        assert appender._queues[PLACE].begin() is entry
    assert "t-0 did not take a batch, which is tried again: CORRUPT_MESSAGE: " in capsys.readouterr().out


def in_line(appender: BatchAppender, sender: BrokerSender, number: int, size: int) -> PartitionQueue:
    """A queue with one batch of about `size` bytes, whose turn comes on this sender."""
    place = TopicPartition("t", number)
    appender.append(place, build([Row(0, NOW, b"k", bytes(size))]), "opaque")
    queue = appender._queues[place]
    queue.paused = False
    sender.line_up(queue)
    return queue


def test_who_is_asked_to_be_silent_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quota of the target's, as long as its answer says."""
    now = 100.0
    monkeypatch.setattr("legacy_mm.clients.produce.broker_sender.monotonic", lambda: now)
    appender = make()
    sender = BrokerSender(appender, 1)
    sender._settle(_Request([sent(appender)], 9, now, 0), [Appended(PLACE, 0, 0, "", {})], 0, 500)
    in_line(appender, sender, 1, 10)
    now += 0.499
    assert not sender._may_send()
    now += 0.001
    assert sender._may_send()


def test_who_has_waited_for_a_throttled_answer_does_not_wait_again() -> None:
    """A broker before 2.0 keeps the quota by itself, and only tells of it."""
    appender = make()
    sender = BrokerSender(appender, 1)
    sender._settle(_Request([sent(appender)], 5, 0.0, 0), [Appended(PLACE, 0, 0, "", {})], 0, 500)
    in_line(appender, sender, 1, 10)
    assert sender._may_send()


def test_who_is_asked_to_be_silent_waits_for_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond `request.timeout.ms`: it is behind the answer that said so."""
    appender = make()
    throttled = Mock()
    monkeypatch.setattr(
        "legacy_mm.clients.produce.broker_sender.messages.decode", lambda *_: ([Appended(PLACE, 0, 0, "", {})], 45_000)
    )
    link = _Link(throttled, deque([_Request([sent(appender)], 9, 0.0, 0)]))
    BrokerSender(appender, 1).answered(link, memoryview(b""))
    throttled.excuse.assert_called_once_with(45.0)


def test_a_request_of_several_queues_is_no_larger_than_it_may_be() -> None:
    """All but a batch that is larger by itself."""
    appender = make(message_max_bytes="2500")
    sender = BrokerSender(appender, 1)
    for number, size in enumerate((1000, 1000, 1000, 5000, 10)):
        in_line(appender, sender, number, size)
    taken = []
    while sender._may_send():
        taken.append([entry.queue.partition.partition for entry in sender._next()])
        sender._sending = False
    assert taken == [[0, 1], [2], [3], [4]]


class LocalCluster(FakeCluster):
    """One broker leads everything; each connection to it is a pair of sockets, whose other ends are `peers`."""

    def __init__(self) -> None:
        super().__init__()
        self.peers: list[socket.socket] = []
        self.version = VERSION

    @override
    def leader(self, partition: TopicPartition) -> Broker | None:
        return Broker(NODE, "host", 9092, None)

    @override
    def connect(self, node: int, within: float = 0.0) -> Connection:
        ours, theirs = socket.socketpair()
        theirs.settimeout(SECONDS)
        self.peers.append(theirs)
        made = Connection(PlaintextTransportLayer(ours), "host", 9092, node, ConnectionSettings())
        made.knows(BrokerVersions({produce_messages.API_KEY: (0, self.version)}))
        return made


class Conversation:
    """An appender with a broker that is the test."""

    def __init__(self, produce: ProduceSettings) -> None:
        self.cluster = LocalCluster()
        self.troubles: list[str] = []
        options = options_from(ProducerSettings(ConnectionSettings(retry_backoff=0.0), produce))
        self.appender = BatchAppender(self.cluster, options, Traffic("producer", self.troubles.append))

    def append(self, value: bytes) -> None:
        self.appender.append(PLACE, build([Row(0, NOW, b"k", value)]), value)

    def request(self, connection: int = 0) -> tuple[int, bytes]:
        """The number of the next request, and the batch in it."""
        wait_until(lambda: self._has(connection), SECONDS, "the connection")
        peer = self.cluster.peers[connection]
        (size,) = struct.unpack(">i", self._read(peer, 4))
        body = self._read(peer, size)
        _, version, number, client = struct.unpack(">hhih", body[:10])
        read = ProduceRequest.decode(body[10 + max(client, 0) :], version=version)
        return number, bytes(read.topic_data[0].partition_data[0].records)

    def _read(self, peer: socket.socket, size: int) -> bytes:
        data = b""
        while len(data) < size:
            wait_until(lambda: self._is_readable(peer), SECONDS, "the request")
            data += peer.recv(size - len(data))
        return data

    def _is_readable(self, peer: socket.socket) -> bool:
        self.appender.poll()
        return bool(select([peer], [], [], MOMENT)[0])

    def _has(self, connection: int) -> bool:
        self.appender.poll()
        return len(self.cluster.peers) > connection

    def answer(self, number: int, error: int = 0, offset: int = 7, connection: int = 0) -> None:
        data: Any = ProduceResponse.TopicProduceResponse
        row = data.PartitionProduceResponse(
            index=0, error_code=error, base_offset=offset, log_append_time_ms=-1, log_start_offset=0
        )
        version = self.cluster.version
        told = ProduceResponse(
            responses=[data(name="t", partition_responses=[row])], throttle_time_ms=0, version=version
        )
        self.cluster.peers[connection].sendall(response(number, bytes(told.encode(version=version))))

    def acknowledged(self, count: int) -> list[tuple[bytes, int]]:
        """Receipt and offset of each."""
        found: list[tuple[bytes, int]] = []

        def all_of_them() -> bool:
            self.appender.poll()
            found.extend((each.opaque, each.base_offset) for each in self.appender.take_acknowledged())
            return len(found) >= count

        wait_until(all_of_them, SECONDS, "the acknowledgements")
        return found


@pytest.fixture
def converse() -> Iterator[Callable[[ProduceSettings], Conversation]]:
    conversations: list[Conversation] = []

    def begin(produce: ProduceSettings) -> Conversation:
        conversations.append(Conversation(produce))
        return conversations[-1]

    yield begin
    for made in conversations:
        made.appender.purge()
        for peer in made.cluster.peers:
            peer.close()


@pytest.fixture
def conversation(request: pytest.FixtureRequest, converse: Callable[[ProduceSettings], Conversation]) -> Conversation:
    return converse(getattr(request, "param", ProduceSettings()))


def test_what_is_answered_is_acknowledged_with_its_offset(conversation: Conversation) -> None:
    for value in (b"one", b"two"):
        conversation.append(value)
    for offset in (7, 8):
        number, batch = conversation.request()
        assert (b"one" if offset == 7 else b"two") in batch
        conversation.answer(number, offset=offset)
    assert conversation.acknowledged(2) == [(b"one", 7), (b"two", 8)]
    assert (len(conversation.cluster.peers), conversation.troubles) == (1, [])


def test_what_was_under_way_when_a_connection_breaks_is_sent_again_over_the_next(conversation: Conversation) -> None:
    conversation.append(b"one")
    _, first = conversation.request()
    conversation.cluster.peers[0].close()
    number, again = conversation.request(connection=1)
    assert again == first
    conversation.answer(number, connection=1)
    assert conversation.acknowledged(1) == [(b"one", 7)]
    assert len(conversation.troubles) == 1
    assert conversation.cluster.called_stale


def append_in_transaction(conversation: Conversation, number: int, value: bytes) -> None:
    """To a partition of this number, in the transaction of an id of its own."""
    queue = TransactionalQueue(TopicPartition("t", number), f"id-{number}", ProducerIdAndEpoch(7, 0), 5)
    queue.added = True
    conversation.appender.append_to(queue, build([Row(0, NOW, b"k", value)]), value)
    queue.flush()
    conversation.appender.release(queue)


@pytest.mark.parametrize("conversation", [ProduceSettings(in_flight=1)], indirect=True)
def test_a_connection_that_waits_for_its_answer_does_not_hold_up_another(conversation: Conversation) -> None:
    """One request may be under way on each."""
    append_in_transaction(conversation, 0, b"one")
    first, one = conversation.request()
    append_in_transaction(conversation, 1, b"two")
    _, two = conversation.request(connection=1)
    append_in_transaction(conversation, 2, b"three")
    assert (b"one" in one, b"two" in two) == (True, True)
    assert not conversation._is_readable(conversation.cluster.peers[0]), "it waits for its turn"
    conversation.answer(first)
    assert b"three" in conversation.request()[1]
    assert len(conversation.cluster.peers) == 2


@pytest.mark.parametrize("step", ["answered", "_take_back"])
def test_a_fault_where_answers_are_taken_ends_its_own_engine_only(
    conversation: Conversation,
    converse: Callable[[ProduceSettings], Conversation],
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    """All engines of a process are heard by one thread."""
    faulty = converse(ProduceSettings())

    def has_ended() -> bool:
        with suppress(MemoryError):
            faulty.appender.poll()
            return False
        return True

    for each in (faulty, conversation):
        each.append(b"one")
    number, _ = faulty.request()
    with monkeypatch.context() as patched:
        patched.setattr(BrokerSender, step, Mock(side_effect=MemoryError("no more")))
        if step == "answered":
            faulty.answer(number)
        else:
            faulty.cluster.peers[0].close()
        wait_until(has_ended, SECONDS, "the fault")
    number, _ = conversation.request()
    conversation.answer(number)
    assert conversation.acknowledged(1) == [(b"one", 7)]


def test_a_batch_that_goes_to_the_wrong_broker_is_sent_again(conversation: Conversation) -> None:
    conversation.append(b"one")
    number, first = conversation.request()
    conversation.answer(number, error=LEADER_GONE, offset=-1)
    number, again = conversation.request()
    assert again == first
    conversation.answer(number)
    assert conversation.acknowledged(1) == [(b"one", 7)]


def test_what_the_broker_has_already_is_acknowledged_at_an_unknown_offset(conversation: Conversation) -> None:
    conversation.append(b"one")
    number, _ = conversation.request()
    conversation.answer(number, error=DUPLICATE, offset=3)
    assert conversation.acknowledged(1) == [(b"one", -1)]


@pytest.mark.parametrize("conversation", [ProduceSettings(acks=0)], indirect=True)
def test_without_acknowledgements_a_batch_counts_when_the_socket_has_it(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "lend", Mock(side_effect=AssertionError("nobody waits for an answer")))
    for value in (b"one", b"two"):
        conversation.append(value)
        assert conversation.acknowledged(1) == [(value, -1)]
        assert value in conversation.request()[1]
    assert conversation.troubles == []


@pytest.mark.parametrize("conversation", [ProduceSettings(acks=0)], indirect=True)
def test_without_acknowledgements_the_end_of_the_connection_tells_of_another_leader(conversation: Conversation) -> None:
    """What the broker did not take is lost, as in Java: that is what `acks=0` asks for."""
    conversation.append(b"one")
    conversation.request()
    conversation.cluster.peers[0].close()
    conversation.append(b"two")
    assert b"two" in conversation.request(connection=1)[1]
    assert conversation.cluster.called_stale


def test_an_idle_thread_ends_and_the_next_batch_starts_it_again(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("legacy_mm.clients.produce.broker_sender.IDLE_TIMEOUT", 0.05)
    for value in (b"one", b"two"):
        conversation.append(value)
        number, _ = conversation.request()
        conversation.answer(number)
        assert conversation.acknowledged(1) == [(value, 7)]
        wait_until(lambda: not is_sending(), SECONDS, "the end of the thread that sends")
    assert len(conversation.cluster.peers) == 1, "the connection stays"


def is_sending() -> bool:
    return f"append-{NODE}" in {each.name for each in threading.enumerate()}


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1)])
def test_a_broker_before_0_11_gets_messages(conversation: Conversation, version: int, magic: int) -> None:
    conversation.cluster.version = version
    conversation.append(b"one")
    number, data = conversation.request()
    ((batch, codec),) = MessageSets(check_crcs=True).batches(memoryview(data), 1)
    assert (data[16], codec) == (magic, Codec.NONE)
    assert decode(batch) == [Row(0, NOW if magic else -1, b"k", b"one")]
    conversation.answer(number)
    assert conversation.acknowledged(1) == [(b"one", 7)]


def test_a_record_that_such_a_broker_has_no_place_for_ends_the_sending(conversation: Conversation) -> None:
    conversation.cluster.version = 2
    conversation.appender.append(PLACE, build([Row(0, NOW, b"k", b"v", (("name", b""),))]), "opaque")

    def ended() -> bool:
        with suppress(HeadersRefused):
            conversation.appender.poll()
            return False
        return True

    wait_until(ended, SECONDS, "the end")
    with pytest.raises(HeadersRefused, match="sending to t failed: Magic v1 does not support record headers"):
        conversation.appender.poll()


def test_zstd_is_refused_in_the_place_of_a_broker_that_does_not_know_it(conversation: Conversation) -> None:
    """As later ones refuse it: then the records are sent without compression."""
    conversation.cluster.version = produce_messages.ZSTD_SINCE - 1
    conversation.appender.append(PLACE, build([Row(0, NOW, b"k", b"v")], codec=Codec.ZSTD), b"opaque")
    refused = []

    def found() -> bool:
        conversation.appender.poll()
        refused.extend(conversation.appender.take_refused())
        return bool(refused)

    wait_until(found, SECONDS, "the refusal")
    assert [each.refusal for each in refused] == [ErrorCode.UNSUPPORTED_COMPRESSION_TYPE]
    assert not refused[0].may_have_arrived
    conversation.appender.replace(refused[0], [(build([Row(0, NOW, b"k", b"v")]), b"opaque")])
    number, data = conversation.request()
    assert decode(RecordBatch.read(memoryview(data)))[0].value == b"v"
    conversation.answer(number)
    assert conversation.acknowledged(1) == [(b"opaque", 7)]


def in_a_transaction(conversation: Conversation, value: bytes, place: TopicPartition = PLACE) -> TransactionalQueue:
    """One batch of transaction version 2, which may be sent."""
    queue = TransactionalQueue(place, "id", ProducerIdAndEpoch(7, 3), 5, TransactionVersion.TWO)
    queue.added = True
    conversation.appender.follow(queue)
    conversation.appender.append_to(queue, build([Row(0, NOW, b"k", value)]), value)
    queue.flush()
    conversation.appender.release(queue)
    return queue


def refused_by(conversation: Conversation) -> list[int]:
    found: list[int] = []

    def some() -> bool:
        conversation.appender.poll()
        found.extend(each.refusal for each in conversation.appender.take_refused())
        return bool(found)

    wait_until(some, SECONDS, "the refusal")
    return found


def test_a_batch_of_transaction_version_2_adds_its_partition(conversation: Conversation) -> None:
    conversation.cluster.version = produce_messages.ADDING + 1
    in_a_transaction(conversation, b"one")
    wait_until(lambda: conversation._has(0), SECONDS, "the connection")
    peer = conversation.cluster.peers[0]
    (size,) = struct.unpack(">i", conversation._read(peer, 4))
    request = conversation._read(peer, size)
    api, version, number, client = struct.unpack(">hhih", request[:10])
    assert (api, version, request[10 + client]) == (produce_messages.API_KEY, produce_messages.ADDING, 0)
    read = ProduceRequest.decode(request[10 + client + 1 :], version=version)
    (topic,) = read.topic_data
    assert (read.transactional_id, topic.name) == ("id", PLACE.topic)
    batch = RecordBatch.read(memoryview(bytes(topic.partition_data[0].records)))
    assert batch.header.producer == (7, 3, 0)
    kind: Any = ProduceResponse.TopicProduceResponse
    row = kind.PartitionProduceResponse(
        index=0, error_code=0, base_offset=9, log_append_time_ms=-1, log_start_offset=0, record_errors=[]
    )
    told = ProduceResponse(responses=[kind(name="t", partition_responses=[row])], throttle_time_ms=0, version=version)
    peer.sendall(response(number, FLEXIBLE.end + bytes(told.encode(version=version))))
    assert conversation.acknowledged(1) == [(b"one", 9)]


def test_it_is_refused_in_the_place_of_an_older_broker(conversation: Conversation) -> None:
    conversation.cluster.version = produce_messages.ADDING - 1
    in_a_transaction(conversation, b"one")
    assert refused_by(conversation) == [ErrorCode.UNSUPPORTED_VERSION]


@pytest.mark.parametrize(
    ("problem", "place"), [(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, PLACE), (None, TopicPartition("t", 4))]
)
def test_so_it_is_where_the_cluster_has_no_such_partition(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch, problem: int | None, place: TopicPartition
) -> None:
    """As AddPartitionsToTxn tells it in version 1."""
    without_a_leader(conversation, monkeypatch, problem)
    in_a_transaction(conversation, b"one", place)
    assert refused_by(conversation) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_a_partition_without_a_leader_waits_for_one(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_a_leader(conversation, monkeypatch, None)
    queue = in_a_transaction(conversation, b"one")
    assert queue.trouble is not None
    assert conversation.appender.take_refused() == []


def without_a_leader(conversation: Conversation, monkeypatch: pytest.MonkeyPatch, problem: int | None) -> None:
    """The topic has four partitions, if it has no problem."""
    monkeypatch.setattr(conversation.cluster, "leader", lambda _: None)
    monkeypatch.setattr(conversation.cluster, "problem", lambda _: problem)
    monkeypatch.setattr(conversation.cluster, "partitions", lambda _: 0 if problem else 4)
