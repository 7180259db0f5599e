"""The walk over what a fetch answers, and read_committed."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.memory_records import MemoryRecordsBuilder

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.fetch_messages import FetchedPartition
from legacy_mm.protocol.kernels import WHY_UNCOMPILED
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.record_set import (
    CommittedOnly,
    DataBatches,
    Ending,
    RecordSet,
    Tail,
    bytes_missing,
    read_batches,
    whole_batches,
)
from tests.unit.protocol.batches import NOW, Row, build, changed, decode, decompress, record_set, rows

ROWS = [Row(number, NOW, b"key", b"value") for number in range(3)]
TRANSACTIONAL, CONTROL = 0x10, 0x20
CRC_AT = 17
header_struct = struct.Struct(">qiibIhiqqqhii")
needs_compiled = pytest.mark.skipif(bool(WHY_UNCOMPILED), reason="uncompiled kernels join no record set")
ABORT, COMMIT, LEADER_CHANGE = 0, 1, 2
MANY = 1 << 20
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
    old = bytes(builder.buffer())
    found = whole_batches(fetched(old + bytes(THREE[0].buffer)))
    assert (found.of_messages, found.batches, found.next_offset, len(found.data)) == (True, 1, 1, len(old))
    (arrived,) = DataBatches(decompress, check_crcs=True).of(found, CommittedOnly((), decompress), 0)
    assert (arrived.codec, [row.value for row in decode(arrived.batch)]) == (Codec.NONE, [b"value"])


def fetched(records: bytes) -> FetchedPartition:
    return FetchedPartition(TopicPartition("t", 0), 0, 90, 90, 0, (), -1, memoryview(records))


def test_what_is_broken_names_the_partition() -> None:
    for broken in (struct.pack(">qiIb", 13, 3, 0, 1), struct.pack(">qiIb", 13, 3, 0, 2)):
        with pytest.raises(CorruptRecords, match="^t-0: "):
            whole_batches(fetched(broken + bytes(50)))


@pytest.mark.parametrize(("size", "missing"), [(0, 0), (5, 12), (12, 32), (31, 32), (32, 0), (40, 0)])
def test_how_much_an_answer_lacks(size: int, missing: int) -> None:
    assert bytes_missing(memoryview(struct.pack(">qi", 7, 20) + bytes(40))[:size]) == missing


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
    header_struct.pack_into(sound.buffer, 0, *sound.header._replace(**fields))
    return RecordBatch.read(sound.buffer)


def test_what_holds_no_data_is_left_out() -> None:
    emptied = changed(THREE[2], records=0)
    assert data([THREE[0], marker(1, 13, COMMIT), emptied]) == [THREE[0]]
    dead = [in_transaction(1, 0), in_transaction(2, 1)]
    assert data(dead, committed=True) == dead[1:]


@pytest.mark.parametrize(
    "fields", [{"attributes": CONTROL}, {"records": 0}, {"producer_id": 1, "attributes": TRANSACTIONAL}]
)
def test_a_damaged_batch_that_seems_to_hold_no_data_is_corrupt(fields: dict[str, int]) -> None:
    """It would be passed over, and what it held be lost."""
    batches = record_set(THREE[0], damaged(**fields))
    committed = CommittedOnly([(1, 13)], decompress)
    found = DataBatches(decompress, check_crcs=True).of(batches, committed, MANY)
    assert next(found).batch == THREE[0]
    with pytest.raises(CorruptRecords, match="offset 13: checksum"):
        next(found)
    committed = CommittedOnly([(1, 13)], decompress)
    unchecked = DataBatches(decompress, check_crcs=False).of(batches, committed, MANY)
    assert [batch for batch, _ in unchecked] == [THREE[0]]


def test_a_record_set_is_what_is_whole_and_sound() -> None:
    whole = joined(*THREE)
    torn = struct.pack(">qii", 19, 3, -1)
    for end in range(len(whole) + 1):
        found = RecordSet.read(whole[:end])
        count = sum(sum(len(batch.buffer) for batch in THREE[: number + 1]) <= end for number in range(3))
        assert list(found) == THREE[:count]
        assert (found.batches, found.next_offset) == (count, THREE[count - 1].header.next_offset if count else -1)
    assert list(RecordSet.read(joined(THREE[0], torn, bytes(100)))) == THREE[:1]


def test_the_next_offset_is_behind_what_compaction_took_of_the_last_batch() -> None:
    holed = changed(THREE[1], last_offset_delta=9)
    assert RecordSet.read(joined(THREE[0], holed)).next_offset == 23


@pytest.mark.parametrize(
    "fields",
    [
        {"magic": 1},
        {"base_offset": -1},
        {"attributes": 5},
        {"last_offset_delta": -1},
        {"records": 4},
        {"records": -1},
        {"length": 48},
        {"length": 1 << 30},
        {"length": -(1 << 31)},
    ],
    ids=str,
)
def test_a_header_that_no_broker_writes_ends_a_record_set(fields: dict[str, int]) -> None:
    """As `RecordBatch.read` has it; `length` is what the bytes are cut by."""
    second = bytearray(THREE[1].buffer)
    header_struct.pack_into(second, 0, *THREE[1].header._replace(**fields))
    assert list(RecordSet.read(joined(THREE[0], bytes(second), THREE[2]))) == THREE[:1]


def seen(batches: Iterable[RecordBatch]) -> list[Row]:
    return [row for batch in batches for row in decode(batch)]


def data(batches: Iterable[RecordBatch], most_bytes: int = MANY, *, committed: bool = False) -> list[RecordBatch]:
    only = CommittedOnly([(1, 0)], decompress) if committed else None
    return [batch for batch, _ in DataBatches(decompress, check_crcs=True).of(record_set(*batches), only, most_bytes)]


KINDS = st.sampled_from([0, 0, 0, 0x08, TRANSACTIONAL, 0x40])
CODECS = st.sampled_from([Codec.NONE, Codec.NONE, Codec.NONE, Codec.LZ4])


@needs_compiled
@given(st.lists(st.tuples(rows(holes=True), KINDS, CODECS, st.integers(0, 3)), min_size=1, max_size=8), st.booleans())
def test_what_is_joined_has_the_same_records(parts: list[tuple[list[Row], int, Codec, int]], committed: bool) -> None:
    """With their offsets, times, keys, values and headers, whatever stands beside them."""
    batches: list[RecordBatch] = []
    begin = 7
    for made, attributes, codec, gap in parts:
        batch = build(made, base_offset=begin + gap, codec=codec, attributes=attributes)
        batches.append(changed(batch, producer_id=2) if attributes == TRANSACTIONAL else batch)
        begin = batches[-1].header.next_offset
    for most_bytes in (MANY, 300):
        found = data(batches, most_bytes, committed=committed)
        assert seen(found) == seen(batches)
        assert found[-1].header.next_offset == batches[-1].header.next_offset
        for batch in found:
            RecordBatch.read(batch.buffer).check_crc()


@needs_compiled
def test_little_batches_come_as_one_however_many_they_are() -> None:
    tiny = [build(ROWS[:1], base_offset=offset) for offset in range(2_000)]
    (found,) = data(tiny)
    assert found.header.records == 2_000
    several = data(tiny, 10_000)
    assert all(len(batch.buffer) <= 10_000 for batch in several)
    assert seen(several) == seen([found]) == seen(tiny)


@needs_compiled
@pytest.mark.parametrize(
    ("second", "committed", "count"),
    [
        (build(ROWS, base_offset=13), False, 1),
        (build(ROWS, base_offset=13, codec=Codec.LZ4), False, 3),
        (build(ROWS, base_offset=13, attributes=0x08), False, 1),
        (changed(build(ROWS, base_offset=13), max_timestamp=-1), False, 3),
        (build(ROWS, base_offset=12), False, 2),
        (build(ROWS, base_offset=5), False, 2),
        (build([Row(0, NOW, None, bytes(500_000))], base_offset=13), False, 3),
        (in_transaction(2, 13), False, 1),
        (in_transaction(2, 13), True, 1),
        (in_transaction(1, 13), True, 1),
        (changed(build(ROWS, base_offset=13), producer_id=2), True, 1),
    ],
    ids=[
        "alike",
        "compressed otherwise",
        "the broker's time",
        "without a time",
        "overlapping",
        "descending",
        "large",
        "in a transaction",
        "in a transaction, read_committed",
        "in a transaction that aborts, read_committed",
        "of an idempotent producer, read_committed",
    ],
)
def test_which_batches_belong_together(second: RecordBatch, committed: bool, count: int) -> None:
    assert len(data([THREE[0], second, THREE[2]], committed=committed)) == count


@needs_compiled
@given(
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["data", "data", "data", "commit", "abort"])), max_size=40)
)
def test_what_is_joined_is_what_was_committed(steps: list[tuple[int, str]]) -> None:
    """However transactions overlap: producers 1 to 3 write in them, and 4 does not."""
    batches, wanted = list[RecordBatch](), list[int]()
    open_: dict[int, list[int]] = {}
    aborted: list[tuple[int, int]] = []
    for offset, (producer, kind) in enumerate(steps):
        if producer == 4:
            batches.append(build(ROWS[:1], base_offset=offset))
            wanted.append(offset)
        elif kind == "data":
            batches.append(in_transaction(producer, offset))
            open_.setdefault(producer, []).append(offset)
        else:
            batches.append(marker(producer, offset, int(kind == "commit")))
            offsets = open_.pop(producer, [])
            if kind == "commit":
                wanted += offsets
            elif offsets:
                aborted.append((producer, offsets[0]))
    only = CommittedOnly(aborted, decompress)
    wanted += [offset for offsets in open_.values() for offset in offsets]
    found = [batch for batch, _ in DataBatches(decompress, check_crcs=True).of(record_set(*batches), only, MANY)]
    assert [row.offset for row in seen(found)] == sorted(wanted)


@needs_compiled
def test_the_brokers_time_is_kept_where_it_matters() -> None:
    """A handler is told who set a record's time."""
    stamped = [build(ROWS, base_offset=offset, attributes=0x08) for offset in (10, 13)]
    found = DataBatches(decompress, check_crcs=True, keeps_append_time=True).of(record_set(*stamped), None, MANY)
    assert [batch.header.has_append_time for batch, _ in found] == [True, True]


@needs_compiled
def test_what_comes_before_a_broken_batch_is_joined() -> None:
    broken = bytearray(THREE[2].buffer)
    broken[-5] ^= 1
    found = DataBatches(decompress, check_crcs=True).of(RecordSet.read(joined(*THREE[:2], bytes(broken))), None, MANY)
    assert seen([next(found).batch]) == seen(THREE[:2])
    with pytest.raises(CorruptRecords, match="offset 16: checksum"):
        next(found)


@needs_compiled
def test_the_checksum_is_castagnolis() -> None:
    """Of batches of every length, as the package has it, in eights and rests."""
    for size in range(40):
        pair = [build([Row(0, NOW, None, bytes(range(size)))], base_offset=offset) for offset in (0, 1)]
        assert len(data(pair)) == 1
        pair[1].buffer[CRC_AT] ^= 0x80
        with pytest.raises(CorruptRecords, match="checksum"):
            data(pair)
