"""Tests that `bin/test` leaves out can begin: pytest finds every fixture that they name. None is run."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.structure.source_tree import CHECKOUT

LEFT_OUT = re.compile(r"mark\.(?:slow|combination)")


def test_slow_tests_have_their_fixtures() -> None:
    """Without the folders of `unit` that have none: to collect them takes longer than all the rest."""
    tests = CHECKOUT / "tests"
    slow = {file.parent for file in tests.rglob("*.py") if LEFT_OUT.search(file.read_text("utf-8"))}
    slow -= {tests / "fixtures", tests / "structure"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "slow or combination",
        "--setup-plan",
        "-p",
        "no:cacheprovider",
    ]
    command += sorted(map(str, slow))
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "SETUP" in done.stdout, "no slow test was looked at"
