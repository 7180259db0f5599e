"""The start scripts, with a stand-in for Python that prints what it was given."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.structure.source_tree import CHECKOUT

STAND_IN = '#!/bin/sh\necho "pid $$"\necho "folder $(pwd)"\nfor word; do echo "<$word>"; done\n'
TO_THE_TOOL = ["<-P>", "<-m>", "<legacy_mm>", "<kafka.tools.MirrorMaker>"]
AWKWARD = ["--whitelist", "a b.*", "", "*", "$HOME", "-x"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in a folder with a blank, its .venv made of the stand-in."""
    folder = tmp_path / "a checkout"
    shutil.copytree(CHECKOUT / "bin", folder / "bin")
    (folder / "setup.cfg").touch()
    write_stand_in(folder / ".venv" / "libexec" / "java")
    return folder


def write_stand_in(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(STAND_IN)
    path.chmod(0o755)


def run(
    *words: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )


def words_given(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("<")]


@pytest.mark.parametrize("shell", [(), ("sh",), ("bash", "-x"), ("busybox", "ash")], ids=str)
def test_words_arrive_unchanged_from_any_shell(
    checkout: Path, tmp_path: Path, shell: tuple[str, ...]
) -> None:
    if shell and not shutil.which(shell[0]):
        pytest.skip(f"no {shell[0]} here")
    done = run(*shell, checkout / "bin/kafka-mirror-maker.sh", *AWKWARD, cwd=tmp_path)
    assert words_given(done.stdout) == [*TO_THE_TOOL, *(f"<{word}>" for word in AWKWARD)]
    assert f"folder {tmp_path}" in done.stdout


def test_a_chain_of_symlinks_on_the_path_finds_the_checkout(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "first").symlink_to(checkout / "bin" / "kafka-mirror-maker.sh")
    (tmp_path / "kafka-mirror-maker.sh").symlink_to("first")
    done = run("kafka-mirror-maker.sh", "x", PATH=f"{tmp_path}:{os.environ['PATH']}", CDPATH="/tmp")
    assert words_given(done.stdout) == [*TO_THE_TOOL, "<x>"]


def test_the_process_keeps_the_pid_of_the_script(checkout: Path) -> None:
    started = subprocess.Popen(
        [checkout / "bin" / "kafka-mirror-maker.sh"], stdout=subprocess.PIPE, text=True
    )
    printed, _ = started.communicate(timeout=30)
    assert f"pid {started.pid}\n" in printed


def test_a_missing_venv_is_made_with_nothing_on_stdout(checkout: Path) -> None:
    (checkout / ".venv" / "libexec" / "java").unlink()
    (checkout / "bin" / "setup").write_text("#!/bin/sh\necho from setup\nexit 1\n")
    done = run(checkout / "bin" / "kafka-mirror-maker.sh", "--help")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "from setup\n")


def test_installed_by_pip_it_takes_the_python_beside_it(tmp_path: Path) -> None:
    script = shutil.copy(CHECKOUT / "bin" / "kafka-mirror-maker.sh", tmp_path)
    missing = run(script)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.count("\n") == 1
    write_stand_in(tmp_path / "python")
    assert words_given(run(script, "x").stdout) == [*TO_THE_TOOL, "<x>"]


def test_run_class_hands_the_mirror_maker_on(checkout: Path) -> None:
    script = checkout / "bin" / "kafka-run-class.sh"
    done = run(script, "-name", "mm", "kafka.tools.MirrorMaker", *AWKWARD)
    assert words_given(done.stdout) == [*TO_THE_TOOL, *(f"<{word}>" for word in AWKWARD)]


@pytest.mark.parametrize("words", [["kafka.Kafka"], ["-name"], ["-daemon"], ["-name", "x"]])
def test_run_class_refuses_everything_else_in_one_line(checkout: Path, words: list[str]) -> None:
    done = run(checkout / "bin" / "kafka-run-class.sh", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1


def test_run_class_without_words_prints_its_usage(checkout: Path) -> None:
    script = checkout / "bin" / "kafka-run-class.sh"
    usage = f"USAGE: {script} [-daemon] [-name servicename] [-loggc] classname [opts]\n"
    done = run(script)
    assert (done.returncode, done.stdout, done.stderr) == (1, usage, "")


def test_daemon_writes_its_file_only_into_a_folder_that_is_there(checkout: Path) -> None:
    script = checkout / "bin" / "kafka-run-class.sh"
    words = (script, "-daemon", "-name", "mm", "kafka.tools.MirrorMaker", "x")
    logs = checkout / "logs"
    assert run(*words).returncode == 0
    assert not logs.exists()
    logs.mkdir()
    done = run(*words)  # returns when the daemon, which holds no pipe of ours, is on its way
    assert (done.returncode, done.stdout) == (0, "")
    assert_appears(logs / "mm.out", "<x>")


def assert_appears(path: Path, text: str) -> None:
    watch = 'until grep -q "$1" "$2" 2>/dev/null; do sleep 0.05; done'
    subprocess.run(["sh", "-c", watch, "watch", text, path], timeout=30, check=True)
