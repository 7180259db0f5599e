"""A row of the known differences from the legacy tool."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.explain.relevance import Relevance, always


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """One known difference."""

    id: str
    legacy: str
    """Behaviour of the legacy tool."""
    ours: str
    """Our behaviour."""
    reason: str
    test: str
    """`tests/...::name`."""
    applies: Relevance = always
    """The command lines that it concerns."""
