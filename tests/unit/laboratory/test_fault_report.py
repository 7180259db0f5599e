"""The table of fault scenarios is what its results say, and every result has an expectation."""

from __future__ import annotations

from tests.faults import report
from tests.faults.scenarios import SCENARIOS


def test_the_table_is_made_of_the_results() -> None:
    results = report.load()
    assert report.TABLE.read_text("utf-8") == report.rendered(results)
    assert {int(number) for number in results} <= SCENARIOS.keys()


def test_every_recorded_test_passed() -> None:
    rows = [row for tests in report.load().values() for row in tests.values()]
    assert rows
    assert {row["result"] for row in rows} == {"passed"}


def test_a_scenario_sums_its_tests() -> None:
    counted = {"result": "passed", "records": 10, "lost": 0, "date": "2026-01-02"}
    results: dict[str, dict[str, report.Row]] = {
        "4": {
            "a": {**counted, "tool": "old", "doubled": 3},
            "b": {**counted, "tool": "old", "doubled": 0, "date": "2026-01-01"},
            "c": {**counted, "tool": "ours", "doubled": 7},
            "d": {**counted, "tool": "ours", "doubled": 12},
            "e": {"tool": "jar", "result": "failed", "date": "2026-01-02"},
        }
    }
    (row,) = (line for line in report.rendered(results).splitlines() if line.startswith("| 4 | killed"))
    assert row.endswith("| 2; 0; 0-3 | 2; 0; 7-12 | 0 of 1; -; - | 2026-01-01 |")


def test_every_scenario_ran_on_the_real_tool_and_on_ours() -> None:
    seen = {int(number): {row["tool"] for row in tests.values()} for number, tests in report.load().items()}
    assert seen.keys() == SCENARIOS.keys()
    for number, tools in seen.items():
        assert {"old", report.OURS} <= tools, number
