"""The table of fault scenarios that the tests write: `compat/reports/faults.json` and, made of it, `faults.md`.

What bounds cost on the host of the last run is in `bounds.json`.

Written only where `LEGACY_MM_RECORD_FAULTS` is set, so that a test run leaves a checkout as it was. Each run of a test
of exactly once is a line of the file `LEGACY_MM_FAULT_RUNS`, where that is set.
"""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.repeated_faults import FaultRun, written
from legacy_mm.audit.ledger_check import Verdict
from tests.faults.scenarios import SCENARIOS

FOLDER = Path(__file__).resolve().parents[2] / "compat" / "reports"
RESULTS, TABLE = FOLDER / "faults.json", FOLDER / "faults.md"
BOUNDS = FOLDER / "bounds.json"
_ASKED, _RUNS = "LEGACY_MM_RECORD_FAULTS", "LEGACY_MM_FAULT_RUNS"
_REPEATED = "test_exactly_once"
OURS = "ours"
"""The tool of a test that names none."""
HANDLERS = ("python", "jar", "steps")
"""Ours with a handler of this kind."""
_HEAD = """\
# Fault scenarios

Made by the tests (`LEGACY_MM_RECORD_FAULTS=1 .venv/bin/python -m pytest tests/faults -m ""`), do not edit. Numbers are
those of `tests/faults/scenarios.py`; 5 is about exactly once, which has [its own report](exactly-once.md).

A tool's cell: tests that passed; records lost; records doubled, by the ledger, from the least to the most of these
tests. Passed means that the tool did what is expected, losses included. A dash: the tests assert something else, or
there is none. The date is that of the oldest result.

"""
_SUMMARY = (
    "| # | fault | expected as the legacy tool | expected with a flag "
    "| the legacy tool | ours | ours, a handler | date |"
)
_TESTS = "| # | tool | test | result | records | lost | doubled | date |"
_SUMMED = (("old",), (OURS,), HANDLERS)

Row = dict[str, Any]


def tool_of(item: Any) -> str:
    """`old` for a test that runs on the legacy tool, else ours, or ours with a handler."""
    parameters = getattr(item, "callspec", None)
    return OURS if parameters is None else str(parameters.params.get("which", OURS))


def record(item: pytest.Item, outcome: str, verdict: Verdict | None) -> None:
    """Put the outcome of a scenario's test into the table."""
    marks = list(item.iter_markers("scenario"))
    if not marks or not os.environ.get(_ASKED):
        return
    results = load()
    row: Row = {"tool": tool_of(item), "result": outcome, "date": datetime.date.today().isoformat()}
    if verdict is not None:
        row |= {"records": verdict.acknowledged}
        row |= {"lost": verdict.count("lost"), "doubled": verdict.count("duplicated")}
    for mark in marks:
        results.setdefault(str(mark.args[0]), {})[item.nodeid.removeprefix("tests/faults/")] = row
    FOLDER.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    TABLE.write_text(rendered(results), encoding="utf-8")


def count(item: pytest.Item, outcome: str) -> None:
    """Add a run of a test of exactly once to the file of runs; its lines are short, so several processes may write."""
    file = os.environ.get(_RUNS)
    if not file or outcome == "skipped" or not item.path.name.startswith(_REPEATED):
        return
    name, _, case = item.name.partition("[")
    today, passed = datetime.date.today().isoformat(), outcome == "passed"
    run = FaultRun(f"{item.path.name}: {name}", case.removesuffix("]"), int(passed), int(not passed), today, today)
    with Path(file).open("a", encoding="utf-8") as lines:
        lines.write(written([run]))


def note_bound(what: str, tool: str, figures: dict[str, Any]) -> None:
    """Put what a tool cost on this host into `bounds.json`; nothing is asserted about it."""
    if os.environ.get(_ASKED):
        found: dict[str, dict[str, Any]] = json.loads(BOUNDS.read_text("utf-8")) if BOUNDS.exists() else {}
        found.setdefault(what, {})[tool] = {**figures, "date": datetime.date.today().isoformat()}
        BOUNDS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def load() -> dict[str, dict[str, Row]]:
    """Scenario -> test -> its last result."""
    found: dict[str, dict[str, Row]] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    return found


def rendered(results: dict[str, dict[str, Row]]) -> str:
    """The tables in Markdown: a row for each scenario, then one for each test."""
    summary, tests = _begun(_SUMMARY), _begun(_TESTS)
    for number, scenario in sorted(SCENARIOS.items()):
        found = sorted(results.get(str(number), {}).items(), key=lambda each: (each[1]["tool"], each[0]))
        seen = [_summed([row for _, row in found if row["tool"] in tools]) for tools in _SUMMED]
        oldest = min((row["date"] for _, row in found), default="-")
        summary.append(_line(number, *scenario, *seen, oldest))
        for test, row in found:
            counts = [row.get(name, "-") for name in ("records", "lost", "doubled")]
            tests.append(_line(number, row["tool"], f"`{test}`", row["result"], *counts, row["date"]))
    return _HEAD + "\n".join([*summary, "", "## Each test", "", *tests]) + "\n"


def _begun(columns: str) -> list[str]:
    return [columns, "|---" * (columns.count("|") - 1) + "|"]


def _line(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _summed(rows: list[Row]) -> str:
    if not rows:
        return "-"
    passed = sum(row["result"] == "passed" for row in rows)
    counts = [sorted(row[name] for row in rows if name in row) for name in ("lost", "doubled")]
    spans = ["-" if not each else "-".join(map(str, sorted({each[0], each[-1]}))) for each in counts]
    return "; ".join([str(passed) if passed == len(rows) else f"{passed} of {len(rows)}", *spans])
