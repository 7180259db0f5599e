"""What becomes of a batch that the target did not take: sent again, refused, and under which producer id it goes on."""

from __future__ import annotations

from collections import deque
from math import inf
from types import SimpleNamespace
from typing import Any, NoReturn
from unittest.mock import Mock

import pytest

from legacy_mm.clients.native.append_options import options_from
from legacy_mm.clients.native.appender import BatchAppender
from legacy_mm.clients.native.broker_sender import BrokerSender, _Link, _Request
from legacy_mm.clients.native.connection_errors import ConnectionLost
from legacy_mm.clients.native.log_inquiry import LogAnswer
from legacy_mm.clients.native.partition_queue import PartitionQueue, ProducerBatch
from legacy_mm.clients.native.traffic import Traffic
from legacy_mm.clock import epoch_ms
from legacy_mm.config import property_names
from legacy_mm.model import TopicPartition
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.produce_messages import Appended
from legacy_mm.protocol.record_batch import RecordBatch
from tests.unit.protocol.batches import Row, build

PLACE = TopicPartition("t", 0)
NOW = epoch_ms()
LEADER_GONE, NOT_ENOUGH_REPLICAS, BROKEN, FORBIDDEN, DAMAGED = 6, 19, 0, 29, 2
OUT_OF_ORDER, UNKNOWN_PRODUCER = 45, 59


class Cluster:
    """One in which nobody leads anything."""

    def leader(self, partition: TopicPartition) -> None:
        return None

    def connect(self, node: int) -> NoReturn:
        raise ConnectionLost("it is down")

    def stale(self) -> None:
        pass

    def tend(self) -> None:
        pass

    def age(self) -> None:
        return None

    def connections(self) -> tuple[int, int]:
        return 3, 1


def make(*, sets_aside: bool = False, **properties: str) -> BatchAppender:
    """`properties`: with _ for a dot."""
    known = {name.replace("_", "."): text for name, text in properties.items()}
    options = options_from(property_names.read_producer(known), sets_aside=sets_aside)
    return BatchAppender(Cluster(), options, Traffic("producer", print))  # type: ignore[arg-type]


def sent(appender: BatchAppender) -> ProducerBatch:
    """A batch that is under way."""
    appender.append(PLACE, build([Row(0, NOW, b"k", b"v"), Row(1, NOW, b"k", b"w")]), "receipt")
    return appender._queues[PLACE].begin()


def fail(appender: BatchAppender, entry: ProducerBatch, error: int) -> None:
    with appender.lock:
        appender.failed(entry, Appended(PLACE, error, -1, "as it is", {}) if error else None)


@pytest.mark.parametrize(
    ("retries", "error", "refusal"),
    [("0", LEADER_GONE, LEADER_GONE), ("2", LEADER_GONE, LEADER_GONE), ("1", BROKEN, ErrorCode.REQUEST_TIMED_OUT)],
)
def test_a_batch_is_sent_again_as_often_as_the_file_says(retries: str, error: int, refusal: int) -> None:
    appender = make(retries=retries)
    entry = sent(appender)
    for _ in range(int(retries)):
        fail(appender, entry, error)
        assert appender.take_refused() == []
        assert appender._queues[PLACE].begin() is entry
    fail(appender, entry, error)
    assert [(each, each.refusal) for each in appender.take_refused()] == [(entry, refusal)]
    assert not error_codes.may_spare_some(refusal)


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


@pytest.mark.parametrize(
    ("before", "producer"), [(BROKEN, 8), (LEADER_GONE, 8), (NOT_ENOUGH_REPLICAS, 7)], ids=["broken", "6", "19"]
)
def test_a_refused_batch_that_may_have_arrived_has_used_its_sequence_numbers(before: int, producer: int) -> None:
    """Under the same id the broker would take the next batch of that size for it, and say that it has it."""
    appender = make(enable_idempotence="true")
    ids: Any = SimpleNamespace(current=(7, 0), acquire=lambda: (8, 0))
    appender._ids = ids
    entry = sent(appender)
    fail(appender, entry, before)
    queue = appender._queues[PLACE]
    assert queue.begin() is entry
    fail(appender, entry, FORBIDDEN)
    assert appender.take_refused() == [entry]
    appender.drop(entry)
    assert sent(appender).batch.header.producer_id == producer


