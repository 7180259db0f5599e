"""Survey, regroup and re-encode, held against kafka-python's reader and a plain model."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.audit import record_comparison
from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol import records
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import HEADER_SIZE, Header, RecordBatch
from legacy_mm.protocol.records import Contents, Placement, Regrouped, measure, recompress, regroup, survey
from tests.unit.protocol.batches import NOW, Row, build, changed, decode, records_of, rows

LOG_APPEND = 0x08
LONGEST = (1 << 63) - 1

# From Kafka's own UtilsTest.
VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


def plain(batch: RecordBatch) -> list[tuple[object, ...]]:
    """Records without their offsets."""
    return [row[1:] for row in decode(batch)]


def checked(new: list[Regrouped]) -> list[Regrouped]:
    """Every new batch is whole, dense, and right in its header."""
    for one in new:
        header = one.batch.header
        one.batch.check_crc()
        assert RecordBatch.read(one.batch.buffer) == one.batch
        found = survey(header, records_of(one.batch), 0, 0)
        assert found.dense
        assert not header.has_holes
        assert found.records == header.records == len(one.source_offsets)
        times = [row.timestamp for row in decode(one.batch)]
        assert (header.base_timestamp, header.max_timestamp) == (times[0], max(times))
        assert header.producer == (-1, -1, -1)
        assert (header.base_offset, header.leader_epoch) == (0, -1)
    return new


@pytest.mark.parametrize(("key", "hashed"), VECTORS.items())
def test_murmur2_as_kafka_tests_it(key: bytes, hashed: int) -> None:
    assert records.murmur2(key) == hashed & 0xFFFFFFFF


@given(st.binary(max_size=70), st.integers(1, 1 << 20))
def test_murmur2_and_partition_of_any_key(key: bytes, partitions: int) -> None:
    assert records.murmur2(key) == record_comparison.murmur2(key) & 0xFFFFFFFF
    assert records.partition_of(key, partitions) == record_comparison.partition_of(key, partitions)


@given(rows(holes=True), st.integers(1, 7), st.data())
def test_a_survey_tells_what_a_reader_counts(made: list[Row], partitions: int, data: st.DataObject) -> None:
    batch = build(made)
    partition = data.draw(st.integers(0, partitions - 1))
    found = survey(batch.header, batch.payload, partition, partitions)
    keys = [row.key for row in made]
    assert found.records == len(made)
    assert found.keyless == keys.count(None)
    assert found.elsewhere == sum(
        key is not None and record_comparison.partition_of(key, partitions) != partition for key in keys
    )
    assert found.last_offset_delta == made[-1].offset
    assert found.dense == ([row.offset for row in made] == list(range(len(made))))


@given(rows(holes=True), st.integers(0, 20), st.booleans())
def test_how_much_there_is_from_an_offset_on(made: list[Row], skipped: int, append_time: bool) -> None:
    """Headers do not count, nor does a time of 0; a time that the broker set is that of all."""
    batch = changed(build(made, base_offset=50), attributes=LOG_APPEND * append_time)
    left = [row for row in made if row.offset >= skipped]
    times = [batch.header.max_timestamp if append_time else row.timestamp for row in left]
    times = [time for time in times if time > 0]
    size = sum(len(row.value or b"") for row in left)
    found = measure(batch.header, batch.payload, 50 + skipped)
    keys = sum(len(row.key or b"") for row in left)
    assert found == Contents(size, keys, len(times), found.total, min(times, default=0), max(times, default=0))
    assert found.total == pytest.approx(sum(times))


@given(rows(holes=True), st.integers(1, 7), st.sampled_from(Codec), st.booleans(), st.integers(0, 1 << 40))
def test_regrouping_is_a_stable_sort_by_partition(
    made: list[Row], partitions: int, codec: Codec, spread: bool, base: int
) -> None:
    batch = build(made, base_offset=base, codec=codec)
    start = base % partitions
    by_key = Placement.by_key_spreading(partitions, first=start)
    if not spread:
        by_key = Placement.by_key(partitions, null_keys_to=start)
    wanted: dict[int, list[Row]] = defaultdict(list)
    null_at = start
    for row in decode(batch):
        if row.key is not None:
            wanted[record_comparison.partition_of(row.key, partitions)].append(row)
        else:
            wanted[null_at].append(row)
            null_at = (null_at + spread) % partitions
    new = checked(regroup(batch.header, records_of(batch), by_key))
    assert [one.partition for one in new] == list(wanted)
    for one in new:
        assert plain(one.batch) == [row[1:] for row in wanted[one.partition]]
        assert list(one.source_offsets) == [row.offset for row in wanted[one.partition]]
        assert one.batch.header.codec is codec


def test_an_empty_key_is_a_key_and_takes_no_turn_of_the_records_without() -> None:
    batch = build([Row(0, NOW, b"", b"v"), Row(1, NOW, None, b"v"), Row(2, NOW, None, b"v")])
    place = record_comparison.partition_of(b"", 9)
    first, second = (place + 2) % 9, (place + 3) % 9
    new = checked(regroup(batch.header, batch.payload, Placement.by_key_spreading(9, first=first)))
    found = [(one.partition, list(one.source_offsets)) for one in new]
    assert found == [(place, [0]), (first, [1]), (second, [2])]


@given(rows(holes=True), st.integers(1, 7), st.integers(0, 1 << 40))
def test_a_partitioner_without_keys_spreads_all_records(made: list[Row], partitions: int, base: int) -> None:
    batch = build(made, base_offset=base)
    first = base % partitions
    new = checked(regroup(batch.header, batch.payload, Placement.spreading(partitions, first=first)))
    wanted: dict[int, list[Row]] = defaultdict(list)
    for number, row in enumerate(made):
        wanted[(first + number) % partitions].append(row)
    assert [one.partition for one in new] == list(wanted)
    for one in new:
        assert plain(one.batch) == [row[1:] for row in wanted[one.partition]]


@given(rows(holes=True), st.integers(0, 60), st.integers(0, 1 << 40))
def test_records_below_an_offset_are_left_out(made: list[Row], skipped: int, base: int) -> None:
    batch = build(made, base_offset=base)
    new = checked(regroup(batch.header, batch.payload, Placement.all_to(3), from_offset=base + skipped))
    left = [row for row in made if row.offset >= skipped]
    assert [(one.partition, plain(one.batch)) for one in new] == ([(3, [row[1:] for row in left])] if left else [])
    assert [base + row.offset for row in left] == [at for one in new for at in list(one.source_offsets)]


@given(rows(), st.integers(HEADER_SIZE, 800))
def test_no_batch_exceeds_the_limit_unless_one_record_does(made: list[Row], limit: int) -> None:
    batch = build(made)
    new = checked(regroup(batch.header, batch.payload, Placement.all_to(0), limit=limit))
    assert [row for one in new for row in plain(one.batch)] == plain(batch)
    assert all(len(one.batch.buffer) <= limit or one.batch.header.records == 1 for one in new)
    for one, after in zip(new, new[1:], strict=False):
        # The next one's first record as it would be here is at most a length, two deltas longer.
        assert len(one.batch.buffer) + len(after.batch.buffer) - HEADER_SIZE + 20 > limit


@given(rows(holes=True), st.sampled_from(Codec), st.integers(0, 1 << 45))
def test_the_broker_s_timestamps_become_the_records_own(made: list[Row], codec: Codec, time: int) -> None:
    batch = changed(build(made, codec=codec, attributes=LOG_APPEND), max_timestamp=time)
    (new,) = checked(regroup(batch.header, records_of(batch), Placement.all_to(0)))
    assert plain(new.batch) == [(time, *row[2:]) for row in made]
    assert new.batch.header.attributes == codec


@given(rows(), st.sampled_from(Codec), st.sampled_from(Codec))
def test_recompression_keeps_records_and_fields(made: list[Row], old: Codec, new: Codec) -> None:
    batch = changed(build(made, base_offset=9, codec=old), producer_id=7, base_sequence=3)
    made_anew = recompress(batch.header, records_of(batch), new)
    made_anew.check_crc()
    assert decode(made_anew) == decode(batch)
    same = made_anew.header._replace(length=batch.header.length, crc=batch.header.crc, attributes=int(old))
    assert same == batch.header
    assert made_anew.header.codec is new


@given(rows(), st.sampled_from(Codec), st.sampled_from(Codec))
def test_a_regrouping_may_change_the_codec(made: list[Row], old: Codec, new: Codec) -> None:
    batch = build(made, codec=old)
    (one,) = checked(regroup(batch.header, records_of(batch), Placement.all_to(0), codec=new))
    assert one.batch.header.codec is new
    assert plain(one.batch) == plain(batch)


@pytest.mark.parametrize("times", [(-1,), (-1, NOW), (0, LONGEST), (LONGEST, 0), (NOW, 5, NOW)])
def test_timestamps_far_apart_and_none(times: tuple[int, ...]) -> None:
    batch = build([Row(at, time, b"k", b"v") for at, time in enumerate(times)])
    (new,) = checked(regroup(batch.header, batch.payload, Placement.all_to(0)))
    assert plain(new.batch) == plain(batch)


def test_many_records_have_long_deltas() -> None:
    made = [Row(at, NOW + at * at, b"key-%d" % at, b"x" * (at % 300)) for at in range(20_000)]
    batch = build(made, codec=Codec.ZSTD)
    new = checked(regroup(batch.header, records_of(batch), Placement.by_key(3, null_keys_to=0)))
    assert sorted(at for one in new for at in list(one.source_offsets)) == list(range(20_000))
    assert sum(len(plain(one.batch)) for one in new) == 20_000


def test_an_empty_batch_has_nothing_to_survey_or_regroup() -> None:
    header = Header.new(0, -1, -1)._replace(last_offset_delta=4)
    nothing = memoryview(b"")
    assert survey(header, nothing, 0, 4).records == 0
    assert regroup(header, nothing, Placement.all_to(0)) == []


@pytest.mark.parametrize("change", [1, -1])
def test_a_count_that_lies_is_corrupt(change: int) -> None:
    batch = build([Row(at, NOW, b"k", b"v") for at in range(3)])
    lying = batch.header._replace(records=3 + change, last_offset_delta=9, base_offset=40)
    wrong = "batch at offset 40: a record is torn" if change > 0 else "batch at offset 40: bytes are left over"
    with pytest.raises(CorruptRecords, match=wrong):
        survey(lying, batch.payload, 0, 4)
    with pytest.raises(CorruptRecords, match=wrong):
        regroup(lying, batch.payload, Placement.all_to(0))


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\x0e",
        b"\x80\x80\x80\x80\x80\x01",  # a varint of six bytes
        b"\x01" + bytes(6),  # length -1
        bytes([14, 0, 0, 0, 1, 1, 1, 0])[:7],
        bytes([14, 0, 0, 0, 1, 1, 1]),  # header count -1
        bytes([12, 0, 0, 0, 100, 1, 0]),  # a key beyond the record
        bytes([12, 0, 0, 0, 1, 100, 0]),  # a value beyond the record
        bytes([12, 0, 0, 0, 1, 1, 2]),  # a header that is not there
        bytes([16, 0, 0, 0, 1, 1, 2, 1, 1]),  # a header whose name is null
        bytes([14, 0, 0, 0, 1, 1, 0, 0]),  # longer than its fields
        bytes([254, 255, 255, 255, 15, 0, 0, 0, 1, 1, 0]),  # 2 GB
        bytes([20, 0, 0, 0, 1, 1, 254, 255, 255, 255, 15]),  # two thousand million headers
    ],
)
def test_a_torn_record_is_corrupt(record: bytes) -> None:
    with pytest.raises(CorruptRecords, match="a record is torn"):
        survey(Header.new(1, 0, 0), memoryview(record), 0, 4)


@pytest.mark.parametrize("offsets", [(-1, 0), (0, 0), (1, 0), (0, 2)])
def test_offsets_that_do_not_ascend_to_the_last_are_corrupt(offsets: tuple[int, int]) -> None:
    zigzag = {-1: 1, 0: 0, 1: 2, 2: 4}
    two = memoryview(b"".join(bytes([12, 0, 0, zigzag[offset], 1, 1, 0]) for offset in offsets))
    assert survey(Header.new(2, 0, 0), memoryview(bytes([12, 0, 0, 0, 1, 1, 0, 12, 0, 0, 2, 1, 1, 0])), 0, 4).dense
    with pytest.raises(CorruptRecords, match="do not ascend"):
        survey(Header.new(2, 0, 0), two, 0, 4)
    with pytest.raises(CorruptRecords, match="do not ascend"):
        regroup(Header.new(2, 0, 0), two, Placement.all_to(0))


def test_first_key() -> None:
    for key in (None, b"", b"key"):
        batch = build([Row(0, NOW, key, b"v"), Row(1, NOW, b"other", b"v")])
        assert records.first_key(batch.header, batch.payload) == key


def test_a_placement_lies_within_its_partitions() -> None:
    for wrong in (-1, 3):
        with pytest.raises(AssertionError):
            Placement.by_key(3, null_keys_to=wrong)
        with pytest.raises(AssertionError):
            Placement.by_key_spreading(3, first=wrong)


def test_every_kind_of_buffer_is_read() -> None:
    batch = build([Row(0, NOW, b"k", b"v")])
    for buffer in (bytes(batch.payload), bytearray(batch.payload)):
        assert survey(batch.header, memoryview(buffer), 0, 4).records == 1
        assert len(regroup(batch.header, memoryview(buffer), Placement.by_key_spreading(4, first=0))) == 1
        assert records.first_key(batch.header, memoryview(buffer)) == b"k"
