"""The records between two reports: a portion for each partition, with exact ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.reports import Portion
from legacy_mm.dataplane.tally import Tally


def test_portions_of_a_partition_become_one() -> None:
    tally = Tally()
    for portion in (Portion("t", 0, 5, 10, 2, 5), Portion("u", 0, 1, 2, 1, 0), Portion("t", 0, 10, 11, 1, 2)):
        tally.add(portion)
    assert tally.take() == [Portion("t", 0, 5, 11, 3, 7), Portion("u", 0, 1, 2, 1, 0)]
    assert tally.take() == []


def test_the_next_portion_begins_where_the_next_record_is() -> None:
    """Compacted and aborted records leave holes: a portion does not begin where the last one ended."""
    tally = Tally()
    tally.add(Portion("t", 0, 5, 6, 1, 1))
    tally.take()
    tally.add(Portion("t", 0, 8, 9, 1, 1))
    assert tally.take() == [Portion("t", 0, 8, 9, 1, 1)]


@given(st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9)), max_size=6), max_size=6))
def test_no_record_is_lost_or_counted_twice(batches: list[list[tuple[int, int]]]) -> None:
    tally, offsets, size = Tally(), [0, 0, 0], 0
    for batch in batches:
        for number, records in batch:
            tally.add(Portion("t", number, offsets[number], offsets[number] + records, records, 3 * records))
            offsets[number] += records
            size += 3 * records
    portions = tally.take()
    assert {each.partition: (each.begin, each.end, each.records) for each in portions} == {
        number: (0, end, end) for number, end in enumerate(offsets) if end
    }
    assert sum(each.bytes for each in portions) == size