@pytest.mark.parametrize("error", [UNKNOWN_PRODUCER, OUT_OF_ORDER])
def test_who_is_forgotten_goes_on_under_another_producer_id(error: int) -> None:
    """A target of 1.0 to 2.3 forgets whose records retention has removed, and says 59; one of 0.11 says 45."""
    appender = make(enable_idempotence="true")
    ids: Any = SimpleNamespace(current=(7, 0), acquire=lambda: (8, 0))
    appender._ids = ids
    first = sent(appender)
    with appender.lock:
        appender.acknowledged(first, 0)
    second, third = sent(appender), sent(appender)
    for entry in (second, third):
        fail(appender, entry, error)
    assert appender.take_refused() == [second]
    assert appender._queues[PLACE].may_start_anew()
    appender.start_anew(second)
    queue = appender._queues[PLACE]
    assert queue.begin() is second
    assert not queue.can_send(), "until the broker knows the new one"
    with appender.lock:
        appender.acknowledged(second, 2)
    assert queue.begin() is third
    stamps = [entry.batch.header.producer for entry in (first, second, third)]
    assert stamps == [(7, 0, 0), (8, 0, 0), (8, 0, 2)]


def test_what_the_log_does_not_hold_goes_on_under_another_producer_id() -> None:
    appender = make(enable_idempotence="true")
    ids: Any = SimpleNamespace(current=(7, 0), acquire=lambda: (8, 0))
    appender._ids = ids
    first = sent(appender)
    with appender.lock:
        appender.acknowledged(first, 0)
    entry, queue = sent(appender), appender._queues[PLACE]
    for error in (BROKEN, OUT_OF_ORDER):
        fail(appender, entry, error)
        assert appender.take_refused() == []
        assert error == OUT_OF_ORDER or queue.begin() is entry
    assert (question := queue.question()) is not None
    with appender.lock:
        appender.answered(question, LogAnswer(-1, -1))
    assert queue.begin() is entry
    fail(appender, entry, OUT_OF_ORDER)
    assert appender.take_refused() == [entry]
    assert queue.may_start_anew()


def test_what_the_log_holds_is_acknowledged_with_its_place() -> None:
    appender = make(enable_idempotence="true")
    appender._ids = SimpleNamespace(current=(7, 0))  # type: ignore[assignment]
    first = sent(appender)
    with appender.lock:
        appender.acknowledged(first, 0)
    entry, queue = sent(appender), appender._queues[PLACE]
    fail(appender, entry, BROKEN)
    assert queue.begin() is entry
    fail(appender, entry, OUT_OF_ORDER)
    assert (question := queue.question()) is not None
    assert question.since == 2
    with appender.lock:
        appender.answered(question, LogAnswer(-1, 5))
    assert appender.take_acknowledged() == [("receipt", 0), ("receipt", 5)]
    assert appender.is_empty()


@pytest.mark.parametrize("which", [0, 1])
def test_who_may_have_arrived_is_not_sent_under_another_producer_id(which: int) -> None:
    """Nor what comes before it: it would stand behind."""
    appender = make(enable_idempotence="true")
    appender._ids = SimpleNamespace(current=(7, 0))  # type: ignore[assignment]
    first = sent(appender)
    with appender.lock:
        appender.acknowledged(first, 0)
    both = [sent(appender), sent(appender)]
    for number, entry in enumerate(both):
        fail(appender, entry, BROKEN if number == which else UNKNOWN_PRODUCER)
    queue = appender._queues[PLACE]
    if which == 0:
        assert queue.begin() is both[0]
        fail(appender, both[0], UNKNOWN_PRODUCER)
        assert (question := queue.question()) is not None, "its log may know it"
        with appender.lock:
            appender.answered(question, LogAnswer(-1, None))
        assert queue.begin() is both[0], "but it does not tell"
        fail(appender, both[0], UNKNOWN_PRODUCER)
    assert appender.take_refused() == [both[0]]
    assert not queue.may_start_anew()
    assert both[0].part(both[0].batch, "half").doubtful == both[0].doubtful


