"""Messages of format 0 and 1: as old brokers and their producers wrote them, as we write them, and as nobody should."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.legacy_records import LegacyRecordBatch

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.handlers.api import CREATE_TIME, LOG_APPEND_TIME, NO_TIMESTAMP
from legacy_mm.handlers.batches import kind_of_times
from legacy_mm.protocol.compression import Codec, Decompressor, compress
from legacy_mm.protocol.message_set import (
    HeadersRefused,
    MessageSets,
    holds_messages,
    lz4_for_all,
    lz4_for_format_0,
    message_set,
    whole_messages,
)
from legacy_mm.protocol.record_batch import RecordBatch
from tests.unit.protocol.batches import NOW, ROOM, Row, build, decode, decompress, rows
from tests.unit.protocol.test_golden import text

GOLDEN = Path(__file__).parent / "golden" / "messages"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.log"))
LOG_APPEND_BIT = 0x08
HEAD = 18
"""Bytes of a message up to its attributes."""
CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]


class Read(NamedTuple):
    """A batch that was made, and what compressed its messages."""

    batch: RecordBatch
    codec: Codec


def message(
    offset: int, value: bytes | None, *, key: bytes | None = None, magic: int = 1, time: int = NOW, attributes: int = 0
) -> bytes:
    """A message by the letter of the format."""
    body = struct.pack(">bb", magic, attributes) + (struct.pack(">q", time) if magic else b"")
    for field in (key, value):
        body += struct.pack(">i", -1) if field is None else struct.pack(">i", len(field)) + field
    return struct.pack(">qiI", offset, 4 + len(body), zlib.crc32(body)) + body


def wrapper(offset: int, *inner: bytes, codec: Codec = Codec.GZIP, magic: int = 1, attributes: int = 0) -> bytes:
    value = bytes(compress(codec, memoryview(b"".join(inner))))
    return message(offset, value, magic=magic, attributes=codec | attributes)


def read(
    data: bytes, most_bytes: int = ROOM, *, check_crcs: bool = True, keeps_append_time: bool = False
) -> list[Read]:
    """The batches that are made of whole messages."""
    found = whole_messages(memoryview(data))
    assert found.size == len(data)
    sets = MessageSets(check_crcs=check_crcs, keeps_append_time=keeps_append_time)
    made = [Read(*each) for each in sets.batches(memoryview(data), most_bytes)]
    for batch, _ in made:
        batch.check_crc()
    assert found.next_offset == made[-1].batch.header.next_offset
    return made


def records(made: Sequence[Read]) -> list[Row]:
    return [row for batch, _ in made for row in decode(batch)]


# --- what old brokers and producers wrote


def log_of(name: str) -> bytes:
    return (GOLDEN / f"{name}.log").read_bytes()


def test_there_are_logs_of_each_format_and_codec() -> None:
    assert len(NAMES) == 14
    kinds = {(log_of(name)[16], read(log_of(name))[0].codec) for name in NAMES}
    assert kinds == {(magic, codec) for magic in (0, 1) for codec in CODECS}


@pytest.mark.parametrize("most_bytes", [0, 300, ROOM])
@pytest.mark.parametrize("name", NAMES)
def test_what_an_old_broker_has_is_read_as_librdkafka_reads_it(name: str, most_bytes: int) -> None:
    found: list[list[Any]] = []
    for batch, _ in read(log_of(name), most_bytes, keeps_append_time=True):
        kind = kind_of_times(batch.header)
        for row in decode(batch):
            time = batch.header.max_timestamp if kind == LOG_APPEND_TIME else row.timestamp
            found.append([row.offset, kind, time, text(row.key), text(row.value)])
    known = json.loads((GOLDEN / f"{name}.json").read_text())
    assert found == [[offset, kind, -1 if kind == NO_TIMESTAMP else time, *rest] for offset, kind, time, *rest in known]
    kinds = {kind for _, kind, *_ in found}
    assert kinds == {
        NO_TIMESTAMP if name.startswith(("0.8", "0.9")) else LOG_APPEND_TIME if "append" in name else CREATE_TIME
    }


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("append-time-gzip")])
def test_the_brokers_time_is_that_of_the_records_where_nobody_asks_whose_it_is(name: str) -> None:
    known = json.loads((GOLDEN / f"{name}.json").read_text())
    made = read(log_of(name))
    assert [row.timestamp for row in records(made)] == [time for _, _, time, *_ in known]
    assert not any(batch.header.must_be_re_encoded for batch, _ in made)


@pytest.mark.parametrize("name", ["0.8.2.2-none", "0.9.0.1-none", "0.10.2.2-none"])
def test_we_write_what_the_java_producer_of_the_release_wrote(name: str) -> None:
    log = log_of(name)
    ((batch, _),) = read(log)
    assert bytes(message_set(batch, decompress, log[16])) == log


@pytest.mark.parametrize("name", ["0.8.2.2-gzip", "0.9.0.1-gzip", "0.10.2.2-gzip"])
def test_another_implementation_reads_what_we_write(name: str) -> None:
    """It reads one message, here a wrapper; other codecs only with packages more."""
    log = log_of(name)
    for batch, codec in read(log):
        wrote = bytes(message_set(recompressed(batch, codec), decompress, log[16]))
        other = LegacyRecordBatch(memoryview(wrote), log[16])
        assert other.validate_crc()
        assert [(row.key, row.value) for row in other] == [(row.key, row.value) for row in decode(batch)]


def recompressed(batch: RecordBatch, codec: Codec) -> RecordBatch:
    return build([row._replace(offset=number) for number, row in enumerate(decode(batch))], codec=codec)


def test_a_frame_of_lz4_has_the_checksum_of_its_format() -> None:
    """That of the Java producer before 0.10 is another one."""
    old, new = (memoryview(log_of(f"{release}-lz4")) for release in ("0.9.0.1", "0.10.2.2"))
    frames = []
    for log, head in ((old, 26), (new, 34)):
        (size,) = struct.unpack_from(">i", log, head - 4)
        frames.append(log[head : head + size])
    mended = lz4_for_all(frames[0])
    assert [place for place, byte in enumerate(mended) if byte != frames[0][place]] == [6]
    assert lz4_for_format_0(mended) == frames[0]
    assert lz4_for_all(frames[1]) == frames[1]
    with pytest.raises(CorruptRecords):
        Decompressor(ROOM)(Codec.LZ4, frames[0])


# --- there and back


@given(rows(), st.sampled_from(CODECS), st.integers(0, 1), st.sampled_from([0, 100, ROOM]))
def test_there_and_back(written: list[Row], codec: Codec, magic: int, most_bytes: int) -> None:
    bare = [row._replace(headers=()) for row in written]
    made = read(bytes(message_set(build(bare, codec=codec), decompress, magic)), most_bytes)
    assert {each.codec for each in made} == {codec}
    assert records(made) == [row if magic else row._replace(timestamp=-1) for row in bare]
    assert all(batch.header.has_time is bool(magic) for batch, _ in made)


def test_a_record_with_headers_is_refused_as_by_the_java_producer() -> None:
    batch = build([Row(0, NOW, b"k", b"v"), Row(1, NOW, b"k", b"v", (("name", b""),))])
    with pytest.raises(HeadersRefused, match="Magic v1 does not support record headers"):
        message_set(batch, decompress, 1)


# --- how messages come together


@pytest.mark.parametrize("magic", [0, 1])
def test_offsets_in_a_wrapper_count_from_the_last_one_since_format_1(magic: int) -> None:
    """Compaction has taken some out, of the wrapper's begin, too."""
    given = (3, 5, 9) if magic else (103, 105, 109)
    inner = [message(offset, b"v", magic=magic) for offset in given]
    made = read(wrapper(109, *inner, magic=magic))
    assert [row.offset for row in records(made)] == [103, 105, 109]
    assert made[0].batch.header.has_holes


