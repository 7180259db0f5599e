"""A child never outlives its spawner, and starts as a shell would start it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from legacy_mm.audit.spawn import spawn
from legacy_mm.audit.waiting import wait_until

PATIENCE = 30.0


def test_a_child_dies_with_its_spawner(tmp_path: Path) -> None:
    code = (
        "import pathlib, time\n"
        "from legacy_mm.audit.spawn import spawn\n"
        "here = pathlib.Path('.')\n"
        "print(spawn(['sleep', '600'], folder=here, output=here / 'out').pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        text=True,
    ) as spawner:
        assert spawner.stdout is not None
        child = int(spawner.stdout.readline())
        assert psutil.pid_exists(child)
        spawner.kill()
    # Gone, or a zombie that the container's init has not collected.
    wait_until(
        lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE,
        PATIENCE,
        "the child to die",
    )


def test_a_child_starts_with_default_signals(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child = spawn(["sleep", "600"], folder=tmp_path, output=tmp_path / "out")
    finally:
        signal.signal(signal.SIGINT, before)
    child.send_signal(signal.SIGINT)
    assert child.wait(PATIENCE) == -signal.SIGINT
