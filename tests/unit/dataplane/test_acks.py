"""Safe offsets: only past acknowledged data records, only forward (invariants A and B)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.dataplane.acks import SafeOffsets
from legacy_mm.model import TopicPartition

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def test_nothing_is_safe_before_the_barrier() -> None:
    """Invariant A."""
    safe = SafeOffsets()
    safe.sent({A: 5})
    assert safe.take_moved() == {}
    assert safe.unacknowledged() == {A: 5}
    safe.barrier()
    assert safe.take_moved() == {A: 5}
    assert safe.unacknowledged() == {}


def test_moves_are_reported_once() -> None:
    safe = SafeOffsets()
    safe.sent({A: 5, B: 1})
    safe.barrier()
    safe.sent({B: 2})
    safe.barrier()
    assert safe.take_moved() == {A: 5, B: 2}
    assert safe.take_moved() == {}


def test_invariant_b_a_safe_offset_never_goes_back() -> None:
    safe = SafeOffsets()
    safe.sent({A: 5})
    safe.barrier()
    safe.sent({A: 4})
    with pytest.raises(AssertionError, match="invariant B"):
        safe.barrier()


def test_after_a_gap_a_lower_offset_is_a_new_beginning() -> None:
    safe = SafeOffsets()
    safe.sent({A: 500})
    safe.barrier()
    safe.restart(A)
    safe.sent({A: 3})
    safe.barrier()
    assert safe.take_moved() == {A: 3}


@given(st.lists(st.one_of(st.none(), st.tuples(st.sampled_from([A, B]), st.integers(1, 5))), max_size=60))
def test_invariant_a_what_is_reported_was_sent_before_a_barrier(steps: list[tuple[TopicPartition, int] | None]) -> None:
    """None is a barrier, anything else a record sent some offsets further on (holes of any size)."""
    safe = SafeOffsets()
    sent: dict[TopicPartition, int] = {}
    proven: dict[TopicPartition, int] = {}
    for step in steps:
        if step is None:
            safe.barrier()
            proven = dict(sent)
        else:
            partition, distance = step
            sent[partition] = sent.get(partition, 0) + distance
            safe.sent({partition: sent[partition]})
        for partition, offset in safe.take_moved().items():
            assert offset == proven[partition]
