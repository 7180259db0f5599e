"""The commit that this program was made of."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

import legacy_mm

_GIT_TIMEOUT = 10.0


def commit() -> str:
    """Return the short commit of the checkout, else what pip noted at the installation, else "unknown"."""
    return _commit_of(Path(legacy_mm.__file__).parents[1]) or _installed_commit() or "unknown"


def _commit_of(checkout: Path) -> str:
    """Return the commit that a checkout stands at; empty for another folder, or without git."""
    if (checkout / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            words = ["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=_GIT_TIMEOUT, check=True)
            return done.stdout.strip()
    return ""


def _installed_commit() -> str:
    """Return the commit of `pip install git+...` (PEP 610); of an installation from a folder where that folder stands.

    The folder may have moved on since, so its commit is named as its own.
    """
    with suppress(PackageNotFoundError, ValueError, AttributeError):
        note = json.loads(distribution("legacy-mm").read_text("direct_url.json") or "{}")
        found = str(note.get("vcs_info", {}).get("commit_id", ""))
        if re.fullmatch("[0-9a-f]{12,}", found):
            return found[:12]
        url = urlsplit(str(note.get("url", "")))
        folder = Path(unquote(url.path))
        if url.scheme == "file" and (now := _commit_of(folder)):
            return f"unknown; installed from {folder}, which is at {now} now"
    return ""
