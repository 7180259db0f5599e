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
