"""The order of a queue against a broker that checks sequence numbers as Kafka does, on a network that fails at will."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net.connection_errors import ProducerForgotten
from legacy_mm.clients.produce.partition_queue import REMEMBERED_TIME, PartitionQueue, ProducerBatch, newest_time
from tests.unit.protocol.batches import NOW, Row, build

OK, DUPLICATE, OUT_OF_ORDER, UNKNOWN_PRODUCER, LATER, REFUSED = 0, 46, 45, 59, 6, 10
BUSY = 3
"""Certainly not taken, and to be sent again."""
PLACE = TopicPartition("t", 0)
PRODUCER = (7, 0)
START = 1_000_000.0
OLD = START - 2 * REMEMBERED_TIME


STEPS = ("send", "answer", "lose request", "lose answer", "busy", "forget", "restart", "ask")


def make_queue(producer: tuple[int, int] | None = PRODUCER, in_flight: int = 5) -> PartitionQueue:
    """One whose clock stands still at START."""
    return PartitionQueue(PLACE, producer, in_flight, lambda: START)


def make_entry(queue: PartitionQueue, number: int, records: int = 3, *, dated: float = START) -> ProducerBatch:
    batch = build([Row(index, NOW, b"k", b"%d" % number) for index in range(records)])
    return ProducerBatch(queue, batch, number, len(batch.buffer), START, float("inf"), dated=dated)


@dataclass
class Broker:
    """Takes a batch when its sequence follows the last one; knows the last five; nothing of a new producer."""

    log: list[int] = field(default_factory=list)
    known: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=5))
    next_sequence: int | None = None

    def append(self, entry: ProducerBatch) -> int:
        header = entry.batch.header
        if (header.base_sequence, header.records) in self.known:
            return DUPLICATE
        if self.next_sequence not in (None, header.base_sequence):
            return OUT_OF_ORDER
        self.log.append(entry.opaque)
        self.known.append((header.base_sequence, header.records))
        self.next_sequence = header.base_sequence + header.records
        return OK


class ForgetfulBroker(Broker):
    """As before 2.4: once retention has removed what a producer wrote, it wants its numbers to begin with 0."""

    producer = -1
    removed: frozenset[int] = frozenset()

    def retention(self) -> None:
        self.removed |= frozenset(self.log)
        self.log.clear()
        self._forget(-1)

    def _forget(self, producer: int) -> None:
        self.producer, self.next_sequence = producer, None
        self.known.clear()

    def append(self, entry: ProducerBatch) -> int:
        header = entry.batch.header
        if header.producer_id != self.producer:
            if header.base_sequence:
                return UNKNOWN_PRODUCER
            self._forget(header.producer_id)
        return super().append(entry)


class DatingBroker(Broker):
    """Forgets a producer whose last batch has old records, whenever it looks, restarts or hands the lead over."""

    def __init__(self) -> None:
        super().__init__()
        self.dated = START
        self.places: dict[tuple[int, int], int] = {}
        self.end = 0

    def forget(self) -> None:
        if self.dated == OLD:
            self.next_sequence = None
            self.known.clear()

    def restart(self) -> None:
        """Its snapshot has only the last batch of a producer, and none of one that is expired."""
        self.known = deque(list(self.known)[-1:], maxlen=5)
        self.forget()

    def append(self, entry: ProducerBatch) -> int:
        code = super().append(entry)
        if code == OK:
            self.dated = entry.dated
            self.places[(entry.batch.header.base_sequence, entry.batch.header.records)] = self.end
            self.end += entry.batch.header.records
        return code

    def place(self, entry: ProducerBatch) -> int:
        header = entry.batch.header
        return self.places.get((header.base_sequence, header.records), -1)


def settle(queue: PartitionQueue, entry: ProducerBatch, answer: int, base_offset: int = -1) -> None:
    if answer in (OK, DUPLICATE):
        queue.acknowledged(entry, base_offset)
    else:
        follows = answer == OUT_OF_ORDER and (queue.recovering or queue.disputes(entry))
        entry.refusal = 0 if answer in (LATER, BUSY) or follows else answer
        queue.failed(entry, denied=answer != LATER)
    queue.recovered()


def test_a_failed_batch_before_an_acknowledged_one_is_acknowledged_with_it() -> None:
    """Its answer was that it is in the log, but not yet in enough replicas; the next batch then was."""
    queue, broker = make_queue(), Broker()
    queue.pending.extend(make_entry(queue, number, 1) for number in range(4))
    first = queue.begin()
    assert broker.append(first) == OK
    assert queue.acknowledged(first) == [first]
    second, third = queue.begin(), queue.begin()
    assert [broker.append(each) for each in (second, third)] == [OK, OK]
    queue.failed(second, denied=False)
    assert queue.acknowledged(third) == [second, third]
    assert queue.recovered()
    assert broker.append(queue.begin()) == OK
    assert broker.log == [0, 1, 2, 3]


def test_a_batch_that_was_certainly_not_taken_is_not_acknowledged_with_a_later_one() -> None:
    """The broker has forgotten the producer, and takes any sequence number."""
    queue, broker = make_queue(), Broker()
    queue.pending.extend(make_entry(queue, number, 1) for number in range(3))
    queue.acknowledged(queue.begin())
    refused, later = queue.begin(), queue.begin()
    queue.failed(refused, denied=True)
    assert broker.append(later) == OK
    with pytest.raises(ProducerForgotten):
        queue.acknowledged(later)
    assert refused in queue.under_way


def test_only_one_is_under_way_after_a_failure_until_the_next_is_acknowledged() -> None:
    queue = make_queue()
    queue.pending.extend(make_entry(queue, number, 1) for number in range(4))
    queue.acknowledged(queue.begin())
    queue.failed(queue.begin(), denied=True)
    assert queue.recovered()
    again = queue.begin()
    assert not queue.can_send()
    queue.acknowledged(again)
    assert queue.can_send()


@pytest.mark.parametrize(("rest", "alone"), [(-1.0, False), (1.0, True)])
def test_only_one_is_under_way_after_a_long_rest(rest: float, alone: bool) -> None:
    now = START
    queue = PartitionQueue(PLACE, PRODUCER, 5, lambda: now)
    queue.pending.append(make_entry(queue, 0))
    queue.acknowledged(queue.begin())
    now += REMEMBERED_TIME + rest
    queue.pending.extend(make_entry(queue, number, dated=now) for number in (1, 2))
    queue.begin()
    assert queue.can_send() is not alone


@pytest.mark.parametrize(
    ("ages", "together"),
    [("yyy", 2), ("yyo", 2), ("yoy", 1), ("oyy", 1), ("ooo", 1)],
    ids=["young", "the third is old", "the second is old", "the first is old", "old"],
)
def test_nothing_follows_an_old_one_before_its_answer(ages: str, together: int) -> None:
    """The first is acknowledged; the broker may forget the producer as soon as it has one that is old."""
    queue = make_queue()
    queue.pending.extend(
        make_entry(queue, number, dated=START if age == "y" else OLD) for number, age in enumerate(ages)
    )
    queue.acknowledged(queue.begin(), 0)
    while queue.can_send():
        queue.begin()
    assert len(queue.under_way) == together


def test_behind_an_old_one_only_one_is_under_way_until_a_young_one_is_acknowledged() -> None:
    queue = make_queue()
    ages = (START, OLD, START, START, START)
    queue.pending.extend(make_entry(queue, number, dated=age) for number, age in enumerate(ages))
    queue.acknowledged(queue.begin())
    queue.acknowledged(queue.begin())
    third = queue.begin()
    assert not queue.can_send()
    queue.acknowledged(third)
    queue.begin()
    assert queue.can_send()


def test_the_age_of_a_batch_is_that_of_its_youngest_record() -> None:
    header = build([Row(0, NOW, b"k", b"v"), Row(1, NOW - 9_000, b"k", b"v")]).header
    assert newest_time(header, START, NOW + 5_000) == START - 5
    assert newest_time(header._replace(max_timestamp=-1), START, NOW) == float("-inf")


def test_the_log_is_asked_before_an_old_one_goes_and_again_when_it_may_have_arrived() -> None:
    queue = make_queue()
    queue.pending.append(entry := make_entry(queue, 0, dated=OLD))
    assert (question := queue.question()) is not None
    assert question.entry is None
    assert not queue.answered(question, 40, None)
    assert queue.question() is None, "it is asked once"
    queue.begin()
    queue.failed(entry, denied=False)
    assert queue.recovered()
    assert (question := queue.question()) is not None
    assert (question.since, question.entry) == (40, entry)
    assert queue.answered(question, -1, 47)
    assert not queue.pending
    queue.pending.append(make_entry(queue, 1, dated=OLD))
    assert queue.question() is None, "where its own last one ended is known"
    assert queue.begin().sequence == 3


def test_an_answer_about_what_was_given_up_says_nothing_of_what_came_behind_it() -> None:
    queue = make_queue()
    queue.pending.extend(make_entry(queue, number, dated=OLD) for number in range(2))
    queue.acknowledged(queue.begin(), 0)
    queue.failed(queue.begin(), denied=False)
    assert queue.recovered()
    assert (question := queue.question()) is not None
    queue.asking = True
    queue.held = queue.pending.popleft()  # its time is over
    queue.drop_held((8, 0))
    queue.pending.append(make_entry(queue, 2, dated=OLD))
    assert not queue.answered(question, -1, 3)
    assert [entry.opaque for entry in queue.pending] == [2]


def test_a_log_that_does_not_tell_its_end_is_asked_no_more() -> None:
    queue = make_queue()
    queue.pending.append(make_entry(queue, 0, dated=OLD))
    assert (question := queue.question()) is not None
    queue.answered(question, -1, None)
    assert queue.question() is None
    queue.failed(queue.begin(), denied=False)
    assert queue.recovered()
    assert queue.question() is None, "nor whether it holds the batch"


@pytest.mark.parametrize("producer", [None, PRODUCER])
def test_no_log_is_asked_without_need(producer: tuple[int, int] | None) -> None:
    queue = make_queue(producer)
    queue.pending.append(make_entry(queue, 0, dated=START if producer else OLD))
    assert queue.question() is None
    queue.failed(queue.begin(), denied=False)
    assert queue.recovered()
    assert queue.question() is None


def test_an_answer_that_a_later_one_has_overtaken_counts_once() -> None:
    """The partition has a new leader, which has answered before the old one's answer was here."""
    queue = make_queue()
    queue.pending.extend(make_entry(queue, number, 1) for number in range(4))
    queue.acknowledged(queue.begin())
    second, third, fourth = queue.begin(), queue.begin(), queue.begin()
    assert queue.acknowledged(third) == [second, third]
    assert queue.acknowledged(second) == []
    assert list(queue.under_way) == [fourth]
    assert queue.unanswered == 1


