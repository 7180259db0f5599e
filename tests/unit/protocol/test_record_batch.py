"""Header fields, what is refused, stamping anew, checksums."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import HEADER_SIZE, NO_PRODUCER, ProducerStamp, RecordBatch
from tests.unit.protocol.batches import NOW, Row, build, changed, decode

ROWS = [Row(number, NOW + number, b"key", b"value") for number in range(3)]
TRANSACTIONAL, CONTROL, LOG_APPEND, DELETE_HORIZON = 0x10, 0x20, 0x08, 0x40


def copy(batch: RecordBatch) -> bytearray:
    return bytearray(batch.buffer)


@given(
    st.integers(0, 1 << 62),
    st.integers(-1, 1 << 30),
    st.sampled_from(Codec),
    st.integers(0, 15),
    st.integers(-1, 1 << 62),
    st.integers(-1, 32767),
    st.integers(-1, 1 << 30),
)
def test_every_field_is_what_kafka_python_reads(
    offset: int, leader_epoch: int, codec: Codec, bits: int, producer_id: int, epoch: int, sequence: int
) -> None:
    batch = changed(
        build(ROWS, base_offset=offset, codec=codec, attributes=bits << 3),
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
    )
    header, other = RecordBatch.read(batch.buffer).header, DefaultRecordBatch(batch.buffer)
    assert (header.base_offset, header.last_offset, header.next_offset) == (
        other.base_offset, other.last_offset, other.next_offset,
    )  # fmt: skip
    assert (header.leader_epoch, header.magic, header.crc) == (other.leader_epoch, other.magic, other.crc)
    assert header.attributes == other.attributes
    assert header.codec == other.compression_type
    assert header.has_append_time == bool(other.timestamp_type)
    assert header.is_transactional == other.is_transactional
    assert header.is_control == other.is_control_batch
    assert (header.base_timestamp, header.max_timestamp) == (other.first_timestamp, other.max_timestamp)
    assert header.producer == (other.producer_id, other.producer_epoch, other.base_sequence)
    assert header.records == other.records_count
    assert (header.delete_horizon is not None) == bool(bits << 3 & DELETE_HORIZON)
    assert len(batch.buffer) == other.size_in_bytes
    assert other.validate_crc()
    batch.check_crc()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"magic": 1}, "format 1 instead of 2"),
        ({"magic": -1}, "format -1"),
        ({"base_offset": -1}, "negative"),
        ({"attributes": 5}, "no known codec"),
        ({"attributes": 7}, "no known codec"),
        ({"last_offset_delta": -1}, "last offset delta -1"),
        ({"records": 4}, "4 records with a last offset delta of 2"),
        ({"records": -1}, "-1 records"),
        ({"records": (1 << 31) - 1}, "2147483647 records"),
    ],
)
def test_values_that_no_broker_writes(fields: dict[str, int], message: str) -> None:
    with pytest.raises(CorruptRecords, match=message):
        RecordBatch.read(changed(build(ROWS), **fields).buffer)


@pytest.mark.parametrize("length", [-1, 0, 48, 1 << 30])
def test_a_length_that_is_not_the_buffer_s(length: int) -> None:
    buffer = copy(build(ROWS))
    buffer[8:12] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(CorruptRecords, match=f"length of {length} |instead of {length + 12}"):
        RecordBatch.read(memoryview(buffer))


@pytest.mark.parametrize("size", [0, 1, 12, HEADER_SIZE - 1])
def test_less_than_a_header(size: int) -> None:
    with pytest.raises(CorruptRecords, match="a header alone has 61"):
        RecordBatch.read(build(ROWS).buffer[:size])


def test_a_changed_byte_under_the_checksum_is_found_and_one_outside_is_not() -> None:
    whole = copy(build(ROWS))
    for at in range(len(whole)):
        if at in (8, 9, 10, 11, 16):  # length and magic: read otherwise
            continue
        buffer = bytearray(whole)
        buffer[at] ^= 0x40
        try:
            batch = RecordBatch.read(memoryview(buffer))
        except CorruptRecords:
            continue
        if at < 16:
            batch.check_crc()
        else:
            with pytest.raises(CorruptRecords, match="checksum"):
                batch.check_crc()


def test_stamping_without_a_change_under_the_checksum_keeps_it() -> None:
    batch = build(ROWS, base_offset=500)
    stamped = batch.restamp()
    assert stamped.header == batch.header._replace(base_offset=0, leader_epoch=-1)
    assert RecordBatch.read(batch.buffer) == stamped
    stamped.check_crc()


@pytest.mark.parametrize("before", [NO_PRODUCER, ProducerStamp(5, 1, 9)])
@pytest.mark.parametrize("producer", [NO_PRODUCER, ProducerStamp(1 << 40, 7, 99)])
@pytest.mark.parametrize("attributes", [0, TRANSACTIONAL, DELETE_HORIZON, TRANSACTIONAL | DELETE_HORIZON])
@pytest.mark.parametrize("codec", Codec)
def test_stamping_takes_the_source_s_marks_away(
    codec: Codec, attributes: int, producer: ProducerStamp, before: ProducerStamp
) -> None:
    written = build(ROWS, base_offset=500, codec=codec, attributes=attributes)
    batch = changed(written, producer_id=before.producer_id, producer_epoch=before.epoch, base_sequence=before.sequence)
    stamped = batch.restamp(producer)
    assert RecordBatch.read(stamped.buffer) == stamped
    stamped.check_crc()
    assert stamped.header.producer == producer
    assert stamped.header.attributes == codec
    assert not stamped.header.has_append_time
    assert decode(stamped) == ROWS


@pytest.mark.parametrize("attributes", [0, TRANSACTIONAL])
def test_stamping_for_a_transaction_of_the_producer_marks_the_batch(attributes: int) -> None:
    batch = build(ROWS, attributes=attributes, codec=Codec.GZIP)
    stamped = batch.restamp(ProducerStamp(1 << 40, 7, 99), is_transactional=True)
    stamped.check_crc()
    assert stamped.header.is_transactional
    assert stamped.header.codec is Codec.GZIP
    assert decode(stamped) == ROWS


@pytest.mark.parametrize("attributes", [CONTROL, LOG_APPEND])
def test_what_cannot_be_sent_as_it_is_is_not_stamped(attributes: int) -> None:
    with pytest.raises(AssertionError, match="as it is"):
        build(ROWS, attributes=attributes).restamp()


def test_a_batch_with_holes_must_be_re_encoded() -> None:
    assert not build(ROWS).header.must_be_re_encoded
    assert build([ROWS[0], ROWS[2]]).header.must_be_re_encoded
    assert changed(build(ROWS), last_offset_delta=3).header.must_be_re_encoded
