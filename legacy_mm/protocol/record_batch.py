"""The header of a record batch (message format 2): read, check, write, stamp anew.

A batch is 61 bytes of header and then its records, compressed or not. The checksum (CRC-32C) covers everything from
the attributes on, so base offset and leader epoch may be changed without touching it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from crc32c import crc32c

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.compression import Bytes, Codec

MAGIC = 2
LOG_OVERHEAD = 12  # base offset and length; the length counts what follows it
HEADER_SIZE = 61

_FIELDS = struct.Struct(">qiibIhiqqqhii")
_CRC, _CRC_AT, _CHECKED_FROM = struct.Struct(">I"), 17, 21

CODEC_BITS = 0x07
_CODECS = tuple(Codec)
LOG_APPEND_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
_DELETE_HORIZON_BIT = 0x40
_NO_TIMESTAMP = -1


class ProducerStamp(NamedTuple):
    """The writer of a batch, and the sequence number of its first record."""

    producer_id: int
    epoch: int
    sequence: int


NO_PRODUCER = ProducerStamp(-1, -1, -1)


class Header(NamedTuple):
    """The fields of a header, in the order and with the types of the bytes."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int

    @classmethod
    def new(cls, records: int, base_timestamp: int, max_timestamp: int) -> Header:
        """Create the header of a producer without id and compression; `seal` sets length and checksum."""
        return cls(0, 0, -1, MAGIC, 0, 0, records - 1, base_timestamp, max_timestamp, *NO_PRODUCER, records)

    @property
    def codec(self) -> Codec:
        return _CODECS[self.attributes & CODEC_BITS]

    def with_codec(self, codec: Codec) -> Header:
        return self._replace(attributes=self.attributes & ~CODEC_BITS | codec)

    @property
    def has_append_time(self) -> bool:
        """Return True if the broker set the timestamps."""
        return bool(self.attributes & LOG_APPEND_BIT)

    def with_append_time(self, timestamp: int) -> Header:
        """Return the header with one time for all records, as a broker sets it, instead of their own."""
        return self._replace(attributes=self.attributes | LOG_APPEND_BIT, max_timestamp=timestamp)

    @property
    def has_time(self) -> bool:
        """Return True if any of its records has a timestamp."""
        return self.max_timestamp != _NO_TIMESTAMP

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def delete_horizon(self) -> int | None:
        """When tombstones of this compacted batch may go; it takes the place of the base timestamp."""
        return self.base_timestamp if self.attributes & _DELETE_HORIZON_BIT else None

    @property
    def producer(self) -> ProducerStamp:
        return ProducerStamp(self.producer_id, self.producer_epoch, self.base_sequence)

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Return the offset to read next; right also when compaction removed the last records."""
        return self.last_offset + 1

    @property
    def has_holes(self) -> bool:
        """Return True if compaction removed records: brokers refuse such a batch from a producer."""
        return self.records != self.last_offset_delta + 1

    @property
    def must_be_re_encoded(self) -> bool:
        """Return True if a new header is not enough for a producer's batch: holes, or timestamps that the broker
        set.
        """
        return self.has_holes or self.has_append_time

    def check(self) -> None:
        """Raise CorruptRecords for values that no broker writes."""
        for broken, what in _FAULTS:
            if broken(self):
                raise CorruptRecords(f"record batch at offset {self.base_offset}: {what.format(self)}")


_FAULTS: tuple[tuple[Callable[[Header], bool], str], ...] = (
    (lambda header: header.magic != MAGIC, "format {0.magic} instead of 2"),
    (lambda header: header.length < HEADER_SIZE - LOG_OVERHEAD, "a length of {0.length} is less than a header"),
    (lambda header: header.base_offset < 0, "its offset is negative"),
    (lambda header: header.attributes & CODEC_BITS >= len(_CODECS), "no known codec in attributes {0.attributes:#x}"),
    (lambda header: header.last_offset_delta < 0, "last offset delta {0.last_offset_delta}"),
    (
        lambda header: not 0 <= header.records <= header.last_offset_delta + 1,
        "{0.records} records with a last offset delta of {0.last_offset_delta}",
    ),
)


class RecordBatch(NamedTuple):
    """A header and the bytes of the whole batch, this header included."""

    header: Header
    buffer: memoryview

    @classmethod
    def read(cls, buffer: memoryview) -> RecordBatch:
        """Read the batch that fills `buffer` exactly; raise CorruptRecords. The checksum is not checked."""
        if len(buffer) < HEADER_SIZE:
            raise CorruptRecords(f"record batch of {len(buffer)} bytes: a header alone has {HEADER_SIZE}")
        header = Header._make(_FIELDS.unpack_from(buffer))
        header.check()
        if len(buffer) != LOG_OVERHEAD + header.length:
            raise CorruptRecords(
                f"record batch at offset {header.base_offset}: {len(buffer)} bytes instead of "
                f"{LOG_OVERHEAD + header.length}"
            )
        return cls(header, buffer)

    @property
    def payload(self) -> memoryview:
        """The records, compressed if the header says so."""
        return self.buffer[HEADER_SIZE:]

    def apart(self) -> RecordBatch:
        """Copy the batch into memory of its own: a part keeps the whole answer alive that it came in."""
        return RecordBatch(self.header, memoryview(bytearray(self.buffer)))

    def check_crc(self) -> None:
        """Raise CorruptRecords unless the checksum is right (`check.crcs`)."""
        if not is_right(self.header.crc, self.buffer):
            found = crc32c(self.buffer[_CHECKED_FROM:])
            raise CorruptRecords(
                f"record batch at offset {self.header.base_offset}: checksum {self.header.crc:#010x}, "
                f"its bytes have {found:#010x}"
            )

    def restamp(self, producer: ProducerStamp = NO_PRODUCER, *, is_transactional: bool = False) -> RecordBatch:
        """Rewrite this batch in place as `producer` would send it, with the same records.

        Not for batches that must be re-encoded, nor for control batches. The transactional bit is that of the
        producer's transaction, not of the source's. The payload is not read unless a field under the checksum changes.
        """
        header = self.header
        assert not (header.is_control or header.must_be_re_encoded), "this batch cannot be sent as it is"
        attributes = header.attributes & CODEC_BITS | (TRANSACTIONAL_BIT if is_transactional else 0)
        times = (header.last_offset_delta, header.base_timestamp, header.max_timestamp)
        stamped = Header(0, header.length, -1, header.magic, header.crc, attributes, *times, *producer, header.records)
        if header.attributes == attributes and header.producer == producer:
            _FIELDS.pack_into(self.buffer, 0, *stamped)
            return RecordBatch(stamped, self.buffer)
        return _write(stamped, self.buffer)


def is_right(crc: int, batch: memoryview) -> bool:
    """Return True if this is the checksum of the bytes of a whole batch."""
    return bool(crc32c(batch[_CHECKED_FROM:]) == crc)


def seal(header: Header, buffer: memoryview) -> RecordBatch:
    """Write `header` over the first bytes of `buffer`, with the length and checksum of what is there."""
    return _write(header._replace(length=len(buffer) - LOG_OVERHEAD), buffer)


def _write(header: Header, buffer: memoryview) -> RecordBatch:
    _FIELDS.pack_into(buffer, 0, *header)
    crc = crc32c(buffer[_CHECKED_FROM:])
    _CRC.pack_into(buffer, _CRC_AT, crc)
    return RecordBatch(header._replace(crc=crc), buffer)


def assemble(header: Header, payload: Bytes) -> RecordBatch:
    """Assemble a new batch: `header` with the length and checksum of `payload`, followed by it."""
    return seal(header, memoryview(bytearray(HEADER_SIZE) + payload))
