"""Numbers of the bench: windows, percentiles, medians, ratios, tables. Rule: pure, no process, no clock."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

WINDOW = (0.2, 0.9)  # of the records: before it a JVM warms up, after it queues run dry
_IN_WINDOW = (
    "records_per_s",
    "mb_per_s",
    "cpu_s_per_million",
    "cpu_s_per_gb",
    "broker_cores",
    "other_cores",
    "stolen_cores",
)

SHORTEST_WINDOW, MOST_OTHER_CORES, MOST_STOLEN_CORES = 5.0, 0.2, 0.1  # beyond these a row carries a caution

Metrics = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a running tool: seconds since its start, and its progress."""

    at: float
    records: float
    cpu: float  # seconds, the tool's whole process tree
    brokers: float = 0.0  # CPU seconds of both clusters
    other: float = 0.0  # CPU seconds of processes that are neither the tool, nor brokers, nor bench
    stolen: float = 0.0  # seconds that the hypervisor gave to others while a process of this host was ready to run


@dataclass(frozen=True, slots=True)
class Metric:
    """A column: its key in JSON, its heading, digits after the point, and whether a ratio says something."""

    key: str
    heading: str
    digits: int
    ratio: bool = True


METRICS = (
    Metric("records_per_s", "records/s", 0),
    Metric("mb_per_s", "MB/s", 1),
    Metric("cpu_s_per_million", "CPU s/M rec", 2),
    Metric("cpu_s_per_gb", "CPU s/GB", 1),
    Metric("start_up_s", "start s", 2),
    Metric("start_up_cpu_s", "start CPU s", 2),
    Metric("peak_mb", "peak MB", 0),
    Metric("peak_tasks", "tasks", 0),
    Metric("latency_p50_ms", "p50 ms", 1),
    Metric("latency_p99_ms", "p99 ms", 1),
    Metric("latency_p999_ms", "p99.9 ms", 1),
    Metric("window_s", "window s", 1, ratio=False),
    Metric("broker_cores", "broker cores", 2, ratio=False),
    Metric("other_cores", "other cores", 2, ratio=False),
    Metric("stolen_cores", "stolen cores", 2, ratio=False),
)


@dataclass(frozen=True, slots=True)
class Row:
    """Results of one tool on one profile: the medians of its runs."""

    profile: str
    streams: int
    tool: str
    medians: Metrics
    runs: Sequence[Metrics]


def host_seconds(stat: str, ticks: int) -> tuple[float, float]:
    """Return the CPU seconds of the host and those that its hypervisor withheld, from the text of /proc/stat.

    Interrupts count: if the kernel does not account for them, they are also in the time of the interrupted process.
    """
    user, nice, system, _, _, interrupts, soft_interrupts, stolen = map(int, stat.split(maxsplit=9)[1:9])
    return (user + nice + system + interrupts + soft_interrupts) / ticks, stolen / ticks


def steady(samples: Sequence[Sample], record_bytes: int) -> dict[str, float | None]:
    """Return rates and CPU between 20 % and 90 % of the records that the last sample counts."""
    first, last = (_crossing(samples, share * samples[-1].records) for share in WINDOW)
    seconds, records = last.at - first.at, last.records - first.records
    if seconds <= 0 or records <= 0:
        return {**dict.fromkeys(_IN_WINDOW), "window_s": 0.0}
    cpu = last.cpu - first.cpu
    return {
        "records_per_s": records / seconds,
        "mb_per_s": records * record_bytes / seconds / 1e6,
        "cpu_s_per_million": cpu / records * 1e6,
        "cpu_s_per_gb": cpu / (records * record_bytes) * 1e9,
        "broker_cores": (last.brokers - first.brokers) / seconds,
        "other_cores": (last.other - first.other) / seconds,
        "stolen_cores": (last.stolen - first.stolen) / seconds,
        "window_s": seconds,
    }


