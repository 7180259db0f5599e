"""`bin/bench --growth`: the legacy tool and ours with more partitions, more streams, larger records; and its report.

Rule: one profile's data at a time, because all may have to lie in memory. Cells are short: a run ends `LIMIT_TIMEOUT`
after its first record.
"""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compat.laboratory.bench_cases import FAILURES, Case, run_cases, say
from compat.laboratory.bench_measure import BROKER, Site
from compat.laboratory.bench_profiles import LEGACY, Profile
from compat.laboratory.bench_report import METRICS, Row, cautions, ratios
from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.releases import CURRENT, OLD
from legacy_mm.audit.cluster_access import delete_topic

REPORTS = CHECKOUT / "compat" / "reports"
LIMIT_TIMEOUT = 6.0
BROKER_HEAP = "1g"
GROWTH_BROKER = {**BROKER, "log.index.size.max.bytes": "65536"}
_HEAD = """\
# Growth

Made by `bin/bench --growth --folder {folder}` in {minutes:.0f} minutes, do not edit. {date}, {cores} cores
that also hold both brokers (Kafka {current}); the legacy tool is Kafka {old} with its own 256 MB heap. Default settings
on both sides; thousands of partitions were filled one after the other, so that batches are not tiny. Each run ends
{limit:g} s after its first record at the latest; rates and CPU are between 20 % and 90 % of what was copied.
Ratios are to the legacy tool of the same row. "start"
is from the call to the first record on the target, "peak" the process tree's PSS, "tasks" its most processes and
threads, "brokers" the cores that both brokers take (of {cores}), "others" those of strangers on the host.
"""
_COLUMNS = (
    ("records_per_s", "records/s", ",.0f"),
    ("mb_per_s", "MB/s", ",.1f"),
    ("cpu_s_per_million", "CPU s a million", ",.2f"),
    ("cpu_s_per_gb", "CPU s a GB", ",.1f"),
    ("start_up_s", "start s", ".1f"),
    ("peak_mb", "peak MB", ",.0f"),
    ("peak_tasks", "tasks", ",.0f"),
    ("broker_cores", "brokers", ".2f"),
    ("other_cores", "others", ".2f"),
    ("window_s", "window s", ".1f"),
)
_FIRST_FIGURE = 3
_RATIOS = (("records_per_s", "ratio"), ("cpu_s_per_million", "CPU ratio"), ("peak_mb", "MB ratio"))
Found = Mapping[str, Any]


def run_growth(
    site: Site, profiles: Sequence[Profile], tools: Sequence[str], *, repetitions: int, scale: float, reports: Path
) -> bool:
    """Run all cells of these profiles; write the report anew after each; return True if any run failed."""
    begin = time.monotonic()
    failed = False
    rows: list[Found] = []
    for profile in profiles:
        records = profile.scaled_records(scale)
        cases = [Case(profile, streams, records, tools) for streams in profile.streams]
        try:
            found, one_failed = run_cases(site, cases, repetitions=repetitions, warm=bool(rows))
        except FAILURES as error:
            say(f"{profile.name}: FAILED: {error}")
            failed = True
            continue
        failed |= one_failed
        rows += [_entry(profile, row, found) for row in found]
        write_report(reports, {**_host(site), "minutes": (time.monotonic() - begin) / 60, "rows": rows})
        delete_topic(site.source.bootstrap, profile.topic)
    return failed


def write_report(folder: Path, report: Found) -> None:
    """Write `growth.json`, and `growth.md` made from it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "growth.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (folder / "growth.md").write_text(rendered(report), encoding="utf-8")


def rendered(report: Found) -> str:
    """Return the tables in Markdown."""
    by_partitions = [row for row in report["rows"] if row["profile"].startswith("partitions-")]
    by_size = [row for row in report["rows"] if row["profile"].startswith("bytes-")]
    parts = [_HEAD.format(**report)]
    if by_partitions:
        parts += ["## Partitions, records of 100 bytes", _table(by_partitions, "partitions")]
    if by_size:
        parts += ["## Bytes of a record, 4 partitions", _table(by_size, "bytes")]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _host(site: Site) -> dict[str, Any]:
    return {
        "date": datetime.date.today().isoformat(),
        "cores": os.cpu_count(),
        "folder": str(site.folder.parent.parent),
        "current": CURRENT,
        "old": OLD,
        "limit": site.limit_seconds,
    }


def _entry(profile: Profile, row: Row, rows: Sequence[Row]) -> Found:
    old = next((each for each in rows if (each.tool, each.streams) == (LEGACY, row.streams)), None)
    keys = [metric.key for metric in METRICS if row.medians.get(metric.key) is not None]
    return {
        "profile": profile.name,
        "partitions": profile.partitions,
        "bytes": profile.size,
        "streams": row.streams,
        "tool": row.tool,
        "runs": len(row.runs),
        **{key: row.medians[key] for key in keys},
        "ratio_to_legacy": ratios(row.medians, old.medians) if old is not None else {},
        "cautions": cautions(row),
    }


def _table(rows: Sequence[Found], axis: str) -> str:
    heads = [axis, "streams", "tool", *(head for _, head, _ in _COLUMNS), *(head for _, head in _RATIOS)]
    lines = [heads, ["---"] * len(heads)]
    for row in rows:
        cells = [f"{row[axis]:,}", str(row["streams"]), str(row["tool"])]
        cells += [_cell(row.get(key), form) for key, _, form in _COLUMNS]
        if not row["runs"]:
            cells[_FIRST_FIGURE] = "failed"
        told = row["ratio_to_legacy"] if row["tool"] != LEGACY else {}
        lines.append([*cells, *(_cell(told.get(key), ".2f") for key, _ in _RATIOS)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