def test_what_follows_one_another_comes_together_as_far_as_there_is_room() -> None:
    plain = b"".join(message(offset, b"v" * 50) for offset in range(10))
    assert len(read(plain)) == 1
    assert [batch.header.records for batch, _ in read(plain, 180)] == [3, 3, 3, 1]
    wrapped = b"".join(wrapper(offset, message(0, b"v" * 50)) for offset in range(10))
    assert len(read(wrapped)) == 1
    assert [batch.header.records for batch, _ in read(wrapped, 180)] == [3, 3, 3, 1]
    together = wrapper(9, *(message(offset, b"v" * 50) for offset in range(10)))
    assert len(read(together, 180)) == 1, "one wrapper stays together"
    assert [each.codec for each in read(message(0, b"") + wrapper(1, message(0, b"")))] == [Codec.NONE, Codec.GZIP]


def test_a_batch_keeps_no_more_memory_than_it_needs() -> None:
    """A thousand partitions may bring a message each."""
    for data in (message(0, b"v"), wrapper(0, message(0, b"v"))):
        (each,) = read(data)
        assert memoryview(each.batch.buffer.obj).nbytes <= len(each.batch.buffer) + 100


def test_a_message_without_a_time_is_in_no_batch_with_others() -> None:
    """Only a batch says that its records have none."""
    data = message(0, b"", time=-1) + message(1, b"") + message(2, b"", magic=0) + message(3, b"", time=-1)
    assert [batch.header.has_time for batch, _ in read(data)] == [False, True, False]


