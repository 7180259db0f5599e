"""mypy --strict and ruff find nothing. Both are in the `test` extra, so bin/test runs them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.structure.source_tree import CHECKOUT

MYPY = ("mypy", "--config-file", CHECKOUT / "setup.cfg")
RUFF = ("ruff", "check", "--output-format=concise", "--config", CHECKOUT / ".ruff.toml")


def run(tool: str, *words: str | Path, folder: Path = CHECKOUT) -> subprocess.CompletedProcess[str]:
    """Runs a tool of this interpreter's environment; skips when it is not installed."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed: pip install -e '.[test]'")
    command = [sys.executable, "-m", tool, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_mypy_finds_nothing() -> None:
    done = run(*MYPY)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing() -> None:
    done = run(*RUFF, CHECKOUT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_is_strict_with_the_package(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def f(x):\n    return x\n")
    done = run(*MYPY, "bad.py", folder=tmp_path)
    assert done.returncode == 1
    assert "no-untyped-def" in done.stdout


def test_ruff_knows_the_banned_names(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import pickle\n\nprint(pickle)\n")
    done = run(*RUFF, "bad.py", folder=tmp_path)
    assert done.returncode == 1
    assert "TID251" in done.stdout
