"""What the process has of a JVM: the file by which jps finds it, on which nothing depends, and its open files."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from legacy_mm.words.legacy_tool import java_process


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(java_process, "_TEMPORARY", tmp_path)
    return tmp_path


def test_the_file_is_there_as_long_as_the_process_works(temporary: Path) -> None:
    with java_process.shown_by_jps(["--include", "t"], []):
        (file,) = temporary.glob(f"hsperfdata_*/{os.getpid()}")
        assert b"kafka.tools.MirrorMaker --include t" in file.read_bytes()
    assert not file.exists()


def test_a_file_that_cannot_be_removed_changes_no_exit_code(temporary: Path) -> None:
    with java_process.shown_by_jps([], []):
        (file,) = temporary.glob(f"hsperfdata_*/{os.getpid()}")
        file.unlink()
        file.mkdir()
    assert file.is_dir()


def test_as_many_files_may_be_open_as_the_hard_limit_allows() -> None:
    program = (
        "import resource as r; from legacy_mm.words.legacy_tool import java_process as j; "
        "most = r.getrlimit(r.RLIMIT_NOFILE)[1]; "
        "r.setrlimit(r.RLIMIT_NOFILE, (64, most)); j.take_on(); print(r.getrlimit(r.RLIMIT_NOFILE)[0])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert int(printed) == resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 64