@given(st.lists(st.sampled_from(["send", "answer", "lose request", "lose answer", "busy"]), max_size=80), st.data())
def test_each_batch_is_in_the_log_once_and_in_order_whatever_the_network_does(
    steps: list[str], data: st.DataObject
) -> None:
    """Invariant C."""
    queue, broker = make_queue(), Broker()
    count = data.draw(st.integers(1, 12))
    queue.pending.extend(make_entry(queue, number, 1 + number % 4) for number in range(count))
    wire: deque[ProducerBatch] = deque()
    for step in [*steps, *["send", "answer"] * (count + len(steps) + 5) * 2]:
        if step == "send":
            if queue.can_send():
                wire.append(queue.begin())
        elif not wire:
            continue
        elif step == "lose request" or step == "busy":
            settle(queue, wire.popleft(), LATER)
        else:
            entry = wire.popleft()
            answer = broker.append(entry)
            settle(queue, entry, LATER if step == "lose answer" else answer)
    assert broker.log == list(range(count))
    assert not queue.pending
    assert not queue.under_way


@given(st.lists(st.sampled_from(["send", "answer", "lose answer", "busy", "retention"]), max_size=80), st.data())
def test_nothing_is_doubled_or_overtaken_when_the_broker_forgets_the_producer(
    steps: list[str], data: st.DataObject
) -> None:
    """Where one that may have arrived is among what failed the queue does not go on, and the job ends."""
    queue, broker = make_queue(), ForgetfulBroker()
    count = data.draw(st.integers(1, 12))
    queue.pending.extend(make_entry(queue, number, 1 + number % 4) for number in range(count))
    wire: deque[ProducerBatch] = deque()
    ids = iter(range(8, 1000))
    lost = ended = False
    for step in [*steps, *["send", "answer"] * (count + len(steps) + 5) * 2]:
        if step == "retention":
            broker.retention()
        elif step == "send":
            if queue.can_send():
                wire.append(queue.begin())
        elif wire:
            entry = wire.popleft()
            answer = LATER if step == "busy" else broker.append(entry)
            lost = lost or step in ("busy", "lose answer")
            try:
                settle(queue, entry, LATER if step == "lose answer" else answer)
            except ProducerForgotten:
                ended = True
            if queue.held is not None:
                ended = not queue.may_start_anew()
                if not ended:
                    queue.start_anew((next(ids), 0))
            if ended:
                break
    assert broker.log == sorted(set(broker.log))
    arrived = broker.removed | frozenset(broker.log)
    assert arrived == frozenset(range(len(arrived) if ended else count))
    assert lost or not ended, "what was refused for certain is sent under another producer id"


