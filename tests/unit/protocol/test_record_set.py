"""The walk over what a fetch answers, and read_committed."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.memory_records import MemoryRecordsBuilder

from legacy_mm.errors import CorruptRecords
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.record_set import CommittedOnly, Ending, Tail, read_batches, with_data
from tests.unit.protocol.batches import NOW, Row, build, changed, decompress

ROWS = [Row(number, NOW, b"key", b"value") for number in range(3)]
TRANSACTIONAL, CONTROL = 0x10, 0x20
ABORT, COMMIT, LEADER_CHANGE = 0, 1, 2
THREE = [build(ROWS, base_offset=offset) for offset in (10, 13, 16)]


def joined(*parts: RecordBatch | bytes) -> memoryview:
    return memoryview(b"".join(part.buffer if isinstance(part, RecordBatch) else part for part in parts))


def in_transaction(producer_id: int, offset: int) -> RecordBatch:
    return changed(build(ROWS[:1], base_offset=offset, attributes=TRANSACTIONAL), producer_id=producer_id)


def marker(producer_id: int, offset: int, kind: int, codec: Codec = Codec.NONE) -> RecordBatch:
    row = Row(0, NOW, struct.pack(">hh", 0, kind), bytes(6))
    batch = build([row], base_offset=offset, attributes=TRANSACTIONAL | CONTROL, codec=codec)
    return changed(batch, producer_id=producer_id)


def test_several_batches_in_order() -> None:
    assert list(read_batches(joined(*THREE))) == THREE


def test_nothing() -> None:
    assert list(read_batches(memoryview(b""))) == []


def test_the_last_batch_is_cut_off_anywhere() -> None:
    whole = joined(*THREE[:2])
    first = len(THREE[0].buffer)
    for end in range(first + 1, len(whole)):
        batch, tail = read_batches(whole[:end])
        assert batch == THREE[0]
        assert isinstance(tail, Tail)
        assert (tail.ending, tail.position) == (Ending.CUT_OFF, first)
        assert tail.base_offset == (None if end - first < 12 else 13)


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_an_old_format_are_said_to_be_old(magic: int) -> None:
    builder = MemoryRecordsBuilder(magic, 0, 10_000)
    builder.append(NOW, b"key", b"value")
    builder.close()
    batch, tail = read_batches(joined(THREE[0], bytes(builder.buffer())))
    assert batch == THREE[0]
    assert tail == Tail(Ending.OLD_FORMAT, len(THREE[0].buffer), 0, magic)
    assert "records engine" in tail.ending.value


@pytest.mark.parametrize("length", [-(1 << 31), -1, 0, 13])
def test_a_length_that_cannot_be_raises_after_the_sound_batches(length: int) -> None:
    torn = struct.pack(">qi", 13, length)
    items = read_batches(joined(THREE[0], torn, bytes(100)))
    assert next(items) == THREE[0]
    with pytest.raises(CorruptRecords, match=f"offset 13: a length of {length}"):
        next(items)


@pytest.mark.parametrize(("length", "magic"), [(14, 2), (48, 2), (60, 3), (60, -1), (1 << 30, 3)])
def test_a_header_that_cannot_be(length: int, magic: int) -> None:
    torn = struct.pack(">qiib", 13, length, 0, magic)
    with pytest.raises(CorruptRecords, match="offset 13"):
        list(read_batches(joined(torn, bytes(100))))


def test_a_huge_length_is_a_batch_that_is_cut_off() -> None:
    (tail,) = read_batches(joined(struct.pack(">qiib", 13, (1 << 31) - 1, 0, 2), bytes(100)))
    assert tail == Tail(Ending.CUT_OFF, 0, 13, 2)


@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_walk_that_ends(data: bytes) -> None:
    try:
        items = list(read_batches(joined(THREE[0], data)))
    except CorruptRecords:
        return
    taken = sum(len(item.buffer) for item in items if isinstance(item, RecordBatch))
    tails = [item for item in items if isinstance(item, Tail)]
    assert items[0] == THREE[0]
    assert [tail.position for tail in tails] == ([taken] if taken < len(THREE[0].buffer) + len(data) else [])


def test_aborted_batches_are_dead_until_their_marker() -> None:
    log = [
        in_transaction(1, 0),
        in_transaction(2, 1),
        marker(1, 2, ABORT),
        in_transaction(1, 3),
        marker(2, 4, COMMIT),
        marker(1, 5, COMMIT),
    ]
    committed = CommittedOnly([(1, 0)], decompress)
    assert [committed.admits(batch) for batch in log] == [False, True, True, True, True, True]


def test_a_response_may_begin_amid_a_transaction_and_name_them_in_any_order() -> None:
    log = [in_transaction(1, 50), in_transaction(2, 51), marker(2, 52, ABORT), marker(1, 53, ABORT)]
    for aborted in ([(1, 7), (2, 51)], [(2, 51), (1, 7)]):
        committed = CommittedOnly(aborted, decompress)
        assert [committed.admits(batch) for batch in log] == [False, False, True, True]


def test_a_transaction_that_aborts_later_does_not_kill_an_earlier_one() -> None:
    committed = CommittedOnly([(1, 2)], decompress)
    log = [in_transaction(1, 0), marker(1, 1, COMMIT), in_transaction(1, 2)]
    assert [committed.admits(batch) for batch in log] == [True, True, False]


def test_without_a_transaction_everything_is_admitted() -> None:
    committed = CommittedOnly([(1, 0)], decompress)
    idempotent = changed(build(ROWS), producer_id=1)
    assert committed.admits(build(ROWS))
    assert committed.admits(idempotent)
    assert CommittedOnly(None, decompress).admits(in_transaction(1, 0))


@pytest.mark.parametrize("codec", Codec)
def test_a_marker_may_be_compressed_and_other_control_records_end_nothing(codec: Codec) -> None:
    committed = CommittedOnly([(1, 0)], decompress)
    log = [marker(1, 0, LEADER_CHANGE, codec), in_transaction(1, 1), marker(1, 2, ABORT, codec), in_transaction(1, 3)]
    assert [committed.admits(batch) for batch in log] == [False, False, True, True]


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", struct.pack(">hh", -1, 0)])
def test_a_control_record_without_a_type_is_corrupt(key: bytes | None) -> None:
    batch = changed(build([Row(0, NOW, key, b"")], attributes=TRANSACTIONAL | CONTROL), producer_id=1)
    with pytest.raises(CorruptRecords, match="control record"):
        CommittedOnly([], decompress).admits(batch)


def damaged(**fields: int) -> RecordBatch:
    """A data batch whose header has become another one, with the checksum of before."""
    sound = build(ROWS, base_offset=13)
    return RecordBatch(sound.header._replace(**fields), changed(sound, **fields).buffer)


def test_what_holds_no_data_is_left_out() -> None:
    emptied = changed(THREE[2], records=0)
    assert list(with_data([THREE[0], marker(1, 13, COMMIT), emptied], None, check_crcs=True)) == [THREE[0]]
    dead = [in_transaction(1, 0), in_transaction(2, 1)]
    assert list(with_data(dead, CommittedOnly([(1, 0)], decompress), check_crcs=True)) == dead[1:]


@pytest.mark.parametrize(
    "fields", [{"attributes": CONTROL}, {"records": 0}, {"producer_id": 1, "attributes": TRANSACTIONAL}]
)
def test_a_damaged_batch_that_seems_to_hold_no_data_is_corrupt(fields: dict[str, int]) -> None:
    """It would be passed over, and what it held be lost."""
    batches = [THREE[0], damaged(**fields)]
    found = with_data(batches, CommittedOnly([(1, 13)], decompress), check_crcs=True)
    assert next(found) == THREE[0]
    with pytest.raises(CorruptRecords, match="offset 13: checksum"):
        next(found)
    assert list(with_data(batches, CommittedOnly([(1, 13)], decompress), check_crcs=False)) == [THREE[0]]
