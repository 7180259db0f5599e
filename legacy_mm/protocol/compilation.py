"""Compilation of kernels, once per host.

numba keeps the machine code under `$NUMBA_CACHE_DIR` if that is set, else in `__pycache__` beside the kernels, else (a
read-only installation) in the user's cache folder. Where none can be written, each process compiles: three seconds
instead of 0.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Compile for use without Python's lock, from and to the cache if there is a folder for one."""
    return _compile(kernel, inline=False)


def inlined(kernel: Kernel) -> Kernel:
    """Compile as `compiled` does, and inline the kernel into each kernel that calls it."""
    return _compile(kernel, inline=True)


def _compile(kernel: Kernel, *, inline: bool) -> Kernel:
    try:
        return cast(Kernel, numba.njit(kernel, nogil=True, forceinline=inline, cache=True))
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast(Kernel, numba.njit(kernel, nogil=True, forceinline=inline))
