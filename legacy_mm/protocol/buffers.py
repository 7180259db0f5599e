"""Memory that is overwritten at once: megabytes need not be zeroed before."""

from __future__ import annotations

import ctypes

_INT64_SIZE = 8

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
