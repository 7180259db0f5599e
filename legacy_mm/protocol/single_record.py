"""One record as Python values, out of a batch and into a batch of its own. Slow: for records that go another way."""

from __future__ import annotations

from typing import NamedTuple

from legacy_mm.errors import CorruptRecords
from legacy_mm.protocol import record_kernels as kernels
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import Header, RecordBatch
from legacy_mm.protocol.records import as_array, recompress


class SingleRecord(NamedTuple):
    """What a record holds, wherever it is."""

    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def first_record(header: Header, records: memoryview) -> SingleRecord:
    """The first of some decompressed records; raises CorruptRecords, and UnicodeDecodeError for a header's name."""
    data = as_array(records)
    delta, _, at, _, _, end = kernels.read_record(data, 0, len(records))
    if end == kernels.TORN:
        raise CorruptRecords(f"record batch at offset {header.base_offset}: a record is torn")

    def number() -> int:
        nonlocal at
        found, at = kernels.read_varint(data, at, end, 5)
        return int(found)

    def field() -> bytes | None:
        nonlocal at
        size = number()
        begin, at = at, at + max(size, 0)
        return bytes(records[begin:at]) if size >= 0 else None

    key, value = field(), field()
    headers = tuple(((field() or b"").decode(), field()) for _ in range(number()))
    timestamp = header.max_timestamp if header.has_append_time else header.base_timestamp + int(delta)
    return SingleRecord(timestamp, key, value, headers)


def batch_of(record: SingleRecord, codec: Codec, level: int | None = None) -> RecordBatch:
    """A batch that holds this record alone."""
    body = [b"\0", _varint(0), _varint(0), _field(record.key), _field(record.value), _varint(len(record.headers))]
    for name, value in record.headers:
        body += [_field(name.encode()), _field(value)]
    written = b"".join(body)
    header = Header.new(1, record.timestamp, record.timestamp)
    return recompress(header, memoryview(_varint(len(written)) + written), codec, level)


def _field(content: bytes | None) -> bytes:
    return _varint(-1) if content is None else _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Zigzag, as Kafka writes sizes."""
    rest = value << 1 ^ value >> 63
    written = bytearray()
    while rest > 0x7F:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    written.append(rest)
    return bytes(written)
