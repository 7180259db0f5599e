"""The little jars of Java sources of ours that were compiled ahead (`runtime/jvm/compile_ahead.py` writes them)."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def path_for(text: str) -> Path:
    """Return the jar of this source, which may be missing: then whoever needs it compiles the source."""
    known = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Path(sys.prefix) / "share" / "legacy_mm" / f"compiled-{known}.jar"
