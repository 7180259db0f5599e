"""Offset syncs: which source offset became which target offset."""

from __future__ import annotations

from legacy_mm.features.feature import Feature
from legacy_mm.features.offset_syncs import flags

OFFSET_SYNCS = Feature("offset_syncs", flags.FLAGS, flags.read)
"""No duty: it stands between the streams and a cluster, in `flow/offset_features.py`."""
