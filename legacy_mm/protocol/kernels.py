"""The kernels: compiled where the installation could compile them, else as the Python that they are, and slow."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

_NAME = "legacy_mm.protocol.record_kernels"
_SOURCE = Path(__file__).with_name("record_kernels.py")


def load_source() -> ModuleType:
    """Return a module made of the kernels' source, whatever is compiled."""
    loader = SourceFileLoader(_NAME, str(_SOURCE))
    spec = importlib.util.spec_from_file_location(_NAME, _SOURCE, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(_NAME, module)
    loader.exec_module(module)
    return module


def _load() -> tuple[ModuleType, str]:
    """Return the kernels, and why they are not compiled; empty if they are."""
    try:
        from legacy_mm.protocol import record_kernels
    except ImportError as error:  # made for another Python, C library or processor
        return load_source(), f"the compiled file cannot be loaded: {error}"
    return record_kernels, "" if record_kernels.COMPILED else "the installation had no C compiler that works"


if TYPE_CHECKING:
    from legacy_mm.protocol import record_kernels as record_kernels

    WHY_UNCOMPILED: str
else:
    record_kernels, WHY_UNCOMPILED = _load()
