"""The names that C gives the kernels, for a host where they are not compiled: of Cython, and of record_kernels.pxd."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

compiled = False
nogil = nullcontext()


def start_of(data: memoryview) -> memoryview:
    """Return what stands for the address of some bytes."""
    return data


writable_start_of = start_of


def copy_bytes(out: memoryview, at: int, data: memoryview, begin: int, end: int) -> None:
    """Copy `data[begin:end]` to `out`, from `at` on."""
    out[at : at + end - begin] = data[begin:end]


def new_tuple(made: Any, fields: tuple[Any, ...]) -> Any:
    """Return a tuple of this type."""
    return tuple.__new__(made, fields)


def fields_in(found: object) -> int:
    """Return the number of a tuple's fields; -1 for what is no tuple."""
    return len(found) if isinstance(found, tuple) else -1


def field_of(found: Any, number: int) -> Any:
    """Return a field of a tuple, which has it."""
    return found[number]


def bytes_at(data: memoryview, begin: int, end: int) -> bytes:
    """Return a copy of `data[begin:end]`."""
    return bytes(data[begin:end])
