"""bin/demo from the outside: what it says, what it returns, and that nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from legacy_mm.testbed.waiting import wait_until

DEMO = [sys.executable, "-P", "-m", "legacy_mm.testbed.demo"]
DEMO_SECONDS = 300
MARK = "LEGACY_MM_TEST_MARK"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """All descendants of the demo inherit the mark; its temporary folder is ours to look into."""
    return {**os.environ, "TMPDIR": str(tmp_path), MARK: uuid.uuid4().hex}


def marked(environment: dict[str, str]) -> list[str]:
    """Command lines of live processes that carry the mark."""
    mark = f"{MARK}={environment[MARK]}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def assert_nothing_left(environment: dict[str, str], folder: Path) -> None:
    wait_until(lambda: not marked(environment), 5.0, f"all to end, but there are {marked(environment)}")
    assert list(folder.iterdir()) == []


@pytest.mark.brokers
def test_everything_arrives_and_nothing_is_left(environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(DEMO, env=environment, capture_output=True, text=True, timeout=DEMO_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "exit status 143" in done.stdout
    assert "committed offset = end offset in 13 of 13 partitions" in done.stdout
    assert "\nEQUAL: 300,000 records in 4 topics" in done.stdout
    assert "not copied, as asked: payments" in done.stdout
    assert "\x1b" not in done.stdout  # it is no terminal
    assert_nothing_left(environment, tmp_path)


@pytest.mark.brokers
@pytest.mark.parametrize(
    ("number", "sign"),
    [
        pytest.param(signal.SIGINT, "orders.eu", id="Ctrl-C while loading"),
        pytest.param(signal.SIGTERM, "lag", id="SIGTERM while mirroring", marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_everything(
    environment: dict[str, str], tmp_path: Path, number: signal.Signals, sign: str
) -> None:
    with subprocess.Popen(DEMO, env=environment, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        assert any(sign in line for line in demo.stdout)
        demo.send_signal(number)
        rest = demo.stdout.read()
        assert demo.wait(30) == 128 + number
    assert rest.endswith("Stopped; nothing is left running.\n")
    assert_nothing_left(environment, tmp_path)


def assert_one_line(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert (done.returncode, done.stdout.count("Traceback")) == (1, 0)
    assert done.stderr.startswith("bin/demo: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_no_place_for_kafka_is_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment["LEGACY_MM_CACHE"] = str(tmp_path / "file" / "cache")
    done = subprocess.run(DEMO, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert_one_line(done, "LEGACY_MM_CACHE")
