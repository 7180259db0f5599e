"""Every recorded call of the real tool, on ours: exit status, stdout, stderr (`compat.laboratory.replay`).

All of them run here, each in a forked process that holds the whole command and ends where the mirror
would start; some of them, by the real script, in tests/brokers/test_recorded_runs.py.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

from compat.laboratory.replay import DECIDED_BY_JAVA, KNOWN, STARTED, Case, Outcome, recorded_cases, replay, tool_lines
from legacy_mm.assembly import wiring
from legacy_mm.cli import mirror_maker
from legacy_mm.cli.exits import exit_with
from legacy_mm.explain.differences import DIFFERENCES

RELEASES = sorted({case.release for case in recorded_cases()})


def run_forked(case: Case, folder: Path) -> Outcome:
    """The command without its start script, and without a mirror: that one counts as ended by its signal."""
    stdout, stderr = folder / "stdout", folder / "stderr"
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for number, path in ((1, stdout), (2, stderr)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
        import sys

        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        os.environ |= {"LEGACY_MM_LEGACY_RELEASE": case.release, "LEGACY_MM_LOG_LEVEL": case.level}
        exit_with(lambda: mirror_maker.run(case.argv, mirror=lambda outcome, signals: STARTED))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    recorded = case.code if case.signal and code == STARTED else code
    return Outcome(recorded, stdout.read_text(), stderr.read_text())


@pytest.fixture(scope="module")
def small_process() -> Iterator[Executor]:
    """Holds the whole command and little else, so it forks quicker than pytest does."""
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawning, initializer=import_module, initargs=(wiring.__name__,)) as process:
        yield process


@pytest.mark.parametrize("release", RELEASES)
def test_recorded_calls(release: str, tmp_path: Path, small_process: Executor) -> None:
    """Differences null-pointer-lines, client-lines and stack-frames hold for all of them."""
    cases = [case for case in recorded_cases() if case.release == release and case.id not in DECIDED_BY_JAVA]
    tallies, wrong = small_process.submit(replay, cases, run_forked, tmp_path).result()
    print(f"\n{release}: {tallies[release]}", end="")
    assert not wrong, "\n".join(wrong)


def test_every_named_difference_is_known() -> None:
    assert {row.difference for row in KNOWN} <= {row.id for row in DIFFERENCES}


def test_no_call_is_recorded_twice() -> None:
    names = [(case.release, case.id) for case in recorded_cases()]
    assert len(names) == len(set(names))


def test_every_row_names_recorded_cases() -> None:
    cases = recorded_cases()
    assert [row for row in KNOWN if not any(row.names(case) for case in cases)] == []


def test_lines_of_the_tool() -> None:
    text = (
        "[2026-01-01 00:00:00,000] INFO ProducerConfig values: \n\tacks = all\n"
        " (org.apache.kafka.clients.producer.ProducerConfig)\n"
        "WARNING: plain\n"
        "[TS] ERROR Exception when starting mirror maker. (kafka.tools.MirrorMaker$)\n"
        "java.lang.A: b\n\tat <frames>\nCaused by: java.lang.C: d\n\t... 1 more\n"
        'Exception in thread "main" java.lang.NullPointerException: x\n'
    )
    assert tool_lines(text) == [
        "WARNING: plain",
        "[TS] ERROR Exception when starting mirror maker. (kafka.tools.MirrorMaker$)",
        "java.lang.A: b",
        "Caused by: java.lang.C: d",
        "",
    ]
