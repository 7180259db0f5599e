"""What becomes of a batch that the target did not take: sent again, refused, and under which producer id it goes on."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net.buffer_pool import BufferPool
from legacy_mm.clients.produce.log_inquiry import LogAnswer
from legacy_mm.clients.produce.partition_queue import PartitionQueue
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.transactions.transactional_queue import TransactionalQueue
from legacy_mm.transactions.txn_requests import ProducerIdAndEpoch
from tests.unit.clients.appending import NOW, PLACE, fail, make, sent
from tests.unit.protocol.batches import Row, build

LEADER_GONE, NOT_ENOUGH_REPLICAS, BROKEN, FORBIDDEN, DAMAGED = 6, 19, 0, 29, 2
OUT_OF_ORDER, UNKNOWN_PRODUCER = 45, 59


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
    assert appender.take_acknowledged() == [("opaque", 0), ("opaque", 5)]
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
    assert [each.opaque for each in appender.take_refused()] == [None], "it was part of one that is"


def test_what_waits_for_long_keeps_no_more_in_memory_than_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is a view into the whole answer that it came in."""
    now = 100.0
    monkeypatch.setattr("legacy_mm.clients.produce.appender.monotonic", lambda: now)
    appender = make()
    answers = [memoryview(bytearray(build([Row(0, NOW, b"k", b"v")]).buffer)) for _ in range(3)]
    for seconds, answer in zip((0.0, 0.2, 0.3), answers, strict=True):
        now = 100.0 + seconds
        appender.append(PLACE, RecordBatch.read(answer), "opaque")
    waiting = appender._queues[PLACE].pending
    pinned = [entry.batch.buffer.obj is answer.obj for entry, answer in zip(waiting, answers, strict=True)]
    assert pinned == [True, True, False]


def test_the_connections_to_the_target_are_told_also_when_nothing_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    appender = make()
    monkeypatch.setattr("legacy_mm.clients.net.traffic.monotonic", lambda: inf)
    told = appender.traffic.statistics_when_due()
    assert told is not None
    (client,) = told.measured
    assert client.gauges["connections"] == 1
    assert (client.counters["connects"], client.counters["disconnects"]) == (3, 2)


def test_a_partition_to_which_nothing_gets_through_keeps_its_share_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once it may fill a quarter of the buffer; once it is stuck it takes nothing, and others have half of it."""
    now = 100.0
    for module in ("appender", "broker_sender"):
        monkeypatch.setattr(f"legacy_mm.clients.produce.{module}.monotonic", lambda: now)
    appender, other = make(queue_buffering_max_kbytes="1"), TopicPartition("t", 1)
    batch = build([Row(0, NOW, b"k", b"v" * 40)])
    assert appender.takes(PLACE)
    appender.append(PLACE, batch, "opaque")
    assert appender.takes(PLACE)
    appender.append(PLACE, build([Row(0, NOW, b"k", b"v" * 1000)]), "opaque")
    assert not appender.takes(PLACE), "more than a quarter"
    assert not appender.has_room()
    now += 1.1
    appender.poll()
    assert appender.stuck() == {PLACE: "it has no leader"}
    assert not appender.takes(PLACE)
    assert appender.takes(other)
    assert appender.has_room()
    entry = appender._queues[PLACE].begin()
    with appender.lock:
        appender.acknowledged(entry, 0)
    assert appender._queues[PLACE].trouble is None
    assert appender.takes(PLACE)


def test_streams_whose_partitions_are_stuck_leave_room_for_their_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a full pool may be stuck: each stream can still write to partitions that are led."""
    now = 100.0
    monkeypatch.setattr("legacy_mm.clients.produce.appender.monotonic", lambda: now)
    pool = BufferPool()
    streams = [make(pool, queue_buffering_max_kbytes="1") for _ in range(4)]
    for stream in streams:
        assert stream.has_room()
        stream.append(PLACE, build([Row(0, NOW, b"k", b"v" * 1200)]), "opaque")
    assert not any(stream.has_room() for stream in streams)
    now += 1.1
    for stream in streams:
        stream.poll()
    assert all(stream.has_room() for stream in streams)
    assert not any(stream.takes(PLACE) for stream in streams)
    assert all(stream.takes(TopicPartition("t", 1)) for stream in streams)


def test_what_is_purged_counts_no_more() -> None:
    pool = BufferPool()
    first, second = (make(pool, queue_buffering_max_kbytes="1") for _ in range(2))
    first.append(PLACE, build([Row(0, NOW, b"k", b"v" * 1900)]), "opaque")
    second.append(PLACE, build([Row(0, NOW, b"k", b"v" * 1000)]), "opaque")
    assert not second.has_room()
    first.purge()
    assert not second.has_room(), "nor does it leave its part"
    assert pool.total == 1024


def test_what_was_given_up_leaves_the_way_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that holds nothing can tell of no trouble: with nothing to send nobody would ever find out."""
    now = 100.0
    monkeypatch.setattr("legacy_mm.clients.produce.appender.monotonic", lambda: now)
    appender = make(message_timeout_ms="500")
    appender.append(PLACE, build([Row(0, NOW, b"k", b"v")]), "opaque")
    now += 2.0
    appender.poll()
    assert not appender.takes(PLACE)
    (refused,) = appender.take_refused()
    appender.drop(refused)
    assert appender.takes(PLACE)
    now += 1.0
    appender.poll()
    assert appender.stuck() == {}


@pytest.mark.parametrize("brokers", range(1, 7))
def test_each_broker_has_two_connections_of_as_many_transactions(brokers: int) -> None:
    """Whatever the numbers of partitions are that a broker leads; and none changes its connection."""
    appender = make()
    found = defaultdict[int, dict[int, int]](dict)
    for number in range(24):
        queue = TransactionalQueue(TopicPartition("t", number), f"id-{number}", ProducerIdAndEpoch(7, 0), 5)
        found[number % brokers][number] = appender._connection(queue, number % brokers)
        assert appender._connection(queue, number % brokers) == found[number % brokers][number]
    for numbers in found.values():
        counted = Counter(numbers.values())
        assert max(counted.values()) - min(counted.values()) <= len(numbers) % 2
        assert set(counted) == {0, 1}


def test_what_is_in_no_transaction_has_one_connection() -> None:
    appender = make()
    places = [PartitionQueue(TopicPartition("t", number), None, 5) for number in range(5)]
    assert {appender._connection(queue, 1) for queue in places} == {0}
