"""Commands of the testbed that a signal ends leave nothing behind: no folder, no topic."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit import selftest
from legacy_mm.audit.stop_signals import STOP_SIGNALS, undisturbed
from tests.fixtures import signals

PATIENCE = 30.0
BENCH = """
import sys, time
from compat.laboratory import bench

def hold(folder, *rest):
    (folder / "data").touch()
    print("running", flush=True)
    time.sleep(600)

bench._run_all = hold
sys.exit(bench.main([]))
"""
SELFTEST = """
import os, sys, time
from pathlib import Path
from legacy_mm.cli.legacy_mm import main
from legacy_mm.audit import selftest

class Admin:
    def __init__(self, properties):
        pass
    def create_topics(self, topics, **settings):
        print("topic made")
        return {}
    def delete_topics(self, names, **settings):
        print("topic removed")
        return {}
    def delete_consumer_groups(self, names, **settings):
        return {}

def hold(stage):
    (stage._folder / "consumer.properties").write_text("password")
    print("running", flush=True)
    time.sleep(600)

selftest.AdminClient = Admin
selftest.SCENARIOS = {"copy": (hold, selftest.EXACTLY)}
client = Path(os.environ["CLIENT"])
client.write_text("bootstrap.servers=127.0.0.1:1")
sys.exit(main(["selftest", "--source", str(client), "--target", str(client)]))
"""


@pytest.fixture
def ended(tmp_path: Path) -> Callable[[str, signal.Signals], tuple[int, list[str], str]]:
    """Ends a program by a signal, and sees its folder go: exit status, what it printed from then on, standard error."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()

    def run(program: str, number: signal.Signals) -> tuple[int, list[str], str]:
        environment = {**os.environ, "TMPDIR": str(temporary), "CLIENT": str(tmp_path / "client.properties")}
        command = [sys.executable, "-c", program]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=environment, preexec_fn=signals.taken, **pipes) as process:
            assert process.stdout is not None
            assert any(line == "running\n" for line in process.stdout)
            assert len(list(temporary.iterdir())) == 1
            process.send_signal(number)
            out, error = process.communicate(timeout=PATIENCE)
        assert list(temporary.iterdir()) == []
        return process.returncode, out.splitlines(), error

    return run


Ended = Callable[[str, signal.Signals], tuple[int, list[str], str]]


@pytest.mark.parametrize("number", STOP_SIGNALS, ids=lambda number: number.name)
def test_a_bench(ended: Ended, number: signal.Signals) -> None:
    assert ended(BENCH, number) == (128 + number, [], "bench: stopped\n")


@pytest.mark.parametrize("number", STOP_SIGNALS, ids=lambda number: number.name)
def test_a_selftest(ended: Ended, number: signal.Signals) -> None:
    assert ended(SELFTEST, number) == (128 + number, ["topic removed"] * 2, "Stopped.\n")


def test_a_selftest_writes_no_more_when_its_topics_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker makes a topic anew for a producer that still writes to it."""
    done: list[str] = []

    class Cluster:
        def __init__(self, properties: Any) -> None:
            """Takes everything, and notes what is removed."""

        def create_topics(self, topics: Any, **settings: Any) -> dict[str, Any]:
            return {}

        def delete_topics(self, names: Any, **settings: Any) -> dict[str, Any]:
            done.append("topic removed")
            return {}

        def delete_consumer_groups(self, names: Any, **settings: Any) -> dict[str, Any]:
            return {}

    class Loading:
        def join(self, timeout: float) -> None:
            done.append("written")

    monkeypatch.setattr(selftest, "AdminClient", Cluster)
    stage = selftest.Stage(selftest.Clusters({}, {}, lambda *_: pytest.fail("none is started"), 1, 1.0), tmp_path)
    monkeypatch.setattr(stage, "_loading", Loading())
    with stage.set_up():
        pass
    assert done == ["written", "topic removed", "topic removed"]


def test_what_is_undone_is_not_disturbed() -> None:
    before = [signal.getsignal(number) for number in STOP_SIGNALS]
    with undisturbed():
        for number in STOP_SIGNALS:
            signal.raise_signal(number)
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before
