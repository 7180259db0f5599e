"""The mirror starts, and its exit code is the one that was earned, whatever has become of stdout and stderr."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
STARTING = """
import os, sys
from legacy_mm.cli import mirror_maker
from legacy_mm.cli.exits import exit_with

os.environ["LEGACY_MM_LEGACY_RELEASE"] = "2.8.2"
words = ["--consumer.config", "c", "--producer.config", "p", "--whitelist", "t"]
exit_with(lambda: mirror_maker.run(words, mirror=lambda outcome, signals: 143))
"""
HANGING = """
import os, signal, threading
from legacy_mm.flow import lifecycle
from legacy_mm.cli import mirror_maker
from legacy_mm.cli.exits import exit_with

def hang(outcome, signals):
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait()

lifecycle._OVERDUE_TIMEOUT = 0.0
words = ["--consumer.config", "c", "--producer.config", "p", "--include", "t", "--shutdown.timeout.ms", "1000"]
exit_with(lambda: mirror_maker.run(words, mirror=hang))
"""
UNBUFFERED = "PYTHONUNBUFFERED"
"""What would write each word at once, and leave nothing to be flushed."""
REDIRECTIONS = ["", "> /dev/full", "2> /dev/full", "> /dev/full 2>&1", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"]


def python(redirections: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != UNBUFFERED}
    command = ["/bin/sh", "-c", f'exec "$0" "$@" {redirections}', sys.executable, *words]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("redirections", REDIRECTIONS)
def test_what_cannot_be_flushed_changes_no_exit_code(redirections: str, tmp_path: Path) -> None:
    done = python(redirections, tmp_path, "-c", ENDING)
    assert (done.returncode, "Traceback" in done.stderr) == (143, False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the clients' files are."""
    (tmp_path / "c").write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    (tmp_path / "p").write_text("bootstrap.servers=127.0.0.1:1\n")
    return tmp_path


@pytest.mark.parametrize("redirections", REDIRECTIONS)
def test_a_mirror_starts_without_a_console(redirections: str, folder: Path) -> None:
    """The release says a warning of its own before it does."""
    done = python(redirections, folder, "-c", STARTING)
    assert done.returncode == 143, done.stderr
    assert ("WARNING: The default partition" in done.stderr) == ("2>" not in redirections)


@pytest.mark.parametrize("words", [["--version"], ["--no.such"]])
def test_closed_descriptors_are_held_open(words: list[str], tmp_path: Path) -> None:
    codes = {python(each, tmp_path, "-m", "legacy_mm", *words).returncode for each in ("", "<&- >&- 2>&-")}
    assert len(codes) == 1


def test_a_start_that_hangs_ends_after_the_shutdown_timeout(folder: Path) -> None:
    assert python("", folder, "-c", HANGING).returncode == 143


@pytest.mark.parametrize("given", ["default_int_handler", "SIG_IGN"])
def test_an_interrupt_while_the_tool_is_read_in_has_no_traceback(given: str) -> None:
    """It ends the process as the shell expects, unless whoever called it ignores it (nohup)."""
    inspection = f"import signal; signal.signal(signal.SIGINT, signal.{given}); import legacy_mm.__main__\n"
    inspection += "print(signal.getsignal(signal.SIGINT).name)"
    done = subprocess.run([sys.executable, "-c", inspection], capture_output=True, text=True, check=True)
    assert done.stdout == ("SIG_IGN\n" if given == "SIG_IGN" else "SIG_DFL\n")
