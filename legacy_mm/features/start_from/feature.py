"""Start at a time: partitions without a position begin at the first record that is as old, or younger."""

from __future__ import annotations

from legacy_mm.features.feature import Feature
from legacy_mm.features.start_from import flags

START_FROM = Feature("start_from", flags.FLAGS, flags.read, concerns_both_ends=False)
