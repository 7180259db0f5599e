"""The file by which jps finds this process: it comes and goes, and nothing depends on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from legacy_mm.compat import java_process


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(java_process, "_TEMPORARY", tmp_path)
    return tmp_path


def test_the_file_is_there_as_long_as_the_process_works(temporary: Path) -> None:
    with java_process.listed(["--include", "t"], []):
        (file,) = temporary.glob(f"hsperfdata_*/{os.getpid()}")
        assert b"kafka.tools.MirrorMaker --include t" in file.read_bytes()
    assert not file.exists()


def test_a_file_that_cannot_be_removed_changes_no_exit_code(temporary: Path) -> None:
    with java_process.listed([], []):
        (file,) = temporary.glob(f"hsperfdata_*/{os.getpid()}")
        file.unlink()
        file.mkdir()
