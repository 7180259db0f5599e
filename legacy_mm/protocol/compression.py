"""The codecs of record batches, both ways, as Java's clients read and write them.

Two need care. Snappy: Java writes snappy-java's ("xerial") frames, librdkafka one bare block; both are read. LZ4: Java
refuses frames whose blocks lean on each other, and the library makes such frames unless told otherwise.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from enum import IntEnum

import cramjam

from legacy_mm.base.errors import CorruptRecords

Bytes = bytes | bytearray | memoryview

DECOMPRESSED_LIMIT = 256 << 20
"""More than any sane batch: a producer's `max.request.size` bounds a batch before compression."""

_FIRST_SCRATCH = 1 << 20
_GROWTH = 4

_INT = struct.Struct(">i")
_XERIAL_HEADER = b"\x82SNAPPY\x00"
_XERIAL_VERSIONS = struct.pack(">ii", 1, 1)  # version, and the lowest version that can read it
_XERIAL_HEADER_SIZE = len(_XERIAL_HEADER) + len(_XERIAL_VERSIONS)
_XERIAL_BLOCK = 32 << 10

_LZ4_FAST = 1
_LZ4_DEFAULT = 9  # Kafka's default level, for which Java takes the fast compressor


class Codec(IntEnum):
    """Compression types, with the numbers they have in a header."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class Decompressor:
    """Decompresses into memory that it keeps for the next batch; one per thread."""

    def __init__(self, limit: int = DECOMPRESSED_LIMIT) -> None:
        self._limit = limit
        self._scratch = memoryview(bytearray(min(_FIRST_SCRATCH, limit)))

    def __call__(self, codec: Codec, data: memoryview) -> memoryview:
        """Decompress the records of a batch, valid until the next call; raise CorruptRecords if they are broken or
        beyond the limit.
        """
        if codec is Codec.NONE:
            return data
        scratch = self._scratch
        while True:
            try:
                size = _DECOMPRESS_INTO[codec](data, scratch)
            except cramjam.DecompressionError as error:
                # A full buffer and a broken frame are the same error; a broken one fails again, at the same place.
                if len(scratch) >= self._limit:
                    raise CorruptRecords(
                        f"{len(data)} bytes do not decompress as {codec.name.lower()} into {self._limit}: {error}"
                    ) from error
                scratch = memoryview(bytearray(min(_GROWTH * len(scratch), self._limit)))
            else:
                self._scratch = scratch
                return scratch[:size].toreadonly()

    def in_a_row(
        self, codec: Codec, data: memoryview, begins: memoryview, ends: memoryview, room: int
    ) -> tuple[memoryview, int]:
        """Decompress the parts of `data` between these places behind each other, as many as fit into `room` bytes.

        Return where they are, valid until the next call, and their number; `begins` and `ends` become their places
        there. A part that is broken ends the row, too.
        """
        if len(self._scratch) < room:
            self._scratch = memoryview(bytearray(room))
        scratch, into = self._scratch, _DECOMPRESS_INTO[codec]
        at = 0
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            try:
                size = into(data[begin:end], scratch[at:room])
            except cramjam.DecompressionError:
                return scratch, number
            begins[number], ends[number] = at, at + size
            at += size
        return scratch, len(begins)


def compress(codec: Codec, data: memoryview, level: int | None = None) -> Bytes:
    """Compress `data` for a batch of that codec; the level's meaning is the codec's, None is Kafka's default."""
    return _COMPRESS[codec](data, level)


def _compress_gzip(data: memoryview, level: int | None) -> Bytes:
    return memoryview(cramjam.gzip.compress(data, level=6 if level in (None, -1) else level))


def _compress_zstd(data: memoryview, level: int | None) -> Bytes:
    return memoryview(cramjam.zstd.compress(data, level=3 if level is None else level))


def _compress_snappy(data: memoryview, level: int | None) -> Bytes:
    out = bytearray(_XERIAL_HEADER + _XERIAL_VERSIONS)
    for at in range(0, len(data), _XERIAL_BLOCK):
        packed = memoryview(cramjam.snappy.compress_raw(data[at : at + _XERIAL_BLOCK]))
        out += _INT.pack(len(packed))
        out += packed
    return out


def _compress_lz4(data: memoryview, level: int | None) -> Bytes:
    level = _LZ4_FAST if level in (None, -1, _LZ4_DEFAULT) else level
    frame = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    frame.compress(bytes(data))  # it takes nothing else
    return memoryview(frame.finish())


def _decompress_snappy_into(data: memoryview, out: memoryview) -> int:
    if data[: len(_XERIAL_HEADER)] != _XERIAL_HEADER:
        return _decompress_snappy_block(data, out)
    at = written = 0
    while at < len(data):
        if data[at : at + len(_XERIAL_HEADER)] == _XERIAL_HEADER:  # streams may follow each other
            at += _XERIAL_HEADER_SIZE
            if at > len(data):
                raise cramjam.DecompressionError("a torn stream header")
            continue
        if at + _INT.size > len(data):
            raise cramjam.DecompressionError("a torn length")
        (size,) = _INT.unpack_from(data, at)
        at += _INT.size
        if not 0 < size <= len(data) - at:
            raise cramjam.DecompressionError(f"a block of {size} bytes where {len(data) - at} are left")
        written += _decompress_snappy_block(data[at : at + size], out[written:])
        at += size
    return written


def _decompress_snappy_block(block: memoryview, out: memoryview) -> int:
    if (size := cramjam.snappy.decompress_raw_len(block)) > len(out):
        raise cramjam.DecompressionError(f"a block says that it holds {size} bytes")
    return cramjam.snappy.decompress_raw_into(block, out[:size])


_COMPRESS: Mapping[Codec, Callable[[memoryview, int | None], Bytes]] = {
    Codec.NONE: lambda data, level: data,
    Codec.GZIP: _compress_gzip,
    Codec.SNAPPY: _compress_snappy,
    Codec.LZ4: _compress_lz4,
    Codec.ZSTD: _compress_zstd,
}
_DECOMPRESS_INTO: Mapping[Codec, Callable[[memoryview, memoryview], int]] = {
    Codec.GZIP: cramjam.gzip.decompress_into,
    Codec.SNAPPY: _decompress_snappy_into,
    Codec.LZ4: cramjam.lz4.decompress_into,
    Codec.ZSTD: cramjam.zstd.decompress_into,
}