def test_where_there_is_a_quarantine_a_batch_that_is_called_damaged_thrice_is_refused() -> None:
    """Brokers before 2.4 call it so where a record lacks the key that a compacted topic wants."""
    appender = make(sets_aside=True)
    entry = sent(appender)
    queue = appender._queues[PLACE]
    for error in (DAMAGED, DAMAGED, BROKEN, DAMAGED, DAMAGED):
        fail(appender, entry, error)
        assert appender.take_refused() == []
        assert queue.begin() is entry
    fail(appender, entry, DAMAGED)
    assert [(each, each.refusal) for each in appender.take_refused()] == [(entry, ErrorCode.INVALID_RECORD)]
    assert error_codes.may_spare_some(entry.refusal)
    assert error_codes.refuses_the_record(entry.refusal)
    appender.replace(entry, [(build([Row(0, NOW, key, b"v")]), key) for key in (None, b"k")])
    fail(appender, queue.begin(), DAMAGED)
    assert [each.receipt for each in appender.take_refused()] == [None], "it was part of one that is"


def test_without_a_quarantine_what_is_called_damaged_is_sent_again_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    """As in Java, for which it was damaged on its way."""
    appender = make()
    entry = sent(appender)
    channel = BrokerSender(appender, 1)
    for _ in range(10):
        channel._settle(_Request([entry], 9, 0.0, 0), [Appended(PLACE, DAMAGED, -1, "", {})], 0, 0)
        assert appender.take_refused() == []
        assert appender._queues[PLACE].begin() is entry
    assert "t-0 did not take a batch, which is tried again: CORRUPT_MESSAGE: " in capsys.readouterr().out


def in_line(appender: BatchAppender, channel: BrokerSender, number: int, size: int) -> PartitionQueue:
    """A queue with one batch of about `size` bytes, whose turn comes on this channel."""
    place = TopicPartition("t", number)
    appender.append(place, build([Row(0, NOW, b"k", bytes(size))]), "receipt")
    queue = appender._queues[place]
    queue.paused = False
    channel.line_up(queue)
    return queue


def test_who_is_asked_to_be_silent_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quota of the target's, as long as its answer says."""
    now = 100.0
    monkeypatch.setattr("legacy_mm.clients.native.broker_sender.monotonic", lambda: now)
    appender = make()
    channel = BrokerSender(appender, 1)
    channel._settle(_Request([sent(appender)], 9, now, 0), [Appended(PLACE, 0, 0, "", {})], 0, 500)
    in_line(appender, channel, 1, 10)
    now += 0.499
    assert not channel._may_send()
    now += 0.001
    assert channel._may_send()


def test_who_has_waited_for_a_throttled_answer_does_not_wait_again() -> None:
    """A broker before 2.0 keeps the quota by itself, and only tells of it."""
    appender = make()
    channel = BrokerSender(appender, 1)
    channel._settle(_Request([sent(appender)], 5, 0.0, 0), [Appended(PLACE, 0, 0, "", {})], 0, 500)
    in_line(appender, channel, 1, 10)
    assert channel._may_send()


