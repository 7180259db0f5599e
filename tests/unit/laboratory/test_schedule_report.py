"""The report of random schedules is what its runs say, and no run of ours found anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from compat.laboratory.schedule_report import (
    MIRROR_MAKER_2,
    ONCE,
    REPORT,
    RUNS,
    ScheduleRun,
    read_runs,
    rendered,
    written,
)

RUN = ScheduleRun(ONCE, "4.3.0", "", 1, 300.0, {"broker killed": 2}, 1, 1_000, 20, 0, 0, [], "2026-01-01")


def test_the_report_is_made_of_the_runs() -> None:
    assert REPORT.read_text("utf-8") == rendered(read_runs([RUNS]))


def test_no_recorded_run_of_ours_lost_or_doubled_a_record() -> None:
    ours = [run for run in read_runs([RUNS]) if run.tool == ONCE]
    assert ours
    assert [(run.seed, run.found) for run in ours if run.lost or run.doubled or run.found] == []
    assert sum(run.given_up for run in ours) > 0


def test_runs_of_a_kind_are_summed() -> None:
    other = replace(RUN, seed=2, faults={"broker killed": 1, "mirror killed": 4}, given_up=5, date="2026-01-02")
    java = replace(RUN, tool=MIRROR_MAKER_2, lost=3, found=["x"])
    text = rendered([RUN, other, java])
    assert "| 4.3.0 | as released | exactly once | 2 | 300 | 7 | 2,000 | 2 | 25 | 0 | 0 | 2026-01-02 |" in text
    assert "| broker killed | 3 | 2 |" in text
    assert "- 4.3.0 as released MirrorMaker 2, seed 1: x" in text


def test_why_mirrors_ended_is_told_where_it_was_noted() -> None:
    assert "Why mirrors ended" not in rendered([RUN])
    text = rendered([RUN, replace(RUN, seed=2, endings={"gone": 2}), replace(RUN, seed=3, endings={"gone": 1})])
    assert "| gone | 3 |" in text


def test_seeds_are_listed_by_the_code_that_ran() -> None:
    text = rendered([RUN, replace(RUN, seed=2, code="abc"), replace(RUN, seed=3, code="abc")])
    assert (
        "| not noted | 4.3.0 | as released | exactly once | 1 |\n| abc | 4.3.0 | as released | exactly once | 2, 3 |"
        in text
    )


def test_the_last_run_of_a_seed_counts(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    later = replace(RUN, records=5)
    file.write_text(written(RUN) + written(replace(RUN, seed=0)) + written(later))
    assert read_runs([file]) == [replace(RUN, seed=0), later]
