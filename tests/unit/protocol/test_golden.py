"""What real clients and a real broker wrote is read as librdkafka's consumer reads it; see golden/README.md."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.protocol.compression import Codec, Decompressor
from legacy_mm.protocol.record_batch import HEADER_SIZE, ProducerStamp, RecordBatch
from legacy_mm.protocol.record_set import CommittedOnly, read_batches
from legacy_mm.protocol.records import Placement, partition_of, regroup, survey
from tests.unit.protocol.batches import Row, decode, decompress, records_of

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.log"))
PLAIN = [name for name in NAMES if name.startswith(("java-", "librdkafka-")) and name != "java-transactions"]


def read(name: str) -> tuple[list[RecordBatch], dict[str, Any]]:
    items = list(read_batches(memoryview(bytearray((GOLDEN / f"{name}.log").read_bytes()))))
    batches = [item for item in items if isinstance(item, RecordBatch)]
    assert batches == items
    return batches, json.loads((GOLDEN / f"{name}.json").read_text())


def plain(row: Row) -> list[Any]:
    headers = [[name, text(value)] for name, value in row.headers]
    return [row.offset, row.timestamp, text(row.key), text(row.value), headers]


def text(value: bytes | None) -> str | None:
    if value is None:
        return None
    return value.hex() if len(value) <= 200 else f"sha256:{hashlib.sha256(value).hexdigest()}"


def test_there_are_files_of_every_codec() -> None:
    assert len(NAMES) == 13
    assert {read(name)[0][0].header.codec for name in PLAIN} == set(Codec)


@pytest.mark.parametrize("name", NAMES)
def test_every_record_is_there_and_every_checksum_is_right(name: str) -> None:
    batches, known = read(name)
    found: list[Row] = []
    for batch in batches:
        batch.check_crc()
        header = batch.header
        rows = decode(batch)
        walked = survey(header, records_of(batch), 0, 0)
        assert walked.records == len(rows) == header.records
        assert header.base_offset + walked.last_offset_delta == rows[-1].offset
        assert walked.keyless == sum(row.key is None for row in rows)
        assert walked.dense is not header.has_holes
        found += [] if header.is_control else rows
    assert [plain(row) for row in found] == known["records"]


@pytest.mark.parametrize("name", NAMES)
def test_read_committed_shows_what_librdkafka_shows(name: str) -> None:
    batches, known = read(name)
    committed = CommittedOnly([tuple(pair) for pair in known["aborted"]], decompress)
    alive = [batch for batch in batches if committed.admits(batch) and not batch.header.is_control]
    assert [row.offset for batch in alive for row in decode(batch)] == known["committed"]


@pytest.mark.parametrize("name", NAMES)
def test_regrouped_by_key_the_records_are_the_same(name: str) -> None:
    batches, known = read(name)
    by_offset = {row[0]: row[1:] for row in known["records"]}
    for batch in batches:
        if batch.header.is_control:
            continue
        seen: list[int] = []
        for new in regroup(batch.header, records_of(batch), Placement.by_key(5, null_keys_to=3)):
            new.batch.check_crc()
            assert new.batch.header.codec is batch.header.codec
            assert not new.batch.header.must_be_re_encoded
            offsets = list(new.source_offsets)
            rows = decode(new.batch)
            assert [plain(row)[1:] for row in rows] == [by_offset[offset] for offset in offsets]
            assert all((partition_of(row.key, 5) if row.key is not None else 3) == new.partition for row in rows)
            seen += offsets
        assert sorted(seen) == [row.offset for row in decode(batch)]


@pytest.mark.parametrize("name", NAMES)
def test_stamped_anew_the_records_and_their_size_are_the_same(name: str) -> None:
    for batch in read(name)[0]:
        if batch.header.is_control or batch.header.must_be_re_encoded:
            continue
        before = [row[1:] for row in decode(batch)]
        stamped = batch.restamp(ProducerStamp(77, 3, 12))
        stamped.check_crc()
        assert RecordBatch.read(stamped.buffer) == stamped
        assert stamped.buffer is batch.buffer
        assert [row[1:] for row in decode(stamped)] == before
        assert stamped.header.producer == (77, 3, 12)
        assert (stamped.header.base_offset, stamped.header.leader_epoch) == (0, -1)
        assert stamped.header.attributes == batch.header.codec


def test_marks_of_the_transactional_log() -> None:
    batches, known = read("java-transactions")
    assert sum(batch.header.is_control for batch in batches) == 5
    assert all(batch.header.is_transactional for batch in batches)
    assert len(known["records"]) > len(known["committed"])


def test_marks_of_the_compacted_log() -> None:
    batches, _ = read("compacted")
    assert batches[0].header.has_holes
    assert batches[0].header.base_offset > 0
    assert batches[0].header.delete_horizon == batches[0].header.base_timestamp
    assert batches[-1].header.delete_horizon is None


def test_log_append_time_is_the_highest_timestamp_for_all() -> None:
    (batch,), known = read("log-append-time")
    assert batch.header.has_append_time
    assert batch.header.must_be_re_encoded
    (new,) = regroup(batch.header, records_of(batch), Placement.all_to(0))
    assert new.batch.header.base_timestamp == new.batch.header.max_timestamp == known["records"][0][1]


@pytest.mark.parametrize("name", [name for name in PLAIN if not name.endswith("none")])
def test_a_batch_that_holds_more_than_the_limit_is_refused(name: str) -> None:
    batch = read(name)[0][0]
    whole = len(decompress(batch.header.codec, batch.payload))
    assert len(Decompressor(whole)(batch.header.codec, batch.payload)) == whole
    with pytest.raises(Exception, match="do not decompress as"):
        Decompressor(whole - 1)(batch.header.codec, batch.payload)


def test_a_batch_ends_where_its_length_says() -> None:
    first, second = read("java-none")[0]
    assert len(first.buffer) == HEADER_SIZE + len(first.payload)
    assert first.header.next_offset == second.header.base_offset
