"""What `bin/bench` makes of its words before it starts anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 60.0
PROGRAM = """
import sys
from compat.laboratory import bench

def run(folder, options, profiles, tools):
    print(folder, *(f"{profile.name}:{profile.streams}" for profile in profiles), sep="\\n")
    return 0

bench._run_all = run
sys.exit(bench.main(sys.argv[1:]))
"""


def bench(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own, because it takes signals; what it would run is printed."""
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_the_folder_for_data_is_made(tmp_path: Path) -> None:
    """The report of `--growth` names one in memory, which a host has not got yet."""
    named = tmp_path / "shm" / "growth"
    done = bench("--growth", "--folder", named)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.splitlines()[0]).parent == named
    assert list(named.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = bench("--folder", tmp_path / "file" / "below")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert str(tmp_path / "file") in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--profiles", "1KB,long-line", "--streams", "4"), 0, ["1KB:(4,)", "long-line:()"]),
        (("--profiles", "long-line", "--streams", "4"), 1, ["bench: --streams 4: these profiles are run with 1"]),
        (("--streams", "2"), 1, ["bench: --streams 2: these profiles are run with 1, 4, 40"]),
        (("--streams", "two"), 1, ["bench: --streams wants numbers, not 'two'"]),
    ],
)
def test_numbers_of_streams(words: tuple[str, ...], code: int, said: list[str]) -> None:
    done = bench(*words)
    assert (done.returncode, [*done.stdout.splitlines()[1:], *done.stderr.splitlines()]) == (code, said)
