"""The checkout that the laboratory is part of."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLES = CHECKOUT / "samples"
COMMANDS = CHECKOUT / "bin"
"""The folder of our start scripts."""
