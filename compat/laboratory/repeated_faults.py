"""Counts how often each fault of exactly once was tried, and makes the report.

`.venv/bin/python -m compat.laboratory.repeated_faults FILE...` adds the runs of these files to the sums in
`compat/reports/exactly-once-faults.jsonl`, and writes `exactly-once-faults.md`. `tests/faults/report.py` writes a run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.markdown import table

SUMS = CHECKOUT / "compat" / "reports" / "exactly-once-faults.jsonl"
REPORT = SUMS.with_suffix(".md")
_HEAD = """\
# Each fault of exactly once, again and again

Made by `.venv/bin/python -m compat.laboratory.repeated_faults`, do not edit. A case passes if a committed reader has
seen each source record once and in order, positions never went back, and no transaction is open at the end; a case of
*at least once* passes if the same fault doubles records without the flag. What each case does is in `tests/faults`, in
the file that is named here. To run a file once more:

    LEGACY_MM_FAULT_RUNS=/tmp/runs.jsonl .venv/bin/python -m pytest -n 2 -m "" tests/faults/FILE
    .venv/bin/python -m compat.laboratory.repeated_faults /tmp/runs.jsonl

Runs that failed for a reason of the test itself are in these sums, too.

"""
_TESTS = ["test", "cases", "passed, the rarest case", "passed, all", "failed", "from", "to"]
_CASES = ["case", "passed", "failed", "last run"]


@dataclass(frozen=True, slots=True)
class FaultRun:
    """One run of one case, or the sum of several."""

    test: str
    """The file's name and the function's."""
    case: str
    """The parameters; empty where it has none."""
    passed: int
    failed: int
    first: str
    last: str
    """Dates."""


def read_rows(file: Path) -> list[FaultRun]:
    """Read runs, one in a line."""
    return [FaultRun(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def written(runs: Iterable[FaultRun]) -> str:
    """Format runs as lines."""
    return "".join(json.dumps(asdict(run)) + "\n" for run in runs)


def summed(runs: Iterable[FaultRun]) -> list[FaultRun]:
    """Return one run for each case, in the order of the report."""
    return [_sum(list(group)) for _, group in groupby(sorted(runs, key=_case), _case)]


def rendered(sums: Sequence[FaultRun]) -> str:
    """Format the report: a row for each test, then one for each case."""
    by_test = [list(group) for _, group in groupby(sums, lambda run: run.test)]
    parts = [_HEAD, table(_TESTS, [_test_row(cases) for cases in by_test])]
    for cases in by_test:
        rows = [[run.case or "-", run.passed, run.failed, run.last] for run in cases]
        parts.append(f"\n## {cases[0].test}\n\n" + table(_CASES, rows))
    return "".join(parts)


def main(words: Sequence[str]) -> None:
    """Add the runs of these files, and write the report."""
    files = [*([SUMS] if SUMS.exists() else []), *map(Path, words)]
    sums = summed(run for file in files for run in read_rows(file))
    SUMS.write_text(written(sums), "utf-8")
    REPORT.write_text(rendered(sums), "utf-8")


def _case(run: FaultRun) -> tuple[str, str]:
    return run.test, run.case


def _sum(runs: Sequence[FaultRun]) -> FaultRun:
    passed, failed = sum(run.passed for run in runs), sum(run.failed for run in runs)
    first, last = min(run.first for run in runs), max(run.last for run in runs)
    return FaultRun(runs[0].test, runs[0].case, passed, failed, first, last)


def _test_row(cases: Sequence[FaultRun]) -> list[object]:
    total = _sum(cases)
    return [
        total.test,
        len(cases),
        min(run.passed for run in cases),
        total.passed,
        total.failed,
        total.first,
        total.last,
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
