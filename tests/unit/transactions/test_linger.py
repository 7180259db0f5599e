"""A little of a transaction waits for more, but not for ever."""

from __future__ import annotations

import pytest

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.transactions import linger
from legacy_mm.transactions.linger import Linger
from legacy_mm.transactions.transactional_queue import TransactionalQueue
from legacy_mm.transactions.txn_requests import ProducerIdAndEpoch
from tests.unit.clients.appending import NOW, make
from tests.unit.protocol.batches import Row, build

LITTLE, MUCH = b"v", b"v" * linger._LITTLE
PRODUCER = ProducerIdAndEpoch(7, 0)


class Lingering:
    """One owner's batches for two partitions. Its appender releases queues, but sends nothing."""

    def __init__(self, appender: BatchAppender) -> None:
        self.released: list[tuple[int, ...]] = []
        appender.release = lambda *queues: self.released.append(tuple(each.partition.partition for each in queues))  # type: ignore[method-assign]
        self.linger = Linger(appender)
        self.queues = [TransactionalQueue(TopicPartition("t", number), "id", PRODUCER, 5) for number in range(2)]
        for queue in self.queues:
            queue.added = True

    def append(self, number: int, value: bytes) -> memoryview:
        """Append a batch; return its bytes."""
        batch = build([Row(0, NOW, b"k", value)])
        self.linger.append(self.queues[number], batch, value)
        return batch.buffer

    def may_send(self) -> list[bool]:
        return [queue.can_send() for queue in self.queues]


@pytest.fixture
def lingering() -> Lingering:
    return Lingering(make(queue_buffering_max_kbytes=str(4 * len(MUCH) >> 10)))


def test_a_little_waits_until_it_is_flushed_and_all_is_released_at_once(lingering: Lingering) -> None:
    lingering.append(0, LITTLE)
    lingering.append(1, LITTLE)
    assert (lingering.may_send(), lingering.released) == ([False, False], [])
    lingering.linger.flush()
    assert (lingering.may_send(), lingering.released) == ([True, True], [(0, 1)])
    lingering.linger.flush()
    assert lingering.released == [(0, 1)], "nothing lingers any more"


def test_much_of_all_partitions_together_waits_for_nothing(lingering: Lingering) -> None:
    lingering.append(0, MUCH[: len(MUCH) // 2])
    lingering.append(1, MUCH[: len(MUCH) // 2])
    assert lingering.may_send() == [True, True]
    lingering.append(1, MUCH)
    assert lingering.released == [(0, 1), (1,)]


def test_no_more_waits_than_a_partition_may_have_under_way(lingering: Lingering) -> None:
    for _ in range(4):
        lingering.append(0, LITTLE)
        lingering.append(1, LITTLE)
    assert lingering.may_send() == [False, False]
    lingering.append(0, LITTLE)
    assert lingering.may_send() == [True, True]


def test_what_waits_keeps_no_answer_of_the_source_in_memory(lingering: Lingering) -> None:
    little, much = lingering.append(0, LITTLE), lingering.append(1, MUCH)
    (first,), (second,) = (queue.pending for queue in lingering.queues)
    assert first.batch.buffer == little
    assert first.batch.buffer.obj is not little.obj
    assert second.batch.buffer.obj is much.obj, "a copy of much would be dear"


def test_a_little_waits_a_second_in_a_longer_transaction(lingering: Lingering) -> None:
    before = monotonic()
    lingering.append(0, LITTLE)
    lingering.linger.poll(before + linger._LONGEST)
    assert not lingering.may_send()[0], "it was appended later than before"
    lingering.linger.poll(monotonic() + linger._LONGEST)
    assert lingering.may_send()[0]


def test_a_little_does_not_wait_where_it_takes_the_last_room(lingering: Lingering) -> None:
    lingering.append(0, LITTLE)
    lingering.linger.poll(monotonic())
    assert not lingering.may_send()[0]
    for _ in range(4):
        lingering.linger._appender.append(TopicPartition("other", 0), build([Row(0, NOW, b"k", MUCH)]), None)
    lingering.linger.poll(monotonic())
    assert lingering.may_send()[0]


def test_what_is_given_up_is_not_released(lingering: Lingering) -> None:
    lingering.append(0, LITTLE)
    lingering.linger.forget()
    lingering.linger.flush()
    assert lingering.released == []
