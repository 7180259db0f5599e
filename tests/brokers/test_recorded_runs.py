"""Recorded calls by the real script, where the process itself counts: start, failure in Java, signals.

No broker answers in them, so none is needed. All recorded calls run in tests/unit/cli/test_recorded_calls.py.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from compat.laboratory.replay import DECIDED_BY_JAVA, Case, recorded_cases, replay, run_script
from compat.laboratory.tools import LAUNCHER
from legacy_mm.audit.tool_process import ToolProcess

pytestmark = pytest.mark.spark

SAMPLE = {
    "3.9.1": ("no-args", "version", "help-and-version", "unknown-long", "num-streams-zero", "equals-form",
              "sigterm-default-log", "sigint-default-log", "sigkill"),
    "2.8.2": ("help", "bootstrap-no-flag"),
    "1.1.1": ("blacklist-new-consumer",),
    "0.10.2.2": ("abbrev-whitel",),
    "0.9.0.1": ("missing-whitelist",),
    "0.8.2.2": ("bootstrap-no-flag", "help"),
}  # fmt: skip


def check(cases: list[Case], folder: Path) -> None:
    tallies, wrong = replay(cases, run_script, folder)
    print(f"\n{', '.join(f'{release}: {tally}' for release, tally in tallies.items())}", end="")
    assert not wrong, "\n".join(wrong)


def test_a_sample_of_all_releases(tmp_path: Path) -> None:
    cases = [case for case in recorded_cases() if case.id in SAMPLE.get(case.release, ())]
    assert len(cases) == sum(map(len, SAMPLE.values()))
    check(cases, tmp_path)


def test_patterns_that_java_refuses(tmp_path: Path) -> None:
    """Difference pattern-hang."""
    cases = [case for case in recorded_cases() if case.id in DECIDED_BY_JAVA]
    check([case for case in cases if case.release in ("3.9.1", "0.10.2.2", "0.9.0.1", "0.8.2.2")], tmp_path)


def test_signals(tmp_path: Path) -> None:
    """Difference thread-dump: SIGQUIT shows where the threads are, and the mirror goes on."""
    files = {"c": "bootstrap.servers=127.0.0.1:1\ngroup.id=g\n", "p": "bootstrap.servers=127.0.0.1:1\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    words = ["--consumer.config", "c", "--producer.config", "p", "--include", "t"]
    with ToolProcess([str(LAUNCHER), *words], tmp_path) as process:
        process.wait_for_output("Connection refused", 60)
        process.signal(signal.SIGQUIT)
        process.wait_for_output("lifecycle.py", 10)
        assert process.running()
        assert process.stop(60) == 128 + signal.SIGTERM
