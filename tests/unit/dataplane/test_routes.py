"""Where the records of a source batch go: as they are, or regrouped, but always as the legacy tool would place them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.audit.record_comparison import partition_of
from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.errors import CorruptRecords
from legacy_mm.dataplane.routes import Placed, Route, RouteOptions, Router
from legacy_mm.handlers.batches import MadeRecords
from legacy_mm.protocol.compression import Codec, Decompressor
from legacy_mm.protocol.record_batch import RecordBatch
from tests.unit.protocol.batches import NOW, Row, build, changed, decode
from tests.unit.protocol.batches import rows as some_rows

OPTIONS = RouteOptions(codec=None, level=None, limit=1 << 20)
REFUSES_CODEC, INVALID_RECORD = 76, 87
LOG_APPEND, DELETE_HORIZON = 0x08, 0x40
TOMORROW = epoch_ms() + 86_400_000


def route(
    batch: RecordBatch,
    partition: int = 0,
    *,
    source: int = 4,
    target: int = 4,
    begin: int = 0,
    options: RouteOptions = OPTIONS,
) -> Route:
    return Router(options).route("t", partition, batch, begin, source, target)


def keyed_for(partition: int, partitions: int, count: int) -> list[Row]:
    keys = (b"key-%d" % number for number in range(10_000))
    chosen = [key for key in keys if partition_of(key, partitions) == partition][:count]
    return [Row(offset, NOW + offset, key, b"value") for offset, key in enumerate(chosen)]


def contents(batches: Iterable[Placed]) -> list[tuple[int, bytes | None, bytes | None, int]]:
    return [(number, row.key, row.value, row.timestamp) for number, batch, _ in batches for row in decode(batch)]


@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_whose_keys_belong_where_it_goes_is_not_touched(codec: Codec) -> None:
    batch = build(keyed_for(2, 4, 5), base_offset=100, codec=codec)
    found = route(batch, 2)
    assert found.batches == [(2, batch, range(100, 105))]
    assert found.batches[0][1].buffer is batch.buffer
    assert (found.records, found.next_offset, found.too_large) == (5, 105, [])


def test_what_is_left_of_a_batch_before_the_start_takes_the_position_nowhere_back() -> None:
    """The cleaner has removed all records of it from the start on."""
    batch = build([Row(0, NOW, b"k", b"v"), Row(1, NOW, b"k", b"v")], base_offset=100)
    found = route(changed(batch, last_offset_delta=9), begin=105)
    assert (found.batches, found.next_offset) == ([], 105)


@given(rows=some_rows(), partition=st.integers(0, 5), target=st.integers(1, 6))
def test_every_keyed_record_goes_where_its_key_says(rows: Sequence[Row], partition: int, target: int) -> None:
    found = route(build(rows), partition, source=6, target=target)
    assert {(key, number) for number, key, *_ in contents(found.batches) if key is not None} == {
        (row.key, partition_of(row.key, target)) for row in rows if row.key is not None
    }
    assert sorted(map(repr, (row[1:] for row in contents(found.batches)))) == sorted(
        repr((row.key, row.value, row.timestamp)) for row in rows
    )


def null_keys(count: int) -> list[Row]:
    return [Row(offset, NOW, None, b"%d" % offset) for offset in range(count)]


def test_null_keys_stay_with_their_batch_where_the_target_has_as_many_partitions() -> None:
    batch = build(null_keys(8))
    assert route(batch, 3).batches == [(3, batch, range(8))]


@pytest.mark.parametrize(("source", "target"), [(1, 4), (4, 2)])
def test_null_keys_are_spread_where_they_cannot_stay_or_some_partition_would_get_none(source: int, target: int) -> None:
    found = route(build(null_keys(8)), source - 1, source=source, target=target)
    assert sorted(number for number, *_ in contents(found.batches)) == sorted(list(range(target)) * (8 // target))


def test_spreading_goes_on_where_it_ended() -> None:
    router = Router(OPTIONS)
    first = router.route("t", 0, build(null_keys(3)), 0, 1, 4)
    second = router.route("t", 0, build(null_keys(1)), 0, 1, 4)
    assert [number for number, *_ in contents([*first.batches, *second.batches])] == [0, 1, 2, 3]


def test_a_partitioner_without_keys_spreads_every_record_and_goes_on_where_it_ended() -> None:
    router = Router(replace(OPTIONS, hashes_keys=False))
    batches = [build([*keyed_for(0, 4, 3), Row(3, NOW, None, b"v")]), build(keyed_for(0, 4, 2))]
    routes = [router.route("t", 0, batch, 0, 4, 4) for batch in batches]
    assert [[number for number, *_ in contents(each.batches)] for each in routes] == [[0, 1, 2, 3], [0, 1]]
    assert [each.records for each in routes] == [4, 2]
    third = router.route("t", 0, build(null_keys(2)), 0, 4, 4)
    assert [number for number, *_ in contents(third.batches)] == [2, 3]


def test_a_partitioner_without_keys_has_no_say_over_records_that_keep_their_partition() -> None:
    router = Router(replace(OPTIONS, hashes_keys=False))
    batch = build([*keyed_for(0, 4, 3), Row(3, NOW, None, b"v")])
    kept = router.route("t", 2, batch, 0, 4, 4, keeps_partition=True)
    assert {number for number, *_ in contents(kept.batches)} == {2}


def test_records_below_the_position_are_left_out() -> None:
    batch = build(keyed_for(1, 4, 5), base_offset=100)
    found = route(batch, 1, begin=103)
    assert [value for _, _, value, _ in contents(found.batches)] == [b"value"] * 2
    assert (found.records, found.next_offset) == (2, 105)


def test_holes_of_a_compacted_log_are_closed_and_the_last_record_decides_what_is_safe() -> None:
    rows = [Row(offset, NOW, None, b"v") for offset in (0, 3, 7)]
    batch = changed(build(rows, base_offset=50), last_offset_delta=9)
    found = route(batch)
    ((_, sent, offsets),) = found.batches
    assert list(offsets) == [50, 53, 57]
    assert [row.offset for row in decode(sent)] == [0, 1, 2]
    assert found.next_offset == 58


def test_times_that_the_broker_set_are_kept_as_the_records_own() -> None:
    batch = changed(build(null_keys(2), attributes=LOG_APPEND), max_timestamp=NOW + 77)
    assert [time for *_, time in contents(route(batch).batches)] == [NOW + 77] * 2


def test_records_without_a_time_get_the_present() -> None:
    batch = build([Row(0, -1, b"k", b"v")])
    found = contents(route(batch, target=1).batches)
    assert found[0][3] > NOW


@pytest.mark.parametrize("target", [1, 4], ids=["as it is", "regrouped"])
def test_a_time_below_zero_stays_in_a_batch_that_has_times(target: int) -> None:
    times = [-5_000, -1, NOW]
    batch = build([Row(at, time, b"k%d" % at, b"v") for at, time in enumerate(times)])
    assert sorted(time for *_, time in contents(route(batch, target=target).batches)) == times


@pytest.mark.parametrize("keeps_partition", [False, True], ids=["by key", "in place"])
@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("base", [-5, TOMORROW], ids=["below -1", "a delete horizon"])
def test_without_a_time_the_deltas_of_the_records_say_nothing(base: int, codec: Codec, keeps_partition: bool) -> None:
    rows = [Row(0, base, b"k", b"before"), Row(1, -1, b"k", b"v"), Row(2, -9, None, b"w")]
    batch = changed(build(rows, base_offset=50, codec=codec, attributes=DELETE_HORIZON), max_timestamp=-1)
    begun = epoch_ms()
    found = Router(OPTIONS).route("t", 0, batch, 51, 1, 2, keeps_partition=keeps_partition)
    sent = contents(found.batches)
    assert {value for _, _, value, _ in sent} == {b"v", b"w"}
    assert all(begun <= time <= epoch_ms() for *_, time in sent)
    assert {made.header.codec for _, made, _ in found.batches} == {codec}


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("partition", [2, 3], ids=["as it is", "regrouped"])
def test_an_explicit_codec_wins(codec: Codec, partition: int) -> None:
    batch = build(keyed_for(2, 4, 5), codec=Codec.SNAPPY)
    found = route(batch, partition, options=RouteOptions(codec, None, 1 << 20))
    ((number, sent, _),) = found.batches
    assert number == 2
    assert sent.header.codec is codec
    assert [row[:4] for row in decode(sent)] == [row[:4] for row in keyed_for(2, 4, 5)]


def made_by_a_handler(rows: Sequence[Row]) -> MadeRecords:
    batch = build(rows)
    return MadeRecords("t", batch.header, batch.payload)


@pytest.mark.parametrize("codec", list(Codec))
def test_an_explicit_codec_wins_for_what_a_handler_makes(codec: Codec) -> None:
    """Also none, where the source's batches are compressed."""
    router = Router(RouteOptions(codec, None, 1 << 20))
    placed, too_large = router.route_made(made_by_a_handler(keyed_for(2, 4, 5)), 0, 4, 4, Codec.SNAPPY)
    assert [(number, batch.header.codec) for number, batch, _ in placed] == [(2, codec)]
    assert not too_large


