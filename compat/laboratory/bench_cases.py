"""The cases of the bench: load data, measure each tool round by round, print the medians. Rule: no options."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException

from compat.laboratory.bench_measure import Site, measure_hop, measure_latency, measure_throughput
from compat.laboratory.bench_profiles import (
    LEGACY,
    LEGACY_1G,
    LEGACY_JAR,
    MM2,
    MM2_ONCE,
    ONE_HOP,
    OURS,
    OURS_ONCE,
    Profile,
)
from compat.laboratory.bench_report import Metrics, Row, case_table, cautions, json_line, medians
from legacy_mm.audit.cluster_access import list_topics
from legacy_mm.audit.load import load
from legacy_mm.base.errors import LegacyMMError

WARM_RUNS = 6  # at 100 B the target's CPU for a record fell from 0.64 us in the first to 0.34 in the fifth
WARM_LATENCY_RUNS = 2  # of 20 s: the p99 of the first was 180 to 480 ms, of the third 4 to 9 ms
FAILURES = (LegacyMMError, TimeoutError, KafkaException)


@dataclass(frozen=True, slots=True)
class Case:
    """One profile at one number of streams, and the tools that copy it."""

    profile: Profile
    streams: int
    records: int
    tools: Sequence[str]


def run_cases(
    site: Site,
    cases: Sequence[Case],
    *,
    repetitions: int,
    latency_seconds: int = 0,
    file: Path | None = None,
    warm: bool = False,
) -> tuple[list[Row], bool]:
    """Run all cases; return their medians and True if any run failed.

    Rows are printed and written to `file` as they come.

    `warm`: the brokers have worked before, so there is no first run that does not count.
    """
    rows: list[Row] = []
    failed = False
    for case in cases:
        load_data(site, case.profile, case.records)
        if not warm:
            _warm(site, case, latency_seconds)
            warm = True
        runs = _run(site, case, repetitions, latency_seconds)
        failed |= any(run is None for found in runs.values() for run in found)
        rows += _print_case(case, runs, file)
    return rows, failed


def load_data(site: Site, profile: Profile, records: int) -> None:
    """Make and fill the profile's source topic, unless it is there."""
    if profile.topic not in list_topics(site.source.bootstrap):
        say(f"loading {records:,} records of {profile.size:,} bytes into {profile.partitions:,} partitions")
        load(
            site.source.bootstrap,
            profile.topic,
            records,
            profile.size,
            codec=profile.codec,
            partitions=profile.partitions,
            one_by_one=profile.one_by_one,
            batch_bytes=profile.batch_bytes,
        )


def say(text: str) -> None:
    """Print a progress line on stderr."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _warm(site: Site, case: Case, latency_seconds: int) -> None:
    """Run the quickest tools without counting: a JVM compiles what it does often, and brokers run for months.

    Transactions are code of their own in a broker.
    """
    tools = [tool for tool in (OURS, OURS_ONCE) if tool in case.tools] or case.tools[:1]
    latency_runs = WARM_LATENCY_RUNS if latency_seconds else 0
    say(f"{WARM_RUNS} + {latency_runs} runs of {' and '.join(tools)} to warm the brokers, not counted")
    for _, tool in itertools.product(range(WARM_RUNS), tools):
        with contextlib.suppress(*FAILURES):
            measure_throughput(site, tool, case.profile, case.streams, case.records)
    for _, tool in itertools.product(range(latency_runs), tools):
        with contextlib.suppress(*FAILURES):
            measure_latency(site, tool, case.profile, case.streams, latency_seconds)


def _run(site: Site, case: Case, repetitions: int, latency_seconds: int) -> dict[str, list[Metrics | None]]:
    """Return all runs of a case by tool; None is a failed run, which was reported."""
    tools = [*case.tools, ONE_HOP] if latency_seconds else case.tools
    found: dict[str, list[Metrics | None]] = {tool: [] for tool in tools}
    for repetition, tool in itertools.product(range(repetitions), tools):
        if tool == LEGACY_1G and repetition:
            continue  # it is in the case for its memory only
        what = f"{case.profile.name}, {case.streams} stream(s), round {repetition + 1}, {tool}"
        try:
            run = _measure(site, case, tool, latency_seconds)
        except FAILURES as error:
            say(f"{what}: FAILED: {error}")
            found[tool].append(None)
            continue
        found[tool].append(run)
        say(f"{what}: {run.get('records_per_s') or 0:,.0f} records/s, p99 {run.get('latency_p99_ms') or 0:.1f} ms")
    return found


def _measure(site: Site, case: Case, tool: str, latency_seconds: int) -> Metrics:
    if tool == ONE_HOP:
        return measure_hop(site, case.profile, latency_seconds)
    run = measure_throughput(site, tool, case.profile, case.streams, case.records)
    if not latency_seconds or tool == LEGACY_1G:
        return run
    return run | measure_latency(site, tool, case.profile, case.streams, latency_seconds)


def _print_case(case: Case, runs: Mapping[str, Sequence[Metrics | None]], file: Path | None) -> list[Row]:
    rows = []
    for tool, found in runs.items():
        good = [run for run in found if run is not None]
        rows.append(Row(case.profile.name, case.streams, tool, medians(good), good))
    old = next((row for row in rows if row.tool in (LEGACY, LEGACY_JAR) and row.runs), None)
    if OURS_ONCE in runs:
        old = next((row for row in rows if row.tool == OURS and row.runs), None)
    mm2 = next((row for row in rows if row.tool in (MM2, MM2_ONCE) and row.runs), None)
    profile = case.profile
    print(f"\n{profile.name}, {case.streams} stream(s), {profile.partitions} partitions, {case.records:,} records")
    print(case_table(rows, [base for base in (old, mm2) if base is not None]))
    for row in rows:
        for caution in cautions(row):
            print(f"caution, {row.tool}: {caution}")
    for row in rows:
        extra = {"records": case.records, "failed": len(runs[row.tool]) - len(row.runs)}
        line = json_line(row, {"legacy": old, "mm2": mm2}, extra)
        print(line, flush=True)
        if file is not None:
            with file.open("a", encoding="utf-8") as output:
                output.write(line + "\n")
    return rows
