"""What an owner reads of its queues, what it does with a batch that the target refuses, and whole transactions."""

from __future__ import annotations

import threading
from collections import deque
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_events import (
    Answered,
    BundleEvent,
    CopyAction,
    Owned,
    PositionsRead,
    ReadPositions,
)
from legacy_mm.transactions.bundle_owner import BundleOwner, OwnBatch, TransactionClock
from legacy_mm.transactions.owner_queues import OwnerQueues
from legacy_mm.transactions.position_records import PositionsRecord
from legacy_mm.transactions.transactional_queue import TransactionalQueue
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    EndTxn,
    InitProducerId,
    Positions,
    ProducerIdAndEpoch,
    TransactionVersion,
    TxnRequest,
)
from tests.unit.protocol.batches import NOW, Row, build

SOURCE, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)
TARGET, PLACE = TopicPartition("copy", 3), TopicPartition("positions", 1)
START = ((SOURCE, 5), (OTHER, 0))
INTERVAL = 1.0


class Bench:
    """An owner with its session, and a target that answers when the test says so: its client, its appender, its work.

    Of the batches of records the target loses the first `loses` answers.
    """

    def __init__(self, version: TransactionVersion = TransactionVersion.ONE, loses: int = 0) -> None:
        self.asked: list[TxnRequest] = []
        self.epochs: list[int] = []
        """Of the batches of records that the target has."""
        self.written: list[Positions] = []
        """The positions of each transaction that has moved some."""
        self.lock = threading.RLock()
        self.options = SimpleNamespace(in_flight=5)
        self._version, self._loses, self._epoch = version, loses, -1
        self._queues: list[TransactionalQueue] = []
        self._answers: deque[BundleEvent] = deque()
        contents = SimpleNamespace(claim=lambda: (b"claim", b""), position_records=self.position_records)
        queues, clock = OwnerQueues(cast(Any, self), lambda: None), TransactionClock(INTERVAL, 60.0)
        parts = cast(Any, contents), self.do, queues, cast(Any, self), clock
        self.owner = BundleOwner(Bundle("id", PLACE), *parts)
        self.claim()

    def claim(self) -> None:
        self.owner.handle(Owned())
        self.settle()

    def piece(self, partition: TopicPartition, end: int) -> None:
        """Give the owner a piece that has one batch."""
        self.half(partition, end)
        assert self.owner.end_piece()

    def half(self, partition: TopicPartition, end: int) -> None:
        """Give the owner a piece that has one batch, and does not end."""
        assert self.owner.begin_piece(partition, end, [TARGET])
        self.owner.append(TARGET, build([Row(0, NOW, b"k", b"v")]), None)

    def interval_over(self) -> None:
        self.owner.poll(monotonic() + INTERVAL)
        self.settle()

    def settle(self) -> None:
        """Answer all that is asked, and take all that may be sent."""
        while self._answers or any(queue.can_send() for queue in self._queues):
            if self._answers:
                self.owner.handle(self._answers.popleft())
            for queue in [queue for queue in self._queues if queue.can_send()]:
                self._take(queue)
            self.owner.poll(monotonic())

    def _take(self, queue: TransactionalQueue) -> None:
        entry = queue.begin()
        if isinstance(entry.opaque, OwnBatch):
            queue.acknowledged(entry, 0)
            self.owner.written(entry.opaque.request, 0)
        elif self._loses:
            self._loses -= 1
            queue.failed(entry, denied=False)
            assert queue.recovered()
        else:
            queue.acknowledged(entry, 0)
            self.epochs.append(entry.batch.header.producer_epoch)

    def position_records(self, positions: Positions) -> list[PositionsRecord]:
        self.written.append(positions)
        return [(b"positions", b"")]

    def do(self, action: ReadPositions | CopyAction) -> None:
        if isinstance(action, ReadPositions):
            self._answers.append(PositionsRead(START, ()))

    def ask(self, request: TxnRequest, _: object) -> None:
        self.asked.append(request)
        producer = None
        if isinstance(request, InitProducerId) or (isinstance(request, EndTxn) and request.version.adds_partitions):
            self._epoch += 1
            producer = ProducerIdAndEpoch(40, self._epoch)
        self._answers.append(Answered(request, producer=producer, version=self._version))

    def hangs(self, _: str) -> int:
        return 0

    def append_to(self, queue: TransactionalQueue, batch: RecordBatch, opaque: Any) -> None:
        queue.pending.append(ProducerBatch(queue, batch, opaque, len(batch.buffer), 0.0, inf))

    def follow(self, queue: TransactionalQueue) -> None:
        self._queues.append(queue)

    def abandon(self, queue: TransactionalQueue) -> None:
        self._queues.remove(queue)

    def release(self, *_: object) -> None: ...

    def has_room(self) -> bool:
        return True


