"""Kernels by Java's own answers, compiled and as the Python that they are. All of them together: test_kernels.py."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.protocol.kernels import load_source, record_kernels

FORMS = pytest.mark.parametrize("kernels", [record_kernels, load_source()], ids=["as installed", "Python"])
JAVAS_HASHES = [
    (b"21", -973932308),
    (b"foobar", -790332482),
    (b"a-little-bit-long-string", -985981536),
    (b"a-little-bit-longer-string", -1486304829),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
    (b"abc", 479470107),
]
"""Of Kafka's UtilsTest."""


@FORMS
@pytest.mark.parametrize(("key", "found"), JAVAS_HASHES)
def test_murmur2_is_javas(kernels: ModuleType, key: bytes, found: int) -> None:
    assert kernels.murmur2(memoryview(key)) % (1 << 32) == found % (1 << 32)


@FORMS
@pytest.mark.parametrize(("key", "found"), JAVAS_HASHES)
@pytest.mark.parametrize("partitions", [1, 2, 7, 1000])
def test_a_key_has_the_partition_that_javas_producer_gives_it(
    kernels: ModuleType, key: bytes, found: int, partitions: int
) -> None:
    """`toPositive` cuts the sign off; it takes no absolute value."""
    assert kernels.partition_of(memoryview(key), partitions) == (found & 0x7FFFFFFF) % partitions


def zigzag(value: int) -> bytes:
    """A varint as Kafka writes it, made without our code."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


@FORMS
@given(value=st.integers(-(1 << 63), (1 << 63) - 1), before=st.binary(max_size=3))
def test_a_varint_is_read_where_it_stands(kernels: ModuleType, value: int, before: bytes) -> None:
    data = before + zigzag(value)
    found, after = kernels.read_varint(memoryview(data + b"\xff"), len(before), 10)
    assert (found, after) == (value, len(data))
    assert kernels.varint_size(value) == len(data) - len(before)


@FORMS
@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 9, b"\xff" * 11, b"\x80" * 10 + b"\x01"])
def test_a_varint_that_does_not_end_is_torn(kernels: ModuleType, data: bytes) -> None:
    """Its position is none, and what lies behind its bytes is not looked at."""
    assert kernels.read_varint(memoryview(data), 0, 10) == (0, kernels.TORN)


@FORMS
def test_what_does_not_fit_is_dropped_as_by_java(kernels: ModuleType) -> None:
    """An int of five bytes has 35 bits."""
    assert kernels.read_varint(memoryview(b"\xff\xff\xff\xff\x7f"), 0, 5) == (-(1 << 31), 5)
    assert kernels.read_varint(memoryview(zigzag(1 << 40)), 0, 5) == (0, kernels.TORN)
