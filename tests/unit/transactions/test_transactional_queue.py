"""Queues of a transaction's owner: what they send, and when."""

from __future__ import annotations

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.transactions.transactional_queue import TransactionalQueue
from legacy_mm.transactions.txn_requests import ProducerIdAndEpoch, TransactionVersion
from tests.unit.protocol.batches import NOW, Row, build

PLACE = TopicPartition("t", 0)
FIRST, NEXT = ProducerIdAndEpoch(7, 0), ProducerIdAndEpoch(7, 1)


def queue_with(batches: int, time: int = NOW) -> TransactionalQueue:
    queue = TransactionalQueue(PLACE, "id", FIRST, 5)
    for _ in range(batches):
        batch = build([Row(0, time, b"k", b"v")])
        queue.pending.append(ProducerBatch(queue, batch, None, len(batch.buffer), 0.0, float("inf")))
    queue.flush()
    return queue


def test_it_sends_only_what_is_part_of_a_transaction() -> None:
    queue = queue_with(1)
    assert not queue.can_send()
    queue.added = True
    assert queue.can_send()
    assert queue.begin().batch.header.is_transactional
    queue.transaction_over()
    assert not queue.added


def test_it_sends_only_what_is_flushed() -> None:
    queue = queue_with(1)
    queue.added = True
    late = ProducerBatch(queue, build([Row(0, NOW, b"k", b"v")]), None, 1, monotonic(), float("inf"))
    queue.pending.append(late)
    queue.acknowledged(queue.begin(), 0)
    assert not queue.can_send()
    queue.flush()
    assert queue.can_send()


def test_what_failed_is_sent_again_while_later_batches_linger() -> None:
    queue = queue_with(1)
    queue.added = True
    failed = queue.begin()
    queue.pending.append(ProducerBatch(queue, failed.batch, None, failed.size, monotonic(), float("inf")))
    queue.failed(failed, denied=False)
    assert queue.recovered()
    assert queue.can_send()
    assert queue.begin() is failed
    queue.acknowledged(failed, 0)
    assert not queue.can_send()


def test_an_unknown_outcome_makes_the_transaction_doubtful_and_a_refusal_does_not() -> None:
    for denied in (True, False):
        queue = queue_with(1)
        queue.added = True
        queue.failed(queue.begin(), denied=denied)
        assert queue.doubtful is not denied


def test_old_records_are_not_asked_for_in_the_log() -> None:
    """A broker remembers the owner of an open transaction, however old its records are."""
    queue = queue_with(3, time=0)
    queue.added = True
    queue.acknowledged(queue.begin(), 0)
    assert queue.question() is None
    queue.begin()
    assert queue.can_send(), "several are under way, as with new records"


def test_it_tells_when_the_target_has_all_of_it() -> None:
    queue = queue_with(2)
    queue.added = True
    told: list[bool] = []
    queue.on_settled = lambda: told.append(queue.is_settled)
    queue.acknowledged(queue.begin(), 0)
    assert told == []
    queue.acknowledged(queue.begin(), 1)
    assert told == [True]


def test_a_new_epoch_begins_at_sequence_0() -> None:
    queue = queue_with(1)
    queue.added = True
    queue.acknowledged(queue.begin(), 0)
    queue.transaction_over()
    queue.renewed(NEXT)
    batch = build([Row(0, NOW, b"k", b"v")])
    queue.pending.append(ProducerBatch(queue, batch, None, len(batch.buffer), 0.0, float("inf")))
    queue.added = True
    assert queue.begin().batch.header.producer == (*NEXT, 0)


def test_version_2_adds_its_partition_and_tells_where_that_is_not_possible() -> None:
    one, two = (TransactionalQueue(PLACE, "id", FIRST, 5, version) for version in TransactionVersion)
    assert (one.adds_partitions, two.adds_partitions) == (False, True)
    assert not one.not_retried
    assert list(two.not_retried) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