@pytest.mark.parametrize("doubtful", [False, True])
def test_a_batch_that_the_target_may_have_is_not_replaced(doubtful: bool) -> None:
    """What is sent in its place has its sequence number, and would be taken for it."""
    bench = Bench()
    bench.piece(SOURCE, 8)
    bench.settle()
    refused = SimpleNamespace(
        refusal=ErrorCode.MESSAGE_TOO_LARGE,
        opaque=object(),
        queue=SimpleNamespace(partition=TARGET),
        doubtful=doubtful,
    )
    assert bench.owner.refused(cast(Any, refused)) is doubtful
    assert bench.owner.epoch == doubtful, "it is given up"


def test_a_position_passes_what_holds_no_records() -> None:
    bench = Bench()
    bench.piece(SOURCE, 10)
    for end in (11, 5):
        bench.owner.passed(SOURCE, end)
    assert bench.owner.next(SOURCE) == 11
    bench.interval_over()
    assert bench.written == [((SOURCE, 11),)]


def test_without_a_transaction_a_position_stays() -> None:
    bench = Bench()
    bench.owner.passed(SOURCE, 11)
    assert bench.owner.next(SOURCE) == 5
    bench.piece(OTHER, 1)
    bench.interval_over()
    assert bench.written == [((OTHER, 1),)]


def test_the_positions_of_a_transaction_are_those_of_its_last_pieces() -> None:
    bench = Bench()
    for end in (8, 9):
        bench.piece(SOURCE, end)
    bench.interval_over()
    assert bench.written == [((SOURCE, 9),)]


def test_so_are_those_of_a_stop() -> None:
    bench = Bench()
    for end in (8, 9):
        bench.piece(SOURCE, end)
    bench.owner.stop()
    bench.settle()
    assert bench.owner.is_over
    assert bench.written == [((SOURCE, 9),)]


@pytest.mark.parametrize("half", [False, True])
def test_a_stop_commits_no_half_of_a_piece(half: bool) -> None:
    bench = Bench()
    bench.half(SOURCE, 8)
    assert half or bench.owner.end_piece()
    bench.owner.stop()
    bench.settle()
    assert bench.owner.is_over
    assert (bench.owner.has_piece, bench.owner.epoch) == (False, half)
    assert bench.written == ([] if half else [((SOURCE, 8),)])


def test_what_is_in_hand_of_a_transaction_that_was_given_up_is_told() -> None:
    """Its batches must not be sent in the next one."""
    bench = Bench()
    bench.half(SOURCE, 8)
    bench.owner.give_up()
    assert not bench.owner.has_piece
    assert not bench.owner.end_piece()


def test_no_transaction_ends_in_the_midst_of_a_piece() -> None:
    bench = Bench()
    bench.half(SOURCE, 8)
    bench.interval_over()
    assert bench.written == []
    assert bench.owner.end_piece()
    bench.interval_over()
    assert bench.written == [((SOURCE, 8),)]


def test_each_transaction_names_its_partitions() -> None:
    bench = Bench()
    for end in (8, 9):
        bench.piece(SOURCE, end)
        bench.interval_over()
    added = [request.partitions for request in bench.asked if isinstance(request, AddPartitionsToTxn)]
    assert added == [{PLACE}, {PLACE, TARGET}, {PLACE, TARGET}]
    assert len(bench.epochs) == 2


def test_the_next_transaction_has_the_epoch_that_the_commit_brought() -> None:
    bench = Bench(TransactionVersion.TWO)
    for end in (8, 9):
        bench.piece(SOURCE, end)
        bench.interval_over()
    assert bench.epochs == [1, 2]


def test_behind_a_batch_that_was_sent_twice_the_epoch_is_another_one() -> None:
    """A copy of it may still be on its way, and would become part of the next transaction."""
    bench = Bench(loses=1)
    for end in (8, 9):
        bench.piece(SOURCE, end)
        bench.interval_over()
    assert bench.owner.doubtful == 1
    assert bench.epochs == [0, 1]


def test_of_a_transaction_that_was_given_up_no_position_moves_with_the_next() -> None:
    bench = Bench()
    for partition, end in ((SOURCE, 8), (OTHER, 1), (SOURCE, 9)):
        bench.piece(partition, end)
    bench.owner.give_up()
    bench.claim()
    bench.piece(OTHER, 2)
    bench.interval_over()
    assert bench.written == [((OTHER, 2),)]
