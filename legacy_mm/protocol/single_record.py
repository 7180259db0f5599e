"""Records as Python values, out of a batch and into a batch of their own. Slow: for records that go another way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import Header, RecordBatch
from legacy_mm.protocol.record_fields import fields
from legacy_mm.protocol.records import recompress


class SingleRecord(NamedTuple):
    """The content of a record."""

    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def first_record(header: Header, records: memoryview) -> SingleRecord:
    """Return the first of some decompressed records; raise CorruptRecords, and UnicodeDecodeError for a header's
    name.
    """
    found = next(fields(header, records, from_offset=header.base_offset, most=1, most_bytes=1))
    headers = tuple((name.decode(), value) for name, value in found.headers[0])
    return SingleRecord(found.timestamps[0], found.keys[0], found.values[0], headers)


def batch_of(records: Sequence[SingleRecord], codec: Codec, level: int | None = None) -> RecordBatch:
    """Create a batch that holds these records, one at least."""
    base = records[0].timestamp
    body = b"".join(_encode(record, delta, record.timestamp - base) for delta, record in enumerate(records))
    header = Header.new(len(records), base, max(record.timestamp for record in records))
    return recompress(header, memoryview(body), codec, level)


def _encode(record: SingleRecord, offset_delta: int, timestamp_delta: int) -> bytes:
    parts = [b"\0", _varint(timestamp_delta), _varint(offset_delta)]
    parts += [_field(record.key), _field(record.value), _varint(len(record.headers))]
    for name, value in record.headers:
        parts.append(encoded_header(name.encode(), value))
    written = b"".join(parts)
    return _varint(len(written)) + written


def encoded_header(name: bytes, value: bytes | None) -> bytes:
    """Return a header as a record of format 2 has it."""
    return _field(name) + _field(value)


def _field(content: bytes | None) -> bytes:
    return _varint(-1) if content is None else _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Encode a zigzag varint, as Kafka writes sizes."""
    rest = value << 1 ^ value >> 63
    written = bytearray()
    while rest > 0x7F:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    written.append(rest)
    return bytes(written)