def test_who_is_asked_to_be_silent_waits_for_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond `request.timeout.ms`: it is behind the answer that said so."""
    appender = make()
    answers = [b"", ConnectionLost("over")]
    throttled = Mock(receive_within=Mock(side_effect=answers))
    monkeypatch.setattr(
        "legacy_mm.clients.native.broker_sender.messages.decode", lambda *_: ([Appended(PLACE, 0, 0, "", {})], 45_000)
    )
    link = _Link(throttled, deque([_Request([sent(appender)], 9, 0.0, 0)]))
    with pytest.raises(ConnectionLost, match="over"):
        BrokerSender(appender, 1)._take_answers(link)
    throttled.excuse.assert_called_once_with(45.0)


def test_a_request_of_several_queues_is_no_larger_than_it_may_be() -> None:
    """All but a batch that is larger by itself."""
    appender = make(message_max_bytes="2500")
    channel = BrokerSender(appender, 1)
    for number, size in enumerate((1000, 1000, 1000, 5000, 10)):
        in_line(appender, channel, number, size)
    taken = []
    while channel._may_send():
        taken.append([entry.queue.partition.partition for entry in channel._next()])
        channel._sending = False
    assert taken == [[0, 1], [2], [3], [4]]


def test_what_waits_for_long_keeps_no_more_in_memory_than_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is a view into the whole answer that it came in."""
    now = 100.0
    monkeypatch.setattr("legacy_mm.clients.native.appender.monotonic", lambda: now)
    appender = make()
    answers = [memoryview(bytearray(build([Row(0, NOW, b"k", b"v")]).buffer)) for _ in range(3)]
    for seconds, answer in zip((0.0, 0.2, 0.3), answers, strict=True):
        now = 100.0 + seconds
        appender.append(PLACE, RecordBatch.read(answer), "receipt")
    waiting = appender._queues[PLACE].pending
    pinned = [entry.batch.buffer.obj is answer.obj for entry, answer in zip(waiting, answers, strict=True)]
    assert pinned == [True, True, False]


def test_the_connections_to_the_target_are_told_also_when_nothing_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    appender = make()
    monkeypatch.setattr("legacy_mm.clients.native.traffic.monotonic", lambda: inf)
    told = appender.traffic.statistics_when_due()
    assert told is not None
    (client,) = told.measured
    assert client.gauges["connections"] == 1
    assert (client.counters["connects"], client.counters["disconnects"]) == (3, 2)


def test_a_partition_to_which_nothing_gets_through_keeps_its_share_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once it may fill a quarter of the buffer; once it is stuck it takes nothing, and others have half of it."""
    now = 100.0
    for module in ("appender", "broker_sender"):
        monkeypatch.setattr(f"legacy_mm.clients.native.{module}.monotonic", lambda: now)
    appender, other = make(queue_buffering_max_kbytes="1"), TopicPartition("t", 1)
    batch = build([Row(0, NOW, b"k", b"v" * 40)])
    assert appender.takes(PLACE)
    appender.append(PLACE, batch, "receipt")
    assert appender.takes(PLACE)
    appender.append(PLACE, build([Row(0, NOW, b"k", b"v" * 1000)]), "receipt")
    assert not appender.takes(PLACE), "more than a quarter"
    assert not appender.has_room()
    now += 1.1
    appender.tend()
    assert appender.stuck() == {PLACE: "it has no leader"}
    assert not appender.takes(PLACE)
    assert appender.takes(other)
    assert appender.has_room()
    entry = appender._queues[PLACE].begin()
    with appender.lock:
        appender.acknowledged(entry, 0)
    assert appender._queues[PLACE].trouble is None
    assert appender.takes(PLACE)


def test_what_was_given_up_leaves_the_way_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that holds nothing can tell of no trouble: with nothing to send nobody would ever find out."""
    now = 100.0
    monkeypatch.setattr("legacy_mm.clients.native.appender.monotonic", lambda: now)
    appender = make(message_timeout_ms="500")
    appender.append(PLACE, build([Row(0, NOW, b"k", b"v")]), "receipt")
    now += 2.0
    appender.tend()
    assert not appender.takes(PLACE)
    (refused,) = appender.take_refused()
    appender.drop(refused)
    assert appender.takes(PLACE)
    now += 1.0
    appender.tend()
    assert appender.stuck() == {}
