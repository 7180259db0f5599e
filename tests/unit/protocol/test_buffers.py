"""Memory for what is written at once."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest
from crc32c import crc32c

from legacy_mm.protocol.buffers import CRC32, CRC32C, crc_table, int64_array, int64_columns, unwritten


def test_memory_that_can_be_written() -> None:
    found = unwritten(3)
    found[:] = b"abc"
    assert bytes(found) == b"abc"
    assert len(unwritten(0)) == 0


def test_integers_of_64_bits() -> None:
    found = int64_array(2)
    found[0], found[1] = -(1 << 63), (1 << 63) - 1
    assert list(found) == [-(1 << 63), (1 << 63) - 1]


def test_the_columns_of_a_table_do_not_overlap() -> None:
    columns = int64_columns(4, 3)
    for number, column in enumerate(columns):
        column[:] = int64_array(4)
        for at in range(4):
            column[at] = number
    assert [list(column) for column in columns] == [[0] * 4, [1] * 4, [2] * 4]


@pytest.mark.parametrize(("polynomial", "known"), [(CRC32, zlib.crc32), (CRC32C, crc32c)])
def test_the_tables_of_a_crc_give_that_of_one_byte(polynomial: int, known: Callable[[bytes], int]) -> None:
    table = crc_table(polynomial)
    for byte in (0, 1, 0x5A, 0xFF):
        assert table[byte ^ 0xFF] ^ 0xFFFFFF ^ 0xFFFFFFFF == known(bytes([byte]))
    assert len(table) == 8 * 256