def test_what_a_handler_makes_is_sent_plain_where_the_target_does_not_take_the_codec() -> None:
    router = Router(OPTIONS)
    (refused,) = router.route("t", 0, build(keyed_for(0, 4, 5), codec=Codec.ZSTD), 0, 4, 4).batches
    router.replace(refused, REFUSES_CODEC, {})
    ((_, batch, _),), _ = router.route_made(made_by_a_handler(keyed_for(2, 4, 5)), 0, 4, 4, Codec.ZSTD)
    assert batch.header.codec is Codec.NONE


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec is not Codec.NONE])
def test_a_sound_batch_that_is_too_much_to_open_ends_the_mirror(codec: Codec) -> None:
    router = Router(OPTIONS)
    router.decompress = Decompressor(limit=5_000)
    batch = build([Row(0, NOW, b"k", bytes(10_000))], codec=codec)
    with pytest.raises(CorruptRecords, match=f"do not decompress as {codec.name.lower()} into 5000"):
        router.route("t", 0, batch, 0, 4, 4)
    damaged = RecordBatch(batch.header._replace(crc=1), batch.buffer)
    with pytest.raises(CorruptRecords, match="checksum"):
        router.route("t", 0, damaged, 0, 4, 4)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_a_batch_above_the_limit_is_divided(codec: Codec) -> None:
    rows = [Row(offset, NOW, b"k", b"%d" % offset * 400) for offset in range(10)]
    found = route(build(rows, codec=codec), options=RouteOptions(None, None, 1500), target=1)
    assert [value for _, _, value, _ in contents(found.batches)] == [row.value for row in rows]
    assert all(len(sent.buffer) <= 1500 for _, sent, _ in found.batches)
    assert all(sent.header.codec is codec for _, sent, _ in found.batches)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_a_record_above_the_limit_is_told_apart_however_well_it_is_compressed(codec: Codec) -> None:
    rows = [Row(offset, NOW, b"k", b"x" * size) for offset, size in enumerate((10, 5000, 20))]
    found = route(build(rows, codec=codec), options=RouteOptions(None, None, 1500), target=1)
    assert [len(value or b"") for _, _, value, _ in contents(found.batches)] == [10, 20]
    assert [len(value or b"") for _, _, value, _ in contents(found.too_large)] == [5000]
    assert found.records == 3


