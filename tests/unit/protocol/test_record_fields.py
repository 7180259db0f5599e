"""Records as Python objects: what kafka-python wrote is what is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_fields import fields
from tests.unit.protocol.batches import NOW, Latin, Row, build, changed, records_of, rows

LOG_APPEND_TIME = 8


@given(written=rows(holes=True), codec=st.sampled_from(Codec), skipped=st.integers(0, 20), most=st.integers(1, 5))
def test_all_records_from_an_offset_on_are_read(written: list[Row], codec: Codec, skipped: int, most: int) -> None:
    batch = build(written, base_offset=1_000, codec=codec)
    parts = list(fields(batch.header, records_of(batch), from_offset=1_000 + skipped, most=most, most_bytes=1 << 20))
    assert all(1 <= len(part.offsets) <= most for part in parts)
    read = [row for part in parts for row in zip(*part[:-1], strict=True)]
    assert read == [
        (1_000 + offset, time, key, value, tuple((name.encode(), content) for name, content in headers))
        for offset, time, key, value, headers in written
        if offset >= skipped
    ]


def test_few_bytes_make_small_parts_of_one_record_at_least() -> None:
    batch = build([Row(number, NOW, b"k", bytes(500)) for number in range(5)])
    size = len(batch.payload) // 5
    parts = fields(batch.header, records_of(batch), from_offset=0, most=100, most_bytes=1_000)
    found = [(list(part.offsets), part.size) for part in parts]
    assert found == [([0, 1], 2 * size), ([2, 3], 2 * size), ([4], size)]


def test_the_time_is_the_brokers_where_it_has_set_it() -> None:
    batch = changed(build([Row(0, NOW, None, b"v"), Row(1, NOW + 1, None, b"v")]), attributes=LOG_APPEND_TIME)
    batch = changed(batch, max_timestamp=NOW + 7)
    (part,) = fields(batch.header, records_of(batch), from_offset=0, most=10, most_bytes=1_000)
    assert part.timestamps == [NOW + 7, NOW + 7]


def test_a_name_that_is_no_text_is_what_it_is() -> None:
    batch = build([Row(0, NOW, None, b"v"), Row(1, NOW, None, None, [(Latin("größe"), b"x")])])
    (part,) = fields(batch.header, records_of(batch), from_offset=0, most=10, most_bytes=1_000)
    assert part.headers == [(), (("größe".encode("latin-1"), b"x"),)]


def test_of_a_torn_batch_no_record_is_read() -> None:
    batch = build([Row(number, NOW, b"k", b"v") for number in range(5)])
    with pytest.raises(CorruptRecords, match="a record is torn"):
        next(fields(batch.header, records_of(batch)[:-3], from_offset=0, most=2, most_bytes=1_000))