def _crossing(samples: Sequence[Sample], records: float) -> Sample:
    """Return the moment a count was reached, on a straight line between the two samples around it."""
    before = samples[0]
    for sample in samples:
        if sample.records >= records:
            break
        before = sample
    else:
        raise ValueError(f"no sample reaches {records:g} records")
    if sample.records == before.records:
        return sample
    share = (records - before.records) / (sample.records - before.records)
    between = zip(astuple(before), astuple(sample), strict=True)
    return Sample(*(begin + share * (end - begin) for begin, end in between))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of all values do not exceed (nearest rank)."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def latency(milliseconds: Sequence[float]) -> dict[str, float | None]:
    """Return the three percentiles; None each if nothing arrived."""
    shares = {"latency_p50_ms": 0.5, "latency_p99_ms": 0.99, "latency_p999_ms": 0.999}
    return {key: percentile(milliseconds, share) if milliseconds else None for key, share in shares.items()}


def medians(runs: Sequence[Metrics]) -> dict[str, float | None]:
    """Return the median of every key over the runs that have a value for it."""
    keys = dict.fromkeys(key for run in runs for key in run)
    found = {key: [value for run in runs if (value := run.get(key)) is not None] for key in keys}
    return {key: statistics.median(values) if values else None for key, values in found.items()}


def ratios(row: Metrics, base: Metrics) -> dict[str, float]:
    """Return each metric as a multiple of the base's, where both have one and the base's is not 0."""
    out = {}
    for metric in METRICS:
        mine, its = row.get(metric.key), base.get(metric.key)
        if metric.ratio and mine is not None and its:
            out[metric.key] = mine / its
    return out


def cautions(row: Row) -> list[str]:
    """Return reasons not to quote a row, judged by its worst run."""
    found = []
    windows = [value for run in row.runs if (value := run.get("window_s")) is not None]
    others = [value for run in row.runs if (value := run.get("other_cores")) is not None]
    stolen = [value for run in row.runs if (value := run.get("stolen_cores")) is not None]
    shares = [value for run in row.runs if (value := run.get("copied_share")) is not None]
    missing = sum(run.get("latency_missing") or 0 for run in row.runs)
    if others and max(others) > MOST_OTHER_CORES:
        found.append(f"other processes of the host used up to {max(others):.2f} cores")
    if stolen and max(stolen) > MOST_STOLEN_CORES:
        found.append(f"the hypervisor withheld up to {max(stolen):.2f} cores")
    if windows and min(windows) < SHORTEST_WINDOW:
        found.append(f"the shortest window was {min(windows):.1f} s, below {SHORTEST_WINDOW:g} s")
    if shares and min(shares) < 1:
        found.append(f"the time limit came at {min(shares):.0%} of the records")
    if missing:
        found.append(f"{missing:.0f} records of the latency runs did not arrive in time")
    return found


def json_line(row: Row, bases: Mapping[str, Row | None], extra: Mapping[str, object]) -> str:
    """Return one JSON line: the case, medians, ratios to each of `bases` by its name, cautions, and every run."""
    found = {
        f"ratio_to_{name}": None if base is None else _rounded(ratios(row.medians, base.medians))
        for name, base in bases.items()
    }
    return json.dumps(
        {
            "profile": row.profile,
            "streams": row.streams,
            "tool": row.tool,
            "repetitions": len(row.runs),
            **_rounded(row.medians),
            **found,
            "cautions": cautions(row),
            "runs": [_rounded(run) for run in row.runs],
            **extra,
        }
    )


def _rounded(metrics: Metrics) -> dict[str, float | None]:
    return {key: None if value is None else round(value, 4) for key, value in metrics.items()}


def case_table(rows: Sequence[Row], bases: Sequence[Row]) -> str:
    """Return the medians of all tools on one case, and below them the ratios to each of `bases`."""
    used = [m for m in METRICS if any(row.medians.get(m.key) is not None for row in rows)]
    lines = [["", *(metric.heading for metric in used)]]
    for row in rows:
        cells = [_cell(row.medians.get(metric.key), metric.digits) for metric in used]
        lines.append([row.tool, *cells])
    for number, base in enumerate(bases, 1):
        for row in rows:
            if any(row is each for each in bases[:number]):
                continue
            found = ratios(row.medians, base.medians)
            cells = [f"{found[m.key]:.2f}x" if m.key in found else "" for m in used]
            lines.append([f"{row.tool}/{base.tool}", *cells])
    return table(lines)


def table(lines: Sequence[Sequence[str]]) -> str:
    """Format columns padded to their widest cell: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _cell(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
