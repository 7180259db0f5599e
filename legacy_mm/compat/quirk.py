"""A row of the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.compat.relevance import Applies, always


@dataclass(frozen=True, slots=True)
class Quirk:
    """One known difference."""

    id: str
    legacy: str
    """What the legacy tool does."""
    ours: str
    """What we do."""
    reason: str
    test: str
    """`tests/...::name`."""
    applies: Applies = always
    """Which command lines it matters to."""
