"""Safe offsets: only past acknowledged data records, only forward (invariants A and B)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.dataplane.acks import SafeOffsets, sent_offsets
from legacy_mm.model import TopicPartition

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


@dataclass(frozen=True)
class Rec:
    """Stands for librdkafka's message: three of its questions."""

    p: int
    o: int

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return self.p

    def offset(self) -> int:
        return self.o


def test_moves_are_reported_once() -> None:
    safe = SafeOffsets()
    safe.barrier({A: 5, B: 1})
    safe.barrier({A: 5, B: 2})
    assert safe.take_moved() == {A: 5, B: 2}
    assert safe.take_moved() == {}


def test_invariant_b_a_safe_offset_never_goes_back() -> None:
    safe = SafeOffsets()
    safe.barrier({A: 5})
    with pytest.raises(AssertionError, match="invariant B"):
        safe.barrier({A: 4})


def test_after_a_gap_a_lower_offset_is_a_new_beginning() -> None:
    safe = SafeOffsets()
    safe.barrier({A: 500})
    safe.restart(A)
    safe.barrier({A: 3})
    assert safe.take_moved() == {A: 3}


def test_with_nothing_unsent_the_reader_s_positions_count() -> None:
    assert sent_offsets({A: 9}, [], [Rec(0, 3)]) == {A: 9}


def test_a_partition_with_nothing_sent_in_this_batch_is_left_to_an_earlier_barrier() -> None:
    assert sent_offsets({A: 9, B: 4}, [Rec(0, 8)], [Rec(1, 3)]) == {B: 4}


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.data())
def test_invariant_a_nothing_unsent_is_ever_below_a_safe_offset(partitions: list[int], data: st.DataObject) -> None:
    """Holes of any size between records; cut anywhere."""
    last: dict[int, int] = {}
    batch = []
    for partition in partitions:
        last[partition] = last.get(partition, 0) + data.draw(st.integers(1, 5))
        batch.append(Rec(partition, last[partition]))
    cut = data.draw(st.integers(0, len(batch)))
    positions = {TopicPartition("t", p): offset + 1 for p, offset in last.items()}
    offsets = sent_offsets(positions, batch[cut:], batch[:cut])
    for record in batch[cut:]:
        assert offsets.get(TopicPartition("t", record.p), -1) <= record.o
    for record in batch[:cut]:
        assert offsets[TopicPartition("t", record.p)] > record.o
    data_ends = {record.o + 1 for record in batch}
    assert set(offsets.values()) <= data_ends
