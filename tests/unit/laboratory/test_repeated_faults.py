"""The report of repeated faults is what its runs say, and every case has passed more often than it failed."""

from __future__ import annotations

from compat.laboratory.repeated_faults import REPORT, SUMS, FaultRun, read_rows, rendered, summed, written

RUN = FaultRun("test_x.py: test_killed", "version 2, records sent", 1, 0, "2026-01-02", "2026-01-02")
FAILED = FaultRun("test_x.py: test_killed", "version 2, records sent", 0, 1, "2026-01-03", "2026-01-03")
OTHER = FaultRun("test_x.py: test_killed", "version 1, records sent", 3, 0, "2026-01-01", "2026-01-04")


def test_the_report_is_made_of_the_runs() -> None:
    sums = read_rows(SUMS)
    assert SUMS.read_text("utf-8") == written(summed(sums))
    assert REPORT.read_text("utf-8") == rendered(sums)


def test_each_recorded_case_has_passed() -> None:
    assert [run for run in read_rows(SUMS) if run.passed <= run.failed] == []


def test_runs_of_a_case_are_summed() -> None:
    both = FaultRun(RUN.test, RUN.case, 1, 1, "2026-01-02", "2026-01-03")
    assert summed([RUN, OTHER, FAILED]) == [OTHER, both]
    text = rendered(summed([RUN, OTHER, FAILED]))
    assert "| test_x.py: test_killed | 2 | 1 | 4 | 1 | 2026-01-01 | 2026-01-04 |" in text
    assert "| version 2, records sent | 1 | 1 | 2026-01-03 |" in text
    assert "## test_x.py: test_killed\n\n| case | passed" in text
