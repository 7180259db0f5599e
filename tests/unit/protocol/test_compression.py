"""Codecs both ways, framing as Java reads it, and an end to what a few bytes may become."""

from __future__ import annotations

import gzip
import struct

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.compression import Codec, Decompressor, compress

COMPRESSING = [codec for codec in Codec if codec is not Codec.NONE]
LEVELS = [(Codec.GZIP, (-1, 1, 9)), (Codec.LZ4, (1, 9, 17)), (Codec.ZSTD, (-5, 1, 19))]
XERIAL = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
decompress = Decompressor()


@given(st.sampled_from(Codec), st.binary(max_size=200), st.integers(0, 2_000))
def test_there_and_back(codec: Codec, data: bytes, times: int) -> None:
    text = data * times
    assert decompress(codec, memoryview(compress(codec, memoryview(text)))) == text


@pytest.mark.parametrize("codec", COMPRESSING)
@pytest.mark.parametrize("size", [0, 1, 32 << 10, (32 << 10) + 1, 64 << 10, (64 << 10) + 1, 3_000_000])
def test_sizes_round_the_edges_of_blocks_and_of_the_first_buffer(codec: Codec, size: int) -> None:
    text = bytes(index * index % 251 for index in range(min(size, 100_000))) * (size // 100_000 or 1)
    assert decompress(codec, memoryview(compress(codec, memoryview(text)))) == text


@pytest.mark.parametrize(("codec", "level"), [(codec, level) for codec, levels in LEVELS for level in levels])
def test_levels(codec: Codec, level: int) -> None:
    text = memoryview(b"".join(b"%d " % (number * number) for number in range(20_000)))
    assert decompress(codec, memoryview(compress(codec, text, level))) == text


@pytest.mark.parametrize(("codec", "levels"), LEVELS)
def test_a_higher_level_makes_less(codec: Codec, levels: tuple[int, ...]) -> None:
    text = memoryview(b"".join(b"%d " % (number * number) for number in range(20_000)))
    assert len(compress(codec, text, levels[-1])) < len(compress(codec, text, levels[1]))


def test_the_default_level_of_lz4_is_java_s_fast_compressor() -> None:
    text = memoryview(b"".join(b"%d " % (number * number) for number in range(20_000)))
    assert compress(Codec.LZ4, text, 9) == compress(Codec.LZ4, text)
    assert compress(Codec.LZ4, text, -1) == compress(Codec.LZ4, text), "as librdkafka writes it"


def test_blocks_of_lz4_are_separate_as_java_demands() -> None:
    frame = bytes(compress(Codec.LZ4, memoryview(b"text" * 40_000)))
    assert frame[:4] == struct.pack("<I", 0x184D2204)
    assert frame[4] & 0x20, "a frame whose blocks lean on each other"
    assert bytes(cramjam.lz4.decompress(frame)) == b"text" * 40_000


def test_bytes_that_do_not_compress_grow_by_little() -> None:
    noise = bytes(cramjam.zstd.compress(b"".join(b"%d" % (number**3) for number in range(50_000))))
    assert len(compress(Codec.LZ4, memoryview(noise))) <= len(noise) + 15 + 8 * (len(noise) // (64 << 10) + 1)
    assert decompress(Codec.LZ4, memoryview(compress(Codec.LZ4, memoryview(noise)))) == noise


def test_snappy_is_read_with_and_without_framing() -> None:
    text = b"0123456789" * 10_000
    framed = bytes(compress(Codec.SNAPPY, memoryview(text)))
    assert framed.startswith(XERIAL)
    assert decompress(Codec.SNAPPY, memoryview(bytes(cramjam.snappy.compress_raw(text)))) == text
    assert decompress(Codec.SNAPPY, memoryview(framed + framed)) == text + text


def test_gzip_of_several_members() -> None:
    assert bytes(decompress(Codec.GZIP, memoryview(gzip.compress(b"one") + gzip.compress(b"two")))) == b"onetwo"


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_bomb_ends_at_the_limit(codec: Codec) -> None:
    bomb = memoryview(compress(codec, memoryview(bytes(5 << 20))))
    with pytest.raises(CorruptRecords, match=rf"do not decompress as {codec.name.lower()} into 4194304:"):
        Decompressor(4 << 20)(codec, bomb)
    assert len(Decompressor(5 << 20)(codec, bomb)) == 5 << 20


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_torn_payload_is_corrupt(codec: Codec) -> None:
    whole = memoryview(compress(codec, memoryview(b"some text, " * 100)))
    for end in range(len(whole)):
        if (codec, end) == (Codec.SNAPPY, len(XERIAL)):
            continue  # a stream of no blocks
        with pytest.raises(CorruptRecords):
            Decompressor(1 << 16)(codec, whole[:end])


@pytest.mark.parametrize("size", [-1, 0, 1 << 30])
def test_a_snappy_block_that_says_a_size_it_cannot_have(size: int) -> None:
    with pytest.raises(CorruptRecords, match=f"a block of {size} bytes"):
        Decompressor(1 << 16)(Codec.SNAPPY, memoryview(XERIAL + struct.pack(">i", size) + b"abc"))


def test_what_failed_leaves_the_decompressor_as_it_was() -> None:
    ours = Decompressor(1 << 26)
    good = memoryview(compress(Codec.ZSTD, memoryview(b"good")))
    with pytest.raises(CorruptRecords):
        ours(Codec.ZSTD, memoryview(b"bad"))
    assert bytes(ours(Codec.ZSTD, good)) == b"good"


def test_the_result_cannot_be_written_to() -> None:
    assert decompress(Codec.GZIP, memoryview(gzip.compress(b"text"))).readonly
