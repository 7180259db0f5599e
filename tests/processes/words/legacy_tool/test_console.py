"""What is held open where a process was started without a console."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.words.legacy_tool.console import say
from tests.processes.cli.test_exits import python


def test_what_is_held_open_is_for_the_processes_that_we_start(tmp_path: Path) -> None:
    """And for nothing else: the next file that is opened is not the console."""
    asking = "import subprocess, sys; sys.exit(subprocess.call(['/bin/sh', '-c', ': >&0 && : >&1 && : >&2']))"
    holding = f"from legacy_mm.words.legacy_tool.console import hold_open; hold_open(); {asking}"
    codes = [python("<&- >&- 2>&-", tmp_path, "-c", program).returncode for program in (asking, holding)]
    assert codes[0] != 0
    assert codes[1] == 0


def test_what_cannot_be_said_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A closed descriptor is None, and a closed stream refuses; a full disk: test_exits.py."""
    with (tmp_path / "closed").open("w") as closed:
        pass
    with pytest.raises(ValueError, match="closed"):
        closed.write("x")
    streams: list[object] = [None, closed]
    for stream in streams:
        say(stream, "x")  # type: ignore[arg-type]
    assert capsys.readouterr() == ("", "")
