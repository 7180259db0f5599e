"""One record as Python values, out of a batch and into a batch of its own. Slow: for records that go another way."""

from __future__ import annotations

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


def batch_of(record: SingleRecord, codec: Codec, level: int | None = None) -> RecordBatch:
    """Create a batch that holds this record alone."""
    body = [b"\0", _varint(0), _varint(0), _field(record.key), _field(record.value), _varint(len(record.headers))]
    for name, value in record.headers:
        body += [_field(name.encode()), _field(value)]
    written = b"".join(body)
    header = Header.new(1, record.timestamp, record.timestamp)
    return recompress(header, memoryview(_varint(len(written)) + written), codec, level)


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
