"""One record out of a batch and into its own, held against kafka-python's classes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.single_record import SingleRecord, batch_of, first_record
from tests.unit.protocol.batches import NOW, Row, build, changed, decode, records_of, rows

LOG_APPEND = 0x08


@given(rows=rows(), codec=st.sampled_from(list(Codec)))
def test_the_first_record_is_read_as_others_read_it(rows: list[Row], codec: Codec) -> None:
    batch = build(rows, codec=codec)
    _, *fields, headers = rows[0]
    assert first_record(batch.header, records_of(batch)) == (*fields, tuple(headers))


@given(rows=rows(), codec=st.sampled_from(list(Codec)))
def test_others_read_what_is_written(rows: list[Row], codec: Codec) -> None:
    record = SingleRecord(rows[0].timestamp, rows[0].key, rows[0].value, tuple(rows[0].headers))
    made = batch_of([record], codec)
    made.check_crc()
    assert made.header.codec is codec
    assert [row[1:] for row in decode(made)] == [record]


def test_a_time_that_the_broker_set_is_kept() -> None:
    batch = changed(build([Row(0, NOW, None, b"v")]), attributes=LOG_APPEND, max_timestamp=NOW + 5)
    assert first_record(batch.header, records_of(batch)).timestamp == NOW + 5


def test_a_torn_record_is_found() -> None:
    batch = build([Row(0, NOW, b"key", b"value")])
    with pytest.raises(CorruptRecords, match="torn"):
        first_record(batch.header, records_of(batch)[:-3])
