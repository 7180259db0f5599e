"""Checkpoints: offsets of groups, translated, and groups of the target that follow them."""

from __future__ import annotations

from legacy_mm.features.checkpoints import flags
from legacy_mm.features.feature import Feature

CHECKPOINTS = Feature(
    "checkpoints",
    flags.FLAGS,
    flags.read,
    expressions=lambda settings: {"groups": settings.groups.include, "groups.exclude": settings.groups.exclude},
)
"""No duty: it reads what the streams have told offset syncs, in `flow/offset_features.py`."""