def copy_to_one_that_forgets(steps: list[str], ages: list[float], *, known_ages: bool = True) -> list[int]:
    """Which batches its log has in the end; without `known_ages` the queue takes them all for new."""
    queue, broker = make_queue(), DatingBroker()
    queue.pending.extend(make_entry(queue, number, 1 + number % 4, dated=age) for number, age in enumerate(ages))
    if not known_ages:
        queue._is_remembered = lambda dated: True  # type: ignore[method-assign]
    wire: deque[ProducerBatch] = deque()
    for step in [*steps, *["ask", "send", "answer"] * (len(ages) + len(steps) + 5) * 2]:
        if step == "forget":
            broker.forget()
        elif step == "restart":
            broker.restart()
        elif step == "ask":
            if question := queue.question():
                base_offset = None if question.entry is None else broker.place(question.entry)
                queue.answered(question, broker.end if base_offset is None else -1, base_offset)
        elif step == "send":
            if queue.can_send() and not queue.question():
                wire.append(queue.begin())
        elif wire and step in ("lose request", "busy"):
            settle(queue, wire.popleft(), LATER if step == "lose request" else BUSY)
        elif wire:
            entry = wire.popleft()
            answer = broker.append(entry)
            base_offset = broker.place(entry) if answer == OK else -1
            settle(queue, entry, LATER if step == "lose answer" else answer, base_offset)
    assert not queue.pending
    assert not queue.under_way
    return broker.log


