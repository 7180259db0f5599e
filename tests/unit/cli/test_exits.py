"""The exit code is the one that was earned, whatever has become of stdout and stderr."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ENDING = """
import sys
from legacy_mm.cli.exits import exit_with

def run():
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.write("a line without its end")
    return 143

exit_with(run)
"""
UNBUFFERED = "PYTHONUNBUFFERED"
"""What would write each word at once, and leave nothing to be flushed."""


@pytest.mark.parametrize(
    "redirections", ["", "> /dev/full", "2> /dev/full", "> /dev/full 2>&1", ">&-", "2>&-", ">&- 2>&-"]
)
def test_what_cannot_be_flushed_changes_no_exit_code(redirections: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != UNBUFFERED}
    command = ["/bin/sh", "-c", f'exec "$0" -c "$1" {redirections}', sys.executable, ENDING]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (143, False)
