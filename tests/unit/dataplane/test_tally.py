"""What was sent between two barriers: a portion for each partition, with exact ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.control_channel.frames import Portion
from legacy_mm.dataplane.tally import Tally
from legacy_mm.handlers.api import CREATE_TIME
from legacy_mm.model import NO_RECORDS, Columns

Row = tuple[str, int, int, bytes | None, bytes | None]


def columns(*rows: Row) -> Columns:
    return Columns.from_rows([(*row[:3], CREATE_TIME, 0, *row[3:], ()) for row in rows])


def test_portions_have_one_past_the_last_record_and_bytes_of_keys_and_values() -> None:
    tally = Tally()
    tally.sent(columns(("t", 0, 5, b"k", b"val"), ("u", 0, 1, None, None), ("t", 0, 9, b"", b"x")))
    tally.sent(columns(("t", 0, 10, None, b"yz")))
    assert tally.take() == [Portion("t", 0, 5, 11, 3, 7), Portion("u", 0, 1, 2, 1, 0)]
    assert tally.take() == []


def test_nothing_sent_is_no_portion() -> None:
    tally = Tally()
    tally.sent(NO_RECORDS)
    assert tally.take() == []


def test_the_next_barrier_begins_where_the_next_record_is() -> None:
    """Compacted and aborted records leave holes: a portion does not begin where the last one ended."""
    tally = Tally()
    tally.sent(columns(("t", 0, 5, None, b"a")))
    tally.take()
    tally.sent(columns(("t", 0, 8, None, b"b")))
    assert tally.take() == [Portion("t", 0, 8, 9, 1, 1)]


@given(st.lists(st.lists(st.tuples(st.integers(0, 2), st.binary(max_size=3)), max_size=6), max_size=6))
def test_no_record_is_lost_or_counted_twice(batches: list[list[tuple[int, bytes]]]) -> None:
    tally, offsets, size = Tally(), [0, 0, 0], 0
    for batch in batches:
        rows: list[Row] = []
        for number, value in batch:
            rows.append(("t", number, offsets[number], None, value))
            offsets[number] += 1
            size += len(value)
        tally.sent(columns(*rows))
    portions = tally.take()
    assert {each.partition: (each.begin, each.end, each.records) for each in portions} == {
        number: (0, end, end) for number, end in enumerate(offsets) if end
    }
    assert sum(each.bytes for each in portions) == size
