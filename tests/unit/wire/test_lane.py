"""The order of a lane against a broker that checks sequence numbers as Kafka does, on a network that fails at will."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.model import TopicPartition
from legacy_mm.wire.errors import ProducerForgotten
from legacy_mm.wire.lane import Entry, Lane
from tests.unit.protocol.batches import NOW, Row, build

OK, DUPLICATE, OUT_OF_ORDER, UNKNOWN_PRODUCER, LATER, REFUSED = 0, 46, 45, 59, 6, 10
PLACE = TopicPartition("t", 0)
PRODUCER = (7, 0)


def make_entry(lane: Lane, number: int, records: int = 3, since: float = 0.0) -> Entry:
    batch = build([Row(index, NOW, b"k", b"%d" % number) for index in range(records)])
    return Entry(lane, batch, number, len(batch.buffer), since, float("inf"))


@dataclass
class Broker:
    """Takes a batch when its sequence follows the last one; knows the last five; nothing of a new producer."""

    log: list[int] = field(default_factory=list)
    known: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=5))
    next_sequence: int | None = None

    def append(self, entry: Entry) -> int:
        header = entry.batch.header
        if (header.base_sequence, header.records) in self.known:
            return DUPLICATE
        if self.next_sequence not in (None, header.base_sequence):
            return OUT_OF_ORDER
        self.log.append(entry.receipt)
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

    def append(self, entry: Entry) -> int:
        header = entry.batch.header
        if header.producer_id != self.producer:
            if header.base_sequence:
                return UNKNOWN_PRODUCER
            self._forget(header.producer_id)
        return super().append(entry)


def settle(lane: Lane, entry: Entry, answer: int) -> None:
    if answer in (OK, DUPLICATE):
        lane.acknowledged(entry)
    else:
        follows = lane.recovering and answer == OUT_OF_ORDER
        entry.refusal = 0 if answer == LATER or follows else answer
        lane.failed(entry, denied=answer != LATER)
    lane.recovered()


def test_a_failed_batch_before_an_acknowledged_one_is_acknowledged_with_it() -> None:
    """Its answer was that it is in the log, but not yet in enough replicas; the next batch then was."""
    lane, broker = Lane(PLACE, PRODUCER, 5), Broker()
    lane.pending.extend(make_entry(lane, number, 1) for number in range(4))
    first = lane.begin()
    assert broker.append(first) == OK
    assert lane.acknowledged(first) == [first]
    second, third = lane.begin(), lane.begin()
    assert [broker.append(each) for each in (second, third)] == [OK, OK]
    lane.failed(second, denied=False)
    assert lane.acknowledged(third) == [second, third]
    assert lane.recovered()
    assert broker.append(lane.begin()) == OK
    assert broker.log == [0, 1, 2, 3]


def test_a_batch_that_was_certainly_not_taken_is_not_acknowledged_with_a_later_one() -> None:
    """The broker has forgotten the producer, and takes any sequence number."""
    lane, broker = Lane(PLACE, PRODUCER, 5), Broker()
    lane.pending.extend(make_entry(lane, number, 1) for number in range(3))
    lane.acknowledged(lane.begin())
    refused, later = lane.begin(), lane.begin()
    lane.failed(refused, denied=True)
    assert broker.append(later) == OK
    with pytest.raises(ProducerForgotten):
        lane.acknowledged(later)
    assert refused in lane.under_way


def test_only_one_is_under_way_after_a_failure_until_the_next_is_acknowledged() -> None:
    lane = Lane(PLACE, PRODUCER, 5)
    lane.pending.extend(make_entry(lane, number, 1) for number in range(4))
    lane.acknowledged(lane.begin())
    lane.failed(lane.begin(), denied=True)
    assert lane.recovered()
    again = lane.begin()
    assert not lane.can_send()
    lane.acknowledged(again)
    assert lane.can_send()


@pytest.mark.parametrize(("rest", "alone"), [(599.0, False), (601.0, True)])
def test_only_one_is_under_way_after_a_long_rest(rest: float, alone: bool) -> None:
    lane = Lane(PLACE, PRODUCER, 5)
    lane.pending.append(make_entry(lane, 0))
    lane.acknowledged(lane.begin())
    lane.pending.extend(make_entry(lane, number, since=rest) for number in (1, 2))
    lane.begin()
    assert lane.can_send() is not alone


def test_an_answer_that_a_later_one_has_overtaken_counts_once() -> None:
    """The partition has a new leader, which has answered before the old one's answer was here."""
    lane = Lane(PLACE, PRODUCER, 5)
    lane.pending.extend(make_entry(lane, number, 1) for number in range(4))
    lane.acknowledged(lane.begin())
    second, third, fourth = lane.begin(), lane.begin(), lane.begin()
    assert lane.acknowledged(third) == [second, third]
    assert lane.acknowledged(second) == []
    assert list(lane.under_way) == [fourth]
    assert lane.unanswered == 1