def test_what_was_compressed_at_the_source_is_compressed_again() -> None:
    rows = keyed_for(0, 4, 6)
    found = Router(OPTIONS).route("t", 0, build(rows), 0, 4, 4, codec=Codec.ZSTD)
    assert [placed.batch.header.codec for placed in found.batches] == [Codec.ZSTD]
    assert contents(found.batches) == contents(route(build(rows)).batches)
    mine = RouteOptions(codec=Codec.NONE, level=None, limit=1 << 20)
    (placed,) = Router(mine).route("t", 0, build(rows), 0, 4, 4, codec=Codec.ZSTD).batches
    assert placed.batch.header.codec is Codec.NONE, "what the user says comes first"


@given(rows=some_rows(min_size=2))
def test_halves_hold_the_same_records_and_end_with_single_ones(rows: Sequence[Row]) -> None:
    router = Router(OPTIONS)
    parts = [Placed(0, build(rows), offsets := list(range(100, 100 + 2 * len(rows), 2)))]
    while any(part.batch.header.records > 1 for part in parts):
        halves = [half for part in parts for half in (router.halve(part) if part.batch.header.records > 1 else [part])]
        assert len(halves) > len(parts)
        parts = halves
    assert [row.value for part in parts for row in decode(part.batch)] == [row.value for row in rows]
    assert [offset for part in parts for offset in part.offsets] == list(offsets)


