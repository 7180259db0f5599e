"""Memory that is overwritten at once: megabytes need not be zeroed before."""

from __future__ import annotations

import ctypes

_INT64_SIZE = 8
CRC32, CRC32C = 0xEDB88320, 0x82F63B78
"""Polynomials, their bits in reverse: that of zlib, for messages, and Castagnoli's, for record batches."""

_new_bytearray = ctypes.pythonapi.PyByteArray_FromStringAndSize
_new_bytearray.restype = ctypes.py_object
_new_bytearray.argtypes = ctypes.c_void_p, ctypes.c_ssize_t


def unwritten(size: int) -> memoryview:
    """Return uninitialized memory of `size` bytes; raise MemoryError."""
    return memoryview(_new_bytearray(None, size))


def int64_array(count: int) -> memoryview:
    """Return `count` uninitialized integers of 64 bits; raise MemoryError."""
    return unwritten(_INT64_SIZE * count).cast("q")


def int64_columns(rows: int, columns: int) -> list[memoryview]:
    """Return the columns of a table of 64-bit integers, each as an array of `rows` integers; raise MemoryError."""
    table = int64_array(rows * columns)
    return [table[rows * column : rows * (column + 1)] for column in range(columns)]


def crc_table(polynomial: int) -> memoryview:
    """Return the eight tables of a CRC that takes eight bytes at a time, of 256 integers of 32 bits each."""
    table = unwritten(8 * 256 * 4).cast("I")
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
        table[byte] = crc
    for at in range(256, 8 * 256):
        before = table[at - 256]
        table[at] = before >> 8 ^ table[before & 0xFF]
    return table
