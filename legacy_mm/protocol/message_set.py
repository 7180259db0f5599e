"""Message sets of format 0 and 1, as brokers before 0.11 have them, into record batches and out of them.

    for batch, codec in MessageSets(check_crcs=True).batches(data, most_bytes=960 << 10): ...
    data = message_set(batch, decompress, magic=1)

Topics of later brokers may hold such messages, too (`message.format.version`). A message has a checksum of its own,
and no headers; in format 0 it has no timestamp. Compressed messages lie in the value of another one, the wrapper, whose
offset is that of the last of them. The format is that of "Old Message Format" in Kafka's documentation; what is not
said there is as `AbstractLegacyRecordBatch` and `KafkaLZ4BlockInputStream` of Java's client read it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from legacy_mm.base.errors import CorruptRecords, StreamFailure
from legacy_mm.protocol.buffers import unwritten
from legacy_mm.protocol.compression import Bytes, Codec, Decompressor, compress
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.record_batch import (
    CODEC_BITS,
    LOG_APPEND_BIT,
    LOG_OVERHEAD,
    MAGIC,
    Header,
    RecordBatch,
    seal,
)
from legacy_mm.protocol.records import batch_records, survey

NO_HEADERS = (
    "Magic v1 does not support record headers: the brokers of the target are older than 0.11 (a message handler can "
    "take the headers off)"
)

_OFFSET_AND_LENGTH = struct.Struct(">qi")
_LEAST_LENGTH = 14
"""The bytes of a message in format 0, from its checksum on."""
_MAGIC_AT, _ATTRIBUTES_AT = 16, 17
_NO_TIME = -1
_OFFSETS = (1 << 63) - 1
_NULL, _INT, _LONG = struct.pack(">i", -1), struct.Struct(">i"), struct.Struct(">q")

_LZ4_MAGIC = 4
_LZ4_HAS_SIZE = 0x08
_LZ4_FLAGS, _LZ4_SIZE = 2, 8
_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
"""The constants of xxHash."""
_BITS_32 = 0xFFFFFFFF

_FAULTS = {
    kernels.TORN_RECORD: "it is torn",
    kernels.OFFSET_OUT_OF_PLACE: "offsets that do not ascend to its own",
    kernels.WRONG_CHECKSUM: "a wrong checksum",
    kernels.WRAPPED_TWICE: "a wrapper in a wrapper",
    kernels.OTHER_FORMAT: "messages of another format in its wrapper",
}


class HeadersRefused(StreamFailure):
    """A record has headers, for which the target has no place."""


class FoundMessages(NamedTuple):
    """The whole messages of an answer, up to the first of another format."""

    size: int
    """Their bytes."""
    messages: int
    """Their number; a wrapper counts as one."""
    next_offset: int
    """One past the last of them."""


def holds_messages(data: memoryview) -> bool:
    """Return True if these bytes begin with a message of format 0 or 1."""
    return len(data) > _MAGIC_AT and data[_MAGIC_AT] < MAGIC


def whole_messages(data: memoryview) -> FoundMessages:
    """Find the whole messages that these bytes begin with; raise CorruptRecords if the first one is broken."""
    size, count, last_offset = kernels.skip_messages(data)
    if not count and len(data) >= LOG_OVERHEAD:
        offset, length = _OFFSET_AND_LENGTH.unpack_from(data)
        if offset < 0 or length < _LEAST_LENGTH or length <= len(data) - LOG_OVERHEAD:
            raise _corrupt(offset, kernels.TORN_RECORD)
    return FoundMessages(size, count, last_offset + 1)


class _Piece(NamedTuple):
    """Messages that are read in one go: those of a wrapper, or of a set from one on."""

    codec: Codec
    data: memoryview
    begin: int
    magic: int
    base_offset: int
    """Offsets count from here."""
    last_offset: int
    """The highest that there may be."""
    append_time: int
    """The broker's time for all of them, or -1."""
    room: int
    """Bytes that the records of the wrapper need, or the first one of a set."""
    wrapper_size: int
    """Bytes of the wrapper; 0: they have none."""

    def room_of(self, size: int, most_bytes: int) -> int:
        """Return the room for this and what follows, `size` bytes in all: no more than needed, and than the limit."""
        if self.wrapper_size:
            needed = self.room * -(-size // self.wrapper_size)
        else:
            needed = size + size // (LOG_OVERHEAD + _LEAST_LENGTH) * kernels.MESSAGE_GREW
        return max(self.room, min(most_bytes, needed))


class MessageSets:
    """Makes batches of the messages of one source. For one thread."""

    def __init__(self, *, check_crcs: bool, keeps_append_time: bool = False) -> None:
        """Take the settings of the source. `keeps_append_time`: where the broker set a time, a batch has no other."""
        self._decompress = Decompressor()
        self._check_crcs = check_crcs
        self._keeps_append_time = keeps_append_time

    def batches(self, data: memoryview, most_bytes: int) -> Iterator[tuple[RecordBatch, Codec]]:
        """Yield batches that are not compressed, and what compressed their messages at the source.

        `data` are whole messages. Those that follow one another come as one batch, with their offsets, of at most
        `most_bytes` unless they were together in a wrapper. Raise CorruptRecords after the last sound one.
        """
        run: kernels.MessageRun | None = None
        codec = Codec.NONE
        at = 0
        try:
            while at < len(data):
                piece = self._piece(data, at)
                if run is not None and codec is not piece.codec:
                    yield _batch(run), codec
                    run = None
                codec, inner = piece.codec, piece.begin
                while True:
                    if run is None:
                        room = piece.room_of(len(data) - at, most_bytes)
                        run = kernels.MessageRun(room, self._check_crcs, self._keeps_append_time)
                    inner = _added(run, piece, inner)
                    if not run.is_full:
                        break
                    yield _batch(run), codec
                    run = None
                    if not piece.wrapper_size:
                        break  # the next message may need more room
                at = at + piece.wrapper_size if piece.wrapper_size else inner
        except CorruptRecords:
            if run is not None and run.count:
                yield _batch(run), codec
            raise
        if run is not None:
            yield _batch(run), codec

    def _piece(self, data: memoryview, at: int) -> _Piece:
        """Open the wrapper at `at`; without one, take the messages from there on. Raise CorruptRecords."""
        magic, attributes = data[at + _MAGIC_AT], data[at + _ATTRIBUTES_AT]
        time, _, _, value, size, after = kernels.read_message(data, at)
        if not attributes & CODEC_BITS:
            return _Piece(Codec.NONE, data, at, magic, 0, _OFFSETS, _NO_TIME, after - at + kernels.MESSAGE_GREW, 0)
        offset, _ = _OFFSET_AND_LENGTH.unpack_from(data, at)
        codec = attributes & CODEC_BITS
        if codec > Codec.LZ4:
            raise CorruptRecords(f"message at offset {offset}: no known codec in attributes {attributes:#x}")
        if self._check_crcs and not kernels.has_right_checksum(data, at, after):
            raise _corrupt(offset, kernels.WRONG_CHECKSUM)
        opened = self._opened(Codec(codec), data[value : value + max(size, 0)], magic, offset)
        end, count, last = kernels.skip_messages(opened)
        if end != len(opened) or not count:
            raise CorruptRecords(f"message at offset {offset}: a wrapper without whole messages")
        by_broker = magic == 1 and attributes & LOG_APPEND_BIT
        room = len(opened) + count * kernels.MESSAGE_GREW
        base = offset - last if magic == 1 else 0
        return _Piece(Codec(codec), opened, 0, magic, base, offset, time if by_broker else _NO_TIME, room, after - at)

    def _opened(self, codec: Codec, value: memoryview, magic: int, offset: int) -> memoryview:
        try:
            return self._decompress(codec, lz4_for_all(value) if codec is Codec.LZ4 and magic == 0 else value)
        except CorruptRecords as error:
            raise CorruptRecords(f"message at offset {offset}: {error}") from error


def _added(run: kernels.MessageRun, piece: _Piece, at: int) -> int:
    """Add what belongs to the run, from `at` on; return where the rest begins. Raise CorruptRecords."""
    limits = piece.base_offset, piece.last_offset, piece.append_time
    after = kernels.add_messages(run, piece.data, at, piece.magic, piece.wrapper_size > 0, *limits)
    if after < 0:
        offset = piece.last_offset if piece.wrapper_size else run.last_offset + 1
        raise _corrupt(offset, after)
    return int(after)


def _batch(run: kernels.MessageRun) -> RecordBatch:
    header = Header.new(run.count, run.base_timestamp, run.max_timestamp)
    header = header._replace(base_offset=run.first_offset, last_offset_delta=run.last_offset - run.first_offset)
    if run.has_append_time:
        header = header.with_append_time(run.max_timestamp)
    return seal(header, run.memory[: run.size])


def _corrupt(offset: int, fault: int) -> CorruptRecords:
    return CorruptRecords(f"message at offset {offset}: {_FAULTS[fault]}")


def message_set(batch: RecordBatch, decompress: Decompressor, magic: int) -> Bytes:
    """Return the records of a batch as a producer sends them in format 0 or 1, compressed as the batch is.

    Raise HeadersRefused where one has headers, as Java's producer does; CorruptRecords.
    """
    header = batch.header
    records = decompress(header.codec, batch.payload)
    survey(header, records, 0, 0)
    out = unwritten(len(records) + header.records * kernels.MESSAGE_GROWTH)
    size = kernels.write_messages(batch_records(header, records), magic, out)
    if size == kernels.HAS_HEADERS:
        raise HeadersRefused(NO_HEADERS)
    if header.codec is Codec.NONE:
        return out[:size]
    value = compress(header.codec, out[:size])
    if header.codec is Codec.LZ4 and magic == 0:
        value = lz4_for_format_0(value)
    return _wrapper(header, magic, value)


def _wrapper(header: Header, magic: int, value: Bytes) -> bytearray:
    """Return a message around compressed ones."""
    time = _LONG.pack(header.max_timestamp) if magic == 1 else b""
    checked = b"".join((bytes((magic, header.codec)), time, _NULL, _INT.pack(len(value)), value))
    crc = _INT.pack(kernels.crc32(memoryview(checked)))
    return bytearray(_OFFSET_AND_LENGTH.pack(header.records - 1, len(crc) + len(checked)) + crc + checked)


def lz4_for_all(frame: memoryview) -> memoryview:
    """Return a frame of format 0 with the right checksum of its head: Kafka computed it of its magic number, too."""
    return _with_lz4_checksum(frame, _LZ4_MAGIC)


def lz4_for_format_0(frame: Bytes) -> memoryview:
    """Return a frame with the checksum of its head that brokers before 0.10 want."""
    return _with_lz4_checksum(frame, 0)


def _with_lz4_checksum(frame: Bytes, checked_from: int) -> memoryview:
    """Replace the checksum of the head of a frame; nothing where there is no such head."""
    made = bytearray(frame)
    if len(made) > _LZ4_MAGIC + _LZ4_FLAGS + _LZ4_SIZE:
        end = _LZ4_MAGIC + _LZ4_FLAGS + (_LZ4_SIZE if made[_LZ4_MAGIC] & _LZ4_HAS_SIZE else 0)
        made[end] = _xxh32(made[checked_from:end]) >> 8 & 0xFF
    return memoryview(made)


def _xxh32(data: bytes | bytearray) -> int:
    """Return xxHash's 32 bits of less than 16 bytes, with seed 0."""
    assert len(data) < 16
    first, second, third, fourth, fifth = _PRIMES
    words = len(data) // 4 * 4
    hashed = fifth + len(data)
    for (word,) in struct.iter_unpack("<I", data[:words]):
        hashed = _rotated(hashed + word * third, 17) * fourth
    for byte in data[words:]:
        hashed = _rotated(hashed + byte * fifth, 11) * first
    hashed &= _BITS_32
    hashed = (hashed ^ hashed >> 15) * second & _BITS_32
    hashed = (hashed ^ hashed >> 13) * third & _BITS_32
    return hashed ^ hashed >> 16


def _rotated(value: int, bits: int) -> int:
    value &= _BITS_32
    return (value << bits | value >> 32 - bits) & _BITS_32
