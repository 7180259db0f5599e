"""A checkout whose Python is a stand-in that prints what it was given, for tests of the scripts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.structure.source_tree import CHECKOUT

PROGRAM = """#!/bin/sh
echo "pid $$"
echo "folder $(pwd)"
echo "gc $KAFKA_GC_LOG_OPTS"
echo "logs $LOG_DIR"
for word; do echo "<$word>"; done
"""
TO_PYTHON = ["-P", "-m", "legacy_mm"]


def make_checkout(folder: Path) -> Path:
    """Scripts and stand-in, laid out as in a checkout."""
    shutil.copytree(CHECKOUT / "bin", folder / "bin", symlinks=True)
    (folder / "setup.cfg").touch()
    write_program(folder / ".venv" / "libexec" / "java")
    return folder


def write_program(path: Path, text: str = PROGRAM) -> Path:
    """An executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def run(
    *words: str | Path, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The finished process, its output as text; variables for Kafka come from `environment` alone."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(("KAFKA_", "LEGACY_MM_"))}
    variables = inherited | dict(environment or {})
    return subprocess.run(words, cwd=cwd, env=variables, capture_output=True, text=True, check=False)


def words_given(printed: str) -> list[str]:
    """The words that the stand-in was given."""
    return [line[1:-1] for line in printed.splitlines() if line.startswith("<")]