def test_the_brokers_time_is_one_for_a_batch() -> None:
    data = b"".join(message(at, b"", time=NOW + at // 2, attributes=LOG_APPEND_BIT) for at in range(5)) + message(
        5, b""
    )
    kept = [batch.header for batch, _ in read(data, keeps_append_time=True)]
    assert [(each.records, each.max_timestamp, each.has_append_time) for each in kept] == [
        (2, NOW, True),
        (2, NOW + 1, True),
        (1, NOW + 2, True),
        (1, NOW, False),
    ]
    assert len(read(data)) == 1


def test_the_time_of_a_wrapper_is_that_of_its_messages_if_the_broker_set_it() -> None:
    inner = message(0, b"", time=5)
    for attributes, time in ((LOG_APPEND_BIT, NOW), (0, 5)):
        assert records(read(wrapper(0, inner, attributes=attributes)))[0].timestamp == time


# --- what is not whole, or not sound


@pytest.mark.parametrize("end", range(1, 2 * len(message(7, b"value"))))
def test_the_last_message_may_be_cut_off_anywhere(end: int) -> None:
    whole = message(7, b"value") * 2
    size, count, next_offset = whole_messages(memoryview(whole[:end]))
    assert (size, count) == ((0, 0) if end < len(whole) // 2 else (len(whole) // 2, 1))
    assert not count or next_offset == 8


def test_a_batch_behind_messages_ends_them() -> None:
    batch = bytes(build([Row(0, NOW, None, None)], base_offset=1).buffer)
    data = memoryview(message(0, b"") + batch)
    assert whole_messages(data) == (len(message(0, b"")), 1, 1)
    assert holds_messages(data)
    assert not holds_messages(memoryview(batch))
    assert not holds_messages(data[:16])


@pytest.mark.parametrize(
    "broken",
    [
        struct.pack(">qiIbb", 7, 13, 0, 1, 0) + bytes(20),
        struct.pack(">qiIbb", 7, -1, 0, 1, 0) + bytes(20),
        struct.pack(">qiIbb", -7, 14, 0, 0, 0) + bytes(20),
        struct.pack(">qiIbbii", 7, 14, 0, 0, 0, 5, -1) + bytes(20),
        struct.pack(">qiIbbii", 7, 14, 0, 0, 0, -1, 5) + bytes(20),
        struct.pack(">qiIbbii", 7, 20, 0, 0, 0, -1, 0) + bytes(20),
    ],
)
def test_a_first_message_that_cannot_be(broken: bytes) -> None:
    with pytest.raises(CorruptRecords, match=r"message at offset -?7: it is torn"):
        whole_messages(memoryview(broken))


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]


GOOD, NESTED = message(0, b"good"), wrapper(0, message(0, b"v"))
BAD = {
    "a wrong checksum": flipped(message(1, b"value"), -1 % len(message(1, b"value"))),
    "a wrong checksum ": flipped(wrapper(1, message(0, b"v")), 15),
    "a wrong checksum  ": wrapper(1, flipped(message(0, b"v"), 15)),
    "a wrapper in a wrapper": wrapper(1, NESTED),
    "messages of another format in its wrapper": wrapper(1, message(0, b"v", magic=0)),
    "a wrapper without whole messages": wrapper(1, message(0, b"v")[:-1]),
    "a wrapper without whole messages ": wrapper(1),
    "offsets that do not ascend to its own": wrapper(2, message(5, b""), message(3, b""), message(5, b"")),
    "no known codec in attributes 0x4": message(1, b"", attributes=4),
}


@pytest.mark.parametrize(("told", "bad"), BAD.items(), ids=BAD)
def test_what_is_broken_is_told_behind_what_is_sound(told: str, bad: bytes) -> None:
    sets, found = MessageSets(check_crcs=True), []
    with pytest.raises(CorruptRecords, match=rf"^message at offset [12]: {told.strip()}$"):
        for batch, _ in sets.batches(memoryview(GOOD + bad), ROOM):
            found += decode(batch)
    assert [row.value for row in found][:1] == [b"good"]


@pytest.mark.parametrize("told", [told for told in BAD if "checksum" in told])
def test_checksums_are_not_checked_where_nobody_asks(told: str) -> None:
    read(GOOD + BAD[told], check_crcs=False)


@pytest.mark.parametrize("codec", CODECS[1:])
@pytest.mark.parametrize("value", [b"", b"no frame", None])
def test_a_sound_wrapper_that_cannot_be_opened_is_named(codec: Codec, value: bytes | None) -> None:
    """The empty one is no frame, or holds nothing."""
    for magic in (0, 1):
        sets = MessageSets(check_crcs=True)
        with pytest.raises(CorruptRecords, match="message at offset 3"):
            list(sets.batches(memoryview(message(3, value, magic=magic, attributes=codec)), ROOM))
