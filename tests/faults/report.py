"""The table of fault scenarios that the tests write: `compat/reports/faults.json` and, made of it, `faults.md`.

What bounds cost on the host of the last run is in `bounds.json`.

Written only where `LEGACY_MM_RECORD_FAULTS` is set, so that a test run leaves a checkout as it was.
"""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.testbed.ledger_check import Verdict
from tests.faults.scenarios import SCENARIOS

FOLDER = Path(__file__).resolve().parents[2] / "compat" / "reports"
RESULTS, TABLE = FOLDER / "faults.json", FOLDER / "faults.md"
BOUNDS = FOLDER / "bounds.json"
_ASKED = "LEGACY_MM_RECORD_FAULTS"
_HEAD = """\
# Fault scenarios

Made by the tests (`LEGACY_MM_RECORD_FAULTS=1 .venv/bin/python -m pytest tests/faults -m ""`), do not edit. Numbers are
those of `tests/faults/scenarios.py`. Records, lost and doubled are the ledger's counts; a dash: the test asserts
something else. "passed" means that the tool did what the expectation says, losses included.

"""
_COLUMNS = (
    "| # | fault | expected as the old tool | expected with a flag | tool | test | result "
    "| records | lost | doubled | date |"
)


def tool_of(item: Any) -> str:
    """`ours`, or `old` for a test that runs on the real tool."""
    parameters = getattr(item, "callspec", None)
    return "ours" if parameters is None else str(parameters.params.get("which", "ours"))


def record(item: pytest.Item, outcome: str, verdict: Verdict | None) -> None:
    """Put the outcome of a scenario's test into the table."""
    marks = list(item.iter_markers("scenario"))
    if not marks or not os.environ.get(_ASKED):
        return
    results = load()
    row: dict[str, Any] = {"tool": tool_of(item), "result": outcome, "date": datetime.date.today().isoformat()}
    if verdict is not None:
        row |= {"records": verdict.acknowledged}
        row |= {"lost": verdict.count("lost"), "doubled": verdict.count("duplicated")}
    for mark in marks:
        results.setdefault(str(mark.args[0]), {})[item.nodeid.removeprefix("tests/faults/")] = row
    FOLDER.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    TABLE.write_text(rendered(results), encoding="utf-8")


def note_bound(what: str, tool: str, figures: dict[str, Any]) -> None:
    """Put what a tool cost on this host into `bounds.json`; nothing is asserted about it."""
    if os.environ.get(_ASKED):
        found: dict[str, dict[str, Any]] = json.loads(BOUNDS.read_text("utf-8")) if BOUNDS.exists() else {}
        found.setdefault(what, {})[tool] = {**figures, "date": datetime.date.today().isoformat()}
        BOUNDS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def load() -> dict[str, dict[str, dict[str, Any]]]:
    """Scenario -> test -> its last result."""
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    return found


def rendered(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The table in Markdown."""
    lines = [_COLUMNS, "|---" * (_COLUMNS.count("|") - 1) + "|"]
    for number in sorted(SCENARIOS):
        scenario = SCENARIOS[number]
        for test, row in sorted(results.get(str(number), {}).items(), key=lambda each: (each[1]["tool"], each[0])):
            counts = [str(row.get(name, "-")) for name in ("records", "lost", "doubled")]
            cells = [str(number), *scenario, row["tool"], f"`{test}`", row["result"], *counts, row["date"]]
            lines.append("| " + " | ".join(cells) + " |")
    return _HEAD + "\n".join(lines) + "\n"