@pytest.mark.parametrize("partition", [2, 3], ids=["as it is", "regrouped"])
def test_a_codec_of_the_source_that_the_target_refuses_is_taken_off_now_and_later(partition: int) -> None:
    """As the legacy tool sends what nobody asked it to compress; divided where it is beyond the limit then."""
    router = Router(RouteOptions(None, None, 1500))
    rows = [row._replace(value=b"x" * 400) for row in keyed_for(2, 4, 10)]
    zstd = build(rows, codec=Codec.ZSTD)
    (first,) = router.route("t", 2, zstd, 0, 4, 4).batches
    assert first.batch.header.codec is Codec.ZSTD
    opened, failed = router.replace(first, REFUSES_CODEC, {})
    assert failed == []
    later = router.route("t", partition, zstd, 0, 4, 4).batches
    for sent in (opened, later):
        assert contents(sent) == [(2, row.key, row.value, row.timestamp) for row in rows]
        assert {placed.batch.header.codec for placed in sent} == {Codec.NONE}
        assert all(len(placed.batch.buffer) <= 1500 for placed in sent)
    assert [offset for placed in opened for offset in placed.offsets] == list(range(10))
    (lz4,) = router.route("t", 2, build(rows, codec=Codec.LZ4), 0, 4, 4).batches
    assert lz4.batch.header.codec is Codec.LZ4
    assert router.replace(later[0], REFUSES_CODEC, {}) == ([], [(later[0], "")]), "it is not compressed"


def test_a_codec_that_the_user_asks_for_stays() -> None:
    router = Router(RouteOptions(Codec.ZSTD, None, 1 << 20))
    (placed,) = router.route("t", 0, build(keyed_for(0, 4, 3)), 0, 4, 4).batches
    assert router.replace(placed, REFUSES_CODEC, {}) == ([], [(placed, "")])


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("blamed", [(1,), (0, 2, 4), (3, 1), (0, 1, 2, 3, 4)], ids=str)
def test_only_the_records_that_the_target_names_have_failed(blamed: tuple[int, ...], codec: Codec) -> None:
    rows = [Row(at, NOW - at, b"k", b"%d" % at, (("h", None),)) for at in range(5)]
    refused = Placed(2, build(rows, codec=codec), [3, 5, 6, 7, 20])
    instead, failed = Router(OPTIONS).replace(refused, INVALID_RECORD, {at: f"why {at}" for at in blamed})
    assert contents(instead) == [(2, *row[2:4], row.timestamp) for row in rows if row.offset not in blamed]
    assert [int(offset) for each in instead for offset in each.offsets] == [
        offset for at, offset in enumerate([3, 5, 6, 7, 20]) if at not in blamed
    ]
    assert [each.batch.header.codec for each in instead] == [codec] * (len(blamed) < 5)
    assert not any(each.batch.header.has_holes for each in instead)
    assert [(Router(OPTIONS).single(each.batch).value, *each.offsets, why) for each, why in failed] == [
        (b"%d" % at, [3, 5, 6, 7, 20][at], f"why {at}") for at in sorted(blamed)
    ]


@pytest.mark.parametrize("blamed", [{}, {-1: "", 5: ""}], ids=["nobody", "records that are not there"])
def test_where_the_target_names_no_record_the_batch_is_halved(blamed: dict[int, str]) -> None:
    rows = [Row(at, NOW, b"k", b"%d" % at) for at in range(5)]
    instead, failed = Router(OPTIONS).replace(Placed(0, build(rows), range(5)), INVALID_RECORD, blamed)
    assert len(instead) > 1
    assert [row.value for each in instead for row in decode(each.batch)] == [row.value for row in rows]
    assert failed == []


