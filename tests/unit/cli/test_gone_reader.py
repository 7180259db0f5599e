"""`legacy-mm quirks | head -1` ends without a word, as `cat` does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("words", [("--version",), ("quirks",)], ids=" ".join)
def test_a_reader_that_is_gone_is_no_traceback(words: tuple[str, ...]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        command = (sys.executable, "-m", "legacy_mm.cli.legacy_mm", *words)
        done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    finally:
        os.close(write_end)
    assert (done.returncode, done.stderr) == (141, "")
