"""Exactly once: records and their positions are committed at the target together."""

from __future__ import annotations

from legacy_mm.features.exactly_once import flags
from legacy_mm.features.feature import Feature

EXACTLY_ONCE = Feature("exactly_once", flags.FLAGS, flags.read)
