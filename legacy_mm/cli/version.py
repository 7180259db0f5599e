"""The commit that this program was made of."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import legacy_mm

_GIT_TIMEOUT = 10.0


def commit() -> str:
    """Return the short commit of the checkout, else the one that pip installed, else "unknown"."""
    root = Path(legacy_mm.__file__).parents[1]
    if (root / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            words = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=_GIT_TIMEOUT, check=True)
            return done.stdout.strip()
    return _installed_commit() or "unknown"


def _installed_commit() -> str:
    """Return the commit that pip notes for `pip install git+...` (PEP 610), or an empty text."""
    with suppress(PackageNotFoundError, ValueError, AttributeError):
        note = json.loads(distribution("legacy-mm").read_text("direct_url.json") or "{}")
        found = str(note.get("vcs_info", {}).get("commit_id", ""))
        return found[:12] if re.fullmatch("[0-9a-f]{12,}", found) else ""
    return ""
