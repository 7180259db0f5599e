"""The commit that this program was made of."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

import legacy_mm

_GIT_TIMEOUT = 10.0
_RECORDED = "commit.txt"
"""Written by the build of a wheel."""


def commit() -> str:
    """Return the short commit of the checkout, else the one that the build has recorded, else "unknown"."""
    package = Path(legacy_mm.__file__).parent
    return _commit_of(package.parent) or _recorded(package / _RECORDED) or "unknown"


def _commit_of(checkout: Path) -> str:
    """Return the commit that a checkout stands at; empty for another folder, or without git."""
    if (checkout / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            words = ["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=_GIT_TIMEOUT, check=True)
            return done.stdout.strip()
    return ""


def _recorded(file: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return file.read_text(encoding="ascii").strip()
    return ""