@given(st.lists(st.sampled_from(["send", "answer", "lose request", "lose answer", "busy"]), max_size=80), st.data())
def test_each_batch_is_in_the_log_once_and_in_order_whatever_the_network_does(
    steps: list[str], data: st.DataObject
) -> None:
    """Invariant C."""
    lane, broker = Lane(PLACE, PRODUCER, 5), Broker()
    count = data.draw(st.integers(1, 12))
    lane.pending.extend(make_entry(lane, number, 1 + number % 4) for number in range(count))
    wire: deque[Entry] = deque()
    for step in [*steps, *["send", "answer"] * (count + len(steps) + 5) * 2]:
        if step == "send":
            if lane.can_send():
                wire.append(lane.begin())
        elif not wire:
            continue
        elif step == "lose request" or step == "busy":
            settle(lane, wire.popleft(), LATER)
        else:
            entry = wire.popleft()
            answer = broker.append(entry)
            settle(lane, entry, LATER if step == "lose answer" else answer)
    assert broker.log == list(range(count))
    assert not lane.pending
    assert not lane.under_way


@given(st.lists(st.sampled_from(["send", "answer", "lose answer", "busy", "retention"]), max_size=80), st.data())
def test_nothing_is_doubled_or_overtaken_when_the_broker_forgets_the_producer(
    steps: list[str], data: st.DataObject
) -> None:
    """Where one that may have arrived is among what failed the lane does not go on, and the job ends."""
    lane, broker = Lane(PLACE, PRODUCER, 5), ForgetfulBroker()
    count = data.draw(st.integers(1, 12))
    lane.pending.extend(make_entry(lane, number, 1 + number % 4) for number in range(count))
    wire: deque[Entry] = deque()
    ids = iter(range(8, 1000))
    lost = ended = False
    for step in [*steps, *["send", "answer"] * (count + len(steps) + 5) * 2]:
        if step == "retention":
            broker.retention()
        elif step == "send":
            if lane.can_send():
                wire.append(lane.begin())
        elif wire:
            entry = wire.popleft()
            answer = LATER if step == "busy" else broker.append(entry)
            lost = lost or step in ("busy", "lose answer")
            try:
                settle(lane, entry, LATER if step == "lose answer" else answer)
            except ProducerForgotten:
                ended = True
            if lane.held is not None:
                ended = not lane.may_start_anew()
                if not ended:
                    lane.start_anew((next(ids), 0))
            if ended:
                break
    assert broker.log == sorted(set(broker.log))
    arrived = broker.removed | frozenset(broker.log)
    assert arrived == frozenset(range(len(arrived) if ended else count))
    assert lost or not ended, "what was refused for certain is sent under another producer id"


def test_only_one_is_under_way_until_the_producer_id_is_known_to_the_broker() -> None:
    lane = Lane(PLACE, PRODUCER, 5)
    lane.pending.extend(make_entry(lane, number) for number in range(8))
    first = lane.begin()
    assert not lane.can_send()
    lane.acknowledged(first)
    for _ in range(5):
        assert lane.can_send()
        lane.begin()
    assert not lane.can_send()


def test_sequence_numbers_follow_each_other() -> None:
    lane = Lane(PLACE, PRODUCER, 5)
    lane.pending.extend(make_entry(lane, number, number + 1) for number in range(4))
    sequences = []
    while lane.pending:
        entry = lane.begin()
        sequences.append(entry.batch.header.base_sequence)
        lane.acknowledged(entry)
    assert sequences == [0, 1, 3, 6]


def test_sequence_numbers_begin_again_after_the_highest() -> None:
    lane = Lane(PLACE, PRODUCER, 5)
    lane.pending.extend(make_entry(lane, number, 2) for number in range(2))
    lane._sequence = (1 << 31) - 1
    first, second = lane.begin(), lane.begin()
    assert (first.batch.header.base_sequence, second.batch.header.base_sequence) == ((1 << 31) - 1, 1)


def test_a_refused_batch_holds_the_lane_until_it_is_replaced_and_the_rest_follows() -> None:
    lane, broker = Lane(PLACE, PRODUCER, 5), Broker()
    lane.pending.extend(make_entry(lane, number) for number in range(3))
    settle(lane, entry := lane.begin(), broker.append(entry))
    second, third = lane.begin(), lane.begin()
    settle(lane, second, REFUSED)
    settle(lane, third, broker.append(third))
    assert lane.held is second
    assert not lane.can_send()
    lane.replace_held([make_entry(lane, 10, 1), make_entry(lane, 11, 2)])
    while lane.can_send():
        settle(lane, entry := lane.begin(), broker.append(entry))
    assert broker.log == [0, 10, 11, 2]


@pytest.mark.parametrize("producer", [None, (8, 0)])
def test_a_dropped_batch_leaves_no_hole_in_the_sequence(producer: tuple[int, int] | None) -> None:
    lane, broker = Lane(PLACE, PRODUCER, 5), Broker()
    lane.pending.extend(make_entry(lane, number) for number in range(2))
    settle(lane, lane.begin(), REFUSED)
    lane.drop_held(producer)
    entry = lane.begin()
    assert broker.append(entry) == OK
    assert (entry.batch.header.producer_id, entry.batch.header.base_sequence) == ((producer or PRODUCER)[0], 0)


def test_without_idempotence_one_goes_at_a_time_and_has_no_producer() -> None:
    lane = Lane(PLACE, None, 1)
    lane.pending.extend(make_entry(lane, number) for number in range(2))
    entry = lane.begin()
    assert entry.batch.header.producer_id == -1
    assert not lane.can_send()
    settle(lane, entry, LATER)
    assert lane.begin() is entry