@given(
    st.lists(st.sampled_from(STEPS), max_size=80),
    st.lists(st.sampled_from([OLD, START]), min_size=1, max_size=12),
)
def test_old_records_are_in_the_log_once_and_in_order_though_the_broker_forgets(
    steps: list[str], ages: list[float]
) -> None:
    """Invariant C, for records that are older than what brokers remember."""
    assert copy_to_one_that_forgets(steps, ages) == list(range(len(ages)))


def test_who_does_not_mind_the_age_of_records_doubles_and_overtakes_them() -> None:
    """So it was: the model above has a broker that really forgets."""
    lost = ["send", "lose answer", "forget"]
    assert copy_to_one_that_forgets(lost, [OLD], known_ages=False) == [0, 0]
    taken_alone = ["send", "answer", "send", "send", "forget", "busy"]
    with pytest.raises(ProducerForgotten):
        copy_to_one_that_forgets(taken_alone, [OLD] * 3, known_ages=False)


def test_only_one_is_under_way_until_the_producer_id_is_known_to_the_broker() -> None:
    queue = make_queue()
    queue.pending.extend(make_entry(queue, number) for number in range(8))
    first = queue.begin()
    assert not queue.can_send()
    queue.acknowledged(first)
    for _ in range(5):
        assert queue.can_send()
        queue.begin()
    assert not queue.can_send()


def test_sequence_numbers_follow_each_other() -> None:
    queue = make_queue()
    queue.pending.extend(make_entry(queue, number, number + 1) for number in range(4))
    sequences = []
    while queue.pending:
        entry = queue.begin()
        sequences.append(entry.batch.header.base_sequence)
        queue.acknowledged(entry)
    assert sequences == [0, 1, 3, 6]


def test_sequence_numbers_begin_again_after_the_highest() -> None:
    queue = make_queue()
    queue.pending.extend(make_entry(queue, number, 2) for number in range(2))
    queue._sequence = (1 << 31) - 1
    first, second = queue.begin(), queue.begin()
    assert (first.batch.header.base_sequence, second.batch.header.base_sequence) == ((1 << 31) - 1, 1)


def test_a_refused_batch_holds_the_queue_until_it_is_replaced_and_the_rest_follows() -> None:
    queue, broker = make_queue(), Broker()
    queue.pending.extend(make_entry(queue, number) for number in range(3))
    settle(queue, entry := queue.begin(), broker.append(entry))
    second, third = queue.begin(), queue.begin()
    settle(queue, second, REFUSED)
    settle(queue, third, broker.append(third))
    assert queue.held is second
    assert not queue.can_send()
    queue.replace_held([make_entry(queue, 10, 1), make_entry(queue, 11, 2)])
    while queue.can_send():
        settle(queue, entry := queue.begin(), broker.append(entry))
    assert broker.log == [0, 10, 11, 2]


@pytest.mark.parametrize("producer", [None, (8, 0)])
def test_a_dropped_batch_leaves_no_hole_in_the_sequence(producer: tuple[int, int] | None) -> None:
    queue, broker = make_queue(), Broker()
    queue.pending.extend(make_entry(queue, number) for number in range(2))
    settle(queue, queue.begin(), REFUSED)
    queue.drop_held(producer)
    entry = queue.begin()
    assert broker.append(entry) == OK
    assert (entry.batch.header.producer_id, entry.batch.header.base_sequence) == ((producer or PRODUCER)[0], 0)


def test_without_idempotence_one_goes_at_a_time_and_has_no_producer() -> None:
    queue = make_queue(None, 1)
    queue.pending.extend(make_entry(queue, number) for number in range(2))
    entry = queue.begin()
    assert entry.batch.header.producer_id == -1
    assert not queue.can_send()
    settle(queue, entry, LATER)
    assert queue.begin() is entry
