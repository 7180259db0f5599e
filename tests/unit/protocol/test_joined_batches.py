"""Little batches become larger ones, with the same records; read by kafka-python, which shares no code with ours."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.compression import Codec, Decompressor
from legacy_mm.protocol.kernels import WHY_UNCOMPILED
from legacy_mm.protocol.record_batch import NO_PRODUCER, Header, RecordBatch, assemble
from legacy_mm.protocol.record_set import Arrived, CommittedOnly, DataBatches
from tests.unit.protocol.batches import NOW, Row, build, changed, decode, record_set, rows

LOG_APPEND, TRANSACTIONAL, DELETE_HORIZON = 0x08, 0x10, 0x40
MORE_THAN_A_LITTLE = 500_000
MANY = 1 << 20
pytestmark = pytest.mark.skipif(bool(WHY_UNCOMPILED), reason="uncompiled kernels join nothing")
CRC_AT = 17


decompress = Decompressor()


def join(
    batches: Iterable[RecordBatch],
    *,
    limit: int = MANY,
    unopened: bool = False,
    committed: bool = False,
    keeps_append_time: bool = False,
) -> list[Arrived]:
    only = CommittedOnly([(1, 0)], decompress) if committed else None
    data = DataBatches(decompress, check_crcs=True, keeps_append_time=keeps_append_time)
    return list(data.of(record_set(*batches), only, limit, opens=not unopened))


def some(count: int, *, offset: int = 0, value: bytes = b"value") -> list[Row]:
    return [Row(offset + at, NOW + 100 * offset + at, b"key %d" % at, value, (("h", None),)) for at in range(count)]


def in_a_row(sizes: Sequence[int], *, codec: Codec = Codec.NONE, attributes: int = 0) -> list[RecordBatch]:
    """Batches of so many records, one behind the other from offset 1,000 on."""
    begins = accumulate(sizes, initial=1_000)
    return [
        build(some(size), base_offset=begin, codec=codec, attributes=attributes)
        for begin, size in zip(begins, sizes, strict=False)
    ]


def seen(batches: Iterable[RecordBatch]) -> list[Row]:
    return [row for batch in batches for row in decode(batch)]


def is_sound(batch: RecordBatch) -> None:
    batch.check_crc()
    assert RecordBatch.read(batch.buffer) == batch
    times = [row.timestamp for row in decode(batch)]
    header = batch.header
    assert (header.base_timestamp, header.max_timestamp) == (times[0], max(times))
    assert header.producer == NO_PRODUCER
    assert not header.attributes


def test_what_follows_one_another_becomes_one() -> None:
    batches = in_a_row([1, 70, 300])
    ((joined, codec),) = join(batches)
    assert codec is Codec.NONE
    assert seen([joined]) == seen(batches)
    is_sound(joined)
    assert (joined.header.base_offset, joined.header.next_offset) == (1_000, 1_371)
    assert not joined.header.has_holes


@given(st.lists(rows(holes=True), min_size=2, max_size=5), st.sampled_from([0, 1, 500, 1 << 22]))
def test_whatever_they_hold(parts: list[list[Row]], hole: int) -> None:
    batches: list[RecordBatch] = []
    begin = 7
    for part in parts:
        batches.append(build(part, base_offset=begin))
        begin = batches[-1].header.next_offset + hole
    joined = [arrived.batch for arrived in join(batches)]
    assert seen(joined) == seen(batches)
    for batch in joined:
        batch.check_crc()


def test_what_is_missing_between_two_stays_missing() -> None:
    first, _, third = in_a_row([4, 1, 4])
    ((joined, _),) = join([first, third])
    assert joined.header.has_holes
    assert [row.offset for row in decode(joined)] == [*range(1_000, 1_004), *range(1_005, 1_009)]


def test_the_brokers_time_and_a_transaction_are_no_hindrance() -> None:
    plain, transactional = in_a_row([3, 3], attributes=TRANSACTIONAL)
    timed = changed(build(some(2), base_offset=1_006), attributes=LOG_APPEND, max_timestamp=NOW + 9_999)
    ((joined, _),) = join([plain, transactional, timed])
    assert [row.timestamp for row in decode(joined)][-2:] == [NOW + 9_999] * 2
    is_sound(joined)
    ((joined, _),) = join([timed, build(some(2), base_offset=1_008)])
    assert [row.timestamp for row in decode(joined)] == [NOW + 9_999, NOW + 9_999, NOW, NOW + 1]
    is_sound(joined)


@pytest.mark.parametrize("codec", [Codec.LZ4, Codec.SNAPPY, Codec.ZSTD, Codec.GZIP])
def test_what_is_compressed_is_opened_only_if_it_may_be(codec: Codec) -> None:
    batches = in_a_row([5, 6, 7], codec=codec)
    ((joined, said),) = join(batches)
    assert (said, joined.header.codec) == (codec, Codec.NONE)
    assert seen([joined]) == seen(batches)
    assert join(batches, unopened=True) == [Arrived(batch, codec) for batch in batches]


def test_codecs_are_not_mixed() -> None:
    first, second = in_a_row([5, 5]), in_a_row([5, 5], codec=Codec.LZ4)
    found = join([*first, *second])
    assert [(codec, batch.header.records) for batch, codec in found] == [(Codec.NONE, 10), (Codec.LZ4, 10)]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4, Codec.ZSTD])
def test_what_has_no_neighbour_or_is_large_stays_as_it_is(codec: Codec) -> None:
    (alone,) = in_a_row([5], codec=codec)
    assert join([alone]) == [Arrived(alone, codec)]
    large = build([Row(0, NOW, None, noise(MORE_THAN_A_LITTLE))], base_offset=1_005, codec=codec)
    after = build(some(1), base_offset=1_006, codec=codec)
    assert join([alone, large, after]) == [Arrived(batch, codec) for batch in (alone, large, after)]


def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_no_batch_is_larger_than_the_limit(codec: Codec) -> None:
    batches = [build(some(2, value=bytes(400)), base_offset=at, codec=codec) for at in range(0, 20, 2)]
    found = [batch for batch, _ in join(batches, limit=3_000)]
    assert seen(found) == seen(batches)
    assert [batch.header.records for batch in found] == [6, 6, 6, 2]
    assert join(batches, limit=500) == [Arrived(batch, codec) for batch in batches], "no two fit"


def test_without_a_time_or_far_away_they_are_left_alone() -> None:
    timeless = [changed(batch, base_timestamp=-1, max_timestamp=-1) for batch in in_a_row([3, 3])]
    assert [batch for batch, _ in join(timeless)] == timeless
    near, far = build(some(1), base_offset=5), build(some(1), base_offset=1 << 31)
    assert [batch for batch, _ in join([near, far])] == [near, far]
    assert [batch for batch, _ in join([far, near])] == [far, near], "nor if they are not in order"


def test_a_compacted_batchs_delete_horizon_is_not_taken_for_a_time() -> None:
    first, second = in_a_row([3, 3], attributes=DELETE_HORIZON)
    ((joined, _),) = join([first, second])
    assert seen([joined]) == seen([first, second])
    is_sound(joined)


@pytest.mark.parametrize("size", [5, 1_000])
def test_with_a_wrong_checksum_what_came_before_is_handed_out_first(size: int) -> None:
    """Whoever computes it: of little batches the kernel."""
    first, second, broken = (build(some(2, value=bytes(size)), base_offset=at) for at in (0, 2, 4))
    broken.buffer[CRC_AT] ^= 1
    found = record_set(first, second, broken)
    arrived = DataBatches(decompress, check_crcs=True).of(found, None, MANY)
    assert next(arrived).batch.header.records == 4
    with pytest.raises(CorruptRecords, match="checksum"):
        next(arrived)
    (unchecked,) = DataBatches(decompress, check_crcs=False).of(found, None, MANY)
    assert unchecked.batch.header.records == 6


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_with_a_broken_record_nothing_is_joined_to_it(codec: Codec) -> None:
    first, second, last = in_a_row([2, 2, 2], codec=codec)
    torn = assemble(second.header, b"\xff" * 40)
    assert [batch for batch, _ in join([first, torn, last])] == [first, torn, last]


def test_a_count_that_lies_makes_no_huge_array() -> None:
    first, second = in_a_row([2, 2])
    header: Header = second.header._replace(records=1 << 30, last_offset_delta=(1 << 30) - 1)
    lying = assemble(header, second.payload)
    assert [batch for batch, _ in join([first, lying])] == [first, lying]
