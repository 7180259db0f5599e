"""What the reader of whole batches hands over, and when; the fetcher is a stand-in: its answers are the question."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.clients.native.connection_errors import UnsupportedVersion
from legacy_mm.clients.native.fetch_buffer import CompletedFetch
from legacy_mm.config import property_names
from legacy_mm.control_channel.frames import Gap
from legacy_mm.dataplane.native_reader import BATCH_BYTES, BATCH_RECORDS, NativeReader
from legacy_mm.errors import CorruptRecords, EngineUnfit, LegacyMMError, StreamFailure
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.compression import Codec, Decompressor
from legacy_mm.protocol.record_batch import RecordBatch
from tests.fakes.fetcher import FakeFetcher
from tests.unit.protocol.batches import NOW, Latin, Row, build, record_set
from tests.unit.source_records import offset_of, rows

HERE, THERE = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def fetcher() -> FakeFetcher:
    return FakeFetcher()


@pytest.fixture
def reader(fetcher: FakeFetcher) -> NativeReader:
    nothing: Any = None
    made = NativeReader(
        property_names.read_consumer({"bootstrap.servers": "127.0.0.1:1", "check.crcs": "true"}), 1.0, print, nothing
    )
    made._source.fetcher = fetcher
    return made


def batch(count: int, base: int = 0, codec: Codec = Codec.NONE, **row: Any) -> RecordBatch:
    made = [Row(number, NOW, b"k", b"v%d" % number, **row) for number in range(count)]
    return build(made, base_offset=base, codec=codec)


def fetched(*batches: RecordBatch, partition: TopicPartition = HERE, position: int = 0) -> CompletedFetch:
    return CompletedFetch(partition, position, record_set(*batches), (), sum(len(each.buffer) for each in batches))


def offsets(reader: NativeReader) -> list[int]:
    return list(map(offset_of, rows(reader.read(0.0))))


def test_what_is_there_is_handed_over_together(reader: NativeReader, fetcher: FakeFetcher) -> None:
    fetcher.sets = [fetched(batch(3), batch(2, 10), position=1), fetched(batch(1), partition=THERE)]
    found = reader.read(0.0)
    assert found.next_offsets() == {HERE: 12, THERE: 1}
    assert (len(found), found.offsets) == (5, [1, 2, 10, 11, 0])
    assert not reader.read(0.0)


def test_no_more_than_a_part_is_in_python_objects(reader: NativeReader, fetcher: FakeFetcher) -> None:
    fetcher.sets = [fetched(batch(2 * BATCH_RECORDS + 5))]
    assert [len(reader.read(0.0)) for _ in range(4)] == [BATCH_RECORDS, BATCH_RECORDS, 5, 0]


def test_nor_more_than_some_bytes(reader: NativeReader, fetcher: FakeFetcher) -> None:
    large = [build([Row(0, NOW, b"k", bytes(BATCH_BYTES // 2))], base_offset=offset) for offset in range(5)]
    fetcher.sets = [fetched(*large)]
    assert [len(reader.read(0.0)) for _ in range(4)] == [2, 2, 1, 0]


def test_a_row_of_sets_without_data_keeps_nobody_waiting(reader: NativeReader, fetcher: FakeFetcher) -> None:
    """Aborted transactions can be long; a stop and a barrier come between two of their record sets."""
    fetcher.sets = [fetched(build([], base_offset=offset)) for offset in range(3)] + [fetched(batch(2, 3))]
    assert [len(reader.read(0.0)) for _ in range(4)] == [0, 0, 0, 2]


@pytest.mark.parametrize("kind", [StreamFailure, CorruptRecords, EngineUnfit])
def test_records_come_before_the_error_that_follows_them(
    reader: NativeReader, fetcher: FakeFetcher, kind: type[LegacyMMError]
) -> None:
    fetcher.sets, fetcher.error = [fetched(batch(2))], kind("why")
    assert offsets(reader) == [0, 1]
    for _ in range(2):
        with pytest.raises(kind, match="why"):
            reader.read(0.0)


def test_so_do_those_before_a_batch_that_is_broken(reader: NativeReader, fetcher: FakeFetcher) -> None:
    broken = batch(2, 5)
    broken = RecordBatch.read(memoryview(bytearray(broken.buffer[:-1]) + b"!"))
    fetcher.sets = [fetched(batch(2), broken)]
    assert offsets(reader) == [0, 1]
    with pytest.raises(CorruptRecords, match="t-0: .*offset 5"):
        reader.read(0.0)


def test_an_api_that_the_brokers_do_not_have_is_librdkafkas(reader: NativeReader, fetcher: FakeFetcher) -> None:
    fetcher.error = UnsupportedVersion("Fetch")
    with pytest.raises(EngineUnfit, match="Fetch"):
        reader.read(0.0)


def test_so_is_what_is_sound_and_too_large_to_open(reader: NativeReader, fetcher: FakeFetcher) -> None:
    reader._decompress = Decompressor(limit=10)
    fetcher.sets = [fetched(batch(20, codec=Codec.ZSTD))]
    with pytest.raises(EngineUnfit, match="t-0: .* do not decompress"):
        reader.read(0.0)


def test_a_gap_comes_when_what_was_read_before_it_is_handed_over(reader: NativeReader, fetcher: FakeFetcher) -> None:
    """Invariant B."""
    here, there = (Gap(*place, 9, 0, 5, "it was cut") for place in (HERE, THERE))
    fetcher.sets = [fetched(batch(BATCH_RECORDS + 1))]
    assert len(reader.read(0.0)) == BATCH_RECORDS
    fetcher.gaps = [here, there]
    assert reader.take_gaps() == [there]
    assert len(reader.read(0.0)) == 1
    assert reader.take_gaps() == [here]


@pytest.mark.parametrize(
    ("header", "flaw"), [(Latin("größe"), "is not UTF-8"), ("a\0b", "holds a NUL")], ids=["no text", "cut off"]
)
def test_a_header_that_librdkafka_cannot_send_is_named(
    reader: NativeReader, fetcher: FakeFetcher, header: str, flaw: str
) -> None:
    fetcher.sets = [fetched(batch(3), batch(1, 3, headers=[("plain", b"x"), (header, b"x")]), partition=THERE)]
    assert offsets(reader) == [0, 1, 2]
    with pytest.raises(StreamFailure, match=f"t-1 at offset 3 has a header whose name {flaw}"):
        reader.read(0.0)
