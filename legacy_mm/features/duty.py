"""A duty: what a feature does beside the copying, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from legacy_mm.base.clock import Deadline
from legacy_mm.policies.changes import Change, Inspection

ChangeNote = Callable[[Sequence[Change]], None]
"""Writes down changes that were made; raises HostError."""


class Duty(Protocol):
    """Compares both clusters; changes nothing."""

    @property
    def name(self) -> str:
        """Return the name in logs and metrics."""

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        """Find what must change for these topics of the source; raises LegacyMMError if that cannot be found out."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A duty and its schedule."""

    duty: Duty
    interval: float
    """Seconds; infinite: only before copying, until it has succeeded."""
    before_copying: bool = False
    """Run also when topics are found, before their first record is copied."""
    note: ChangeNote | None = None
    """Called with what the target has changed, for any duty."""
