"""The report of `bin/bench --growth`, and what it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from compat.laboratory.bench_growth import rendered, write_report
from compat.laboratory.bench_profiles import GROWTH_PROFILES, choose_profiles

HOST = {"date": "2026-11-22", "cores": 2, "folder": "/dev/shm", "current": "4.3.0", "old": "3.9.1", "limit": 6.0}


def row(profile: str, tool: str, **figures: Any) -> dict[str, Any]:
    found = {"profile": profile, "partitions": 5_000, "bytes": 100, "streams": 2, "tool": tool, "runs": 1}
    return {**found, "ratio_to_legacy": {}, "cautions": [], **figures}


def report(*rows: dict[str, Any]) -> dict[str, Any]:
    return {**HOST, "minutes": 17.4, "rows": list(rows)}


def test_each_axis_has_its_table() -> None:
    old = row("partitions-5000", "legacy", records_per_s=50_000.0, cpu_s_per_million=9.0)
    ours = row(
        "partitions-5000",
        "ours",
        records_per_s=200_000.4,
        peak_tasks=83.0,
        ratio_to_legacy={"records_per_s": 4.0, "cpu_s_per_million": 0.31, "peak_mb": 0.9},
    )
    failed = row("bytes-100", "ours", runs=0)
    lines = rendered(report(old, ours, failed)).splitlines()
    partitions, sizes = (
        next(at for at, line in enumerate(lines) if line.startswith(f"| {axis} |")) for axis in ("partitions", "bytes")
    )
    assert lines[partitions].count("|") == lines[partitions + 1].count("|") == lines[partitions + 2].count("|")
    assert lines[partitions + 2].startswith("| 5,000 | 2 | legacy | 50,000 |")
    assert lines[partitions + 2].endswith("| - | - | - |")
    assert lines[partitions + 3].startswith("| 5,000 | 2 | ours | 200,000 |")
    assert lines[partitions + 3].endswith("| 4.00 | 0.31 | 0.90 |")
    assert "| 83 |" in lines[partitions + 3]
    assert lines[sizes + 2].startswith("| 100 | 2 | ours | failed | - |")


def test_the_report_says_where_and_when(tmp_path: Path) -> None:
    write_report(tmp_path / "reports", report())
    text = (tmp_path / "reports" / "growth.md").read_text()
    assert "in 17 minutes" in text and "2026-11-22" in text and "Kafka 3.9.1" in text
    assert json.loads((tmp_path / "reports" / "growth.json").read_text())["rows"] == []


def test_profiles_of_growth_are_chosen_by_name() -> None:
    names = [profile.name for profile in choose_profiles("partitions-5000,bytes-1000000", GROWTH_PROFILES)]
    assert names == ["partitions-5000", "bytes-1000000"]
    assert len({profile.name for profile in GROWTH_PROFILES}) == len(GROWTH_PROFILES)
