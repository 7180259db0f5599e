"""Offsets in MirrorMaker 2's own topic."""

from __future__ import annotations

from legacy_mm.features.connect_offsets.connect_offset_settings import ConnectOffsetSettings
from legacy_mm.features.feature import Feature

CONNECT_OFFSETS: Feature[ConnectOffsetSettings] = Feature(
    "connect_offsets", flags=(), read=lambda values: None, concerns_both_ends=False
)
"""The topic of MirrorMaker 2's workers from which the flow resumes; no flag has it, only MirrorMaker 2's file."""