def test_sizes_of_keys_and_values_are_told() -> None:
    rows = [Row(0, NOW, None, b"abc"), Row(1, NOW, b"k", None), Row(2, NOW, b"", b"")]
    assert Router(OPTIONS).sizes(build(rows, codec=Codec.LZ4)) == [(None, 3), (1, None), (0, 0)]


@pytest.mark.parametrize("partition", [2, 3], ids=["as it is", "regrouped"])
def test_a_batch_that_would_be_too_large_in_another_codec_is_divided(partition: int) -> None:
    rows = [row._replace(value=b"x" * 400) for row in keyed_for(2, 4, 10)]
    options = RouteOptions(Codec.NONE, None, 1500)
    found = route(build(rows, codec=Codec.ZSTD), partition, options=options)
    assert contents(found.batches) == [(2, row.key, row.value, row.timestamp) for row in rows]
    assert all(len(sent.buffer) <= 1500 for _, sent, _ in found.batches)


# --- preserve.partitions


def preserved(batch: RecordBatch, *, begin: int = 0, options: RouteOptions = OPTIONS) -> Route:
    """The way of a batch of partition 3, at a target that has more partitions than the source."""
    return Router(options).route("t", 3, batch, begin, 4, 9, keeps_partition=True)


@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_keeps_its_partition_without_being_decompressed(codec: Codec) -> None:
    rows = [*keyed_for(2, 4, 5), Row(5, NOW, None, b"v")]
    batch = build(rows, base_offset=100, codec=codec)
    rubbish = changed(batch, records=6)
    rubbish.buffer[-1] ^= 0xFF
    batch = changed(rubbish)  # its checksum is right, its last record is not
    found = preserved(batch)
    assert found.batches == [(3, batch, range(100, 106))]
    assert found.batches[0][1].buffer is batch.buffer
    assert (found.records, found.next_offset, found.too_large) == (6, 106, [])


@given(rows=some_rows(holes=True), codec=st.sampled_from(Codec), spare=st.integers(0, 2), skipped=st.integers(0, 3))
def test_whatever_a_batch_is_like_its_records_keep_partition_and_order(
    rows: Sequence[Row], codec: Codec, spare: int, skipped: int
) -> None:
    last = rows[-1].offset + spare
    batch = changed(build(rows, base_offset=50, codec=codec), last_offset_delta=last)
    found = preserved(batch, begin=50 + skipped)
    expected = [(3, row.key, row.value, row.timestamp) for row in rows if row.offset >= skipped]
    assert contents(found.batches) == expected
    assert all(not made.header.has_holes for _, made, _ in found.batches)
    assert found.records == len(expected)
    assert rows[-1].offset < found.next_offset - 50 <= max(last + 1, skipped)
    assert found.next_offset - 50 >= skipped


def test_times_that_the_broker_set_are_kept_in_the_same_partition() -> None:
    batch = changed(build(keyed_for(0, 9, 2), attributes=LOG_APPEND), max_timestamp=NOW + 77)
    assert [(number, time) for number, *_, time in contents(preserved(batch).batches)] == [(3, NOW + 77)] * 2


def test_records_without_a_time_get_the_present_in_the_same_partition() -> None:
    found = contents(preserved(build([Row(0, -1, b"k", b"v")])).batches)
    assert found[0][0] == 3
    assert found[0][3] > NOW


@pytest.mark.parametrize("codec", list(Codec))
def test_another_codec_and_a_limit_are_heeded_in_the_same_partition(codec: Codec) -> None:
    rows = [Row(offset, NOW, b"k%d" % offset, b"%d" % offset * 400) for offset in range(10)]
    options = RouteOptions(codec, None, 1500)
    found = preserved(build(rows, codec=Codec.SNAPPY), options=options)
    assert contents(found.batches) == [(3, row.key, row.value, NOW) for row in rows]
    assert all(len(sent.buffer) <= 1500 and sent.header.codec is codec for _, sent, _ in found.batches)
