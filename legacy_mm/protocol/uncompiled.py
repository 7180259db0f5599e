"""The names that C gives the kernels, for a host where they are not compiled: of Cython, and of record_kernels.pxd."""

from __future__ import annotations

from contextlib import nullcontext

compiled = False
nogil = nullcontext()


def start_of(data: memoryview) -> memoryview:
    """Return what stands for the address of some bytes."""
    return data


writable_start_of = start_of


def copy_bytes(out: memoryview, at: int, data: memoryview, begin: int, end: int) -> None:
    """Copy `data[begin:end]` to `out`, from `at` on."""
    out[at : at + end - begin] = data[begin:end]


def bytes_at(data: memoryview, begin: int, end: int) -> bytes:
    """Return a copy of `data[begin:end]`."""
    return bytes(data[begin:end])
