"""Runs of `tests/faults/test_exactly_once_schedule.py`, and the report that is made of them.

`.venv/bin/python -m compat.laboratory.schedule_report FILE...` adds the lines of these files to those of
`compat/reports/exactly-once.jsonl`, and writes `exactly-once.md`. A run with the same seed takes another's place.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.markdown import table

RUNS = CHECKOUT / "compat" / "reports" / "exactly-once.jsonl"
REPORT = RUNS.with_suffix(".md")
ONCE, AT_LEAST_ONCE, MIRROR_MAKER_2 = "exactly once", "at least once", "MirrorMaker 2"
_TOOLS = (ONCE, AT_LEAST_ONCE, MIRROR_MAKER_2)
_HEAD = """\
# Exactly once under random faults

Made by `.venv/bin/python -m compat.laboratory.schedule_report`, do not edit.

A *seed* is a schedule of faults, one each 2 to 10 s, while two mirrors with two streams each copy three topics to three
brokers: one topic with another number of partitions at the target, one compacted, and one of transactions of which a
quarter abort. Sessions and transactions time out after 10 s. Producers write all the time. After the last fault
everything is copied, both mirrors stop, and all this must hold:

- the ledger of the source and a committed reader agree: nothing lost, doubled, altered, or out of order;
- a reader that read all the time, librdkafka, our reader and Java's console consumer saw the same records in the same
  order;
- positions never went back, are past the last record, and no offset of the group is beyond them;
- no transaction is open: each log ends where committed readers end, no coordinator has one (ListTransactions), no
  producer in any partition (DescribeProducers), and `kafka-transactions.sh find-hanging` finds none. Brokers of 2.8
  do not know ListTransactions, which the last needs, too.

To repeat a series, in one command (`LEGACY_MM_SCHEDULE_TRANSACTION_VERSION=1` for brokers of 4.x without version 2):

    LEGACY_MM_SCHEDULE_RELEASE=4.3.0 LEGACY_MM_SCHEDULE_SEEDS=1,2,3 LEGACY_MM_SCHEDULE_RESULTS=/tmp/runs.jsonl \\
      .venv/bin/python -m pytest tests/faults/test_exactly_once_schedule.py -m ""

*Given up* are copies that a reader of `read_uncommitted` sees beside those that count: without them a run would show
nothing. *Ended* are mirrors that ended by themselves and were started anew, as a supervisor does. Runs without
`exactly.once` are for comparison.
"""
_MIRROR_MAKER_2 = """\
MirrorMaker 2 is that of Kafka 4.3.0 in dedicated mode, with `exactly.once.source.support=enabled`,
`dedicated.mode.enable.internal.rest=true` and a source consumer of `read_committed`, for comparison. *Lost* are records
that it has not copied.
"""
_NOT_RUN = """\
## Not run

Faults at the source; more than two mirrors; all brokers killed at once, which tears transactions in Kafka 4.3 itself
([081](../../docs/decisions/081-an-engine-that-commits.md)): they are frozen instead; brokers that are away for longer
than 20 s; lost disks, and clocks that differ; topics that are deleted meanwhile. Most runs of 4.3.0 as released are of
the client of version 1; those of version 2 are of the client of version 2.

A broker of 2.8 whose ZooKeeper session ends (after 2.5 s here) while it loads its part of `__transaction_state` never
loads it: `Uncaught exception in scheduled task 'load-txns-for-partition...`. One run of seed 204, and by its signs
another, stood still by that, and are not counted; when that broker was restarted, the rest was copied.
"""


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """The outcome of one run of a schedule."""

    tool: str
    release: str
    """The release of the target."""
    transaction_version: str
    """The feature of the target; empty for that of its release."""
    seed: int
    seconds: float
    faults: dict[str, int]
    ended: int
    records: int
    given_up: int
    lost: int
    doubled: int
    found: list[str]
    """Lines about what is not as it must be."""
    date: str
    code: str = ""
    """The commit that ran; empty where it was not noted."""
    endings: dict[str, int] = field(default_factory=dict)
    """Why mirrors ended by themselves, as they said; where it was noted."""

    @property
    def kind(self) -> tuple[int, str, str]:
        """The runs that it is summed with have the same."""
        return _TOOLS.index(self.tool), self.release, self.transaction_version


def read_runs(files: Iterable[Path]) -> list[ScheduleRun]:
    """Read runs, the last of each seed, in the order of the report."""
    found: dict[tuple[tuple[int, str, str], int], ScheduleRun] = {}
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            run = ScheduleRun(**json.loads(line))
            found[run.kind, run.seed] = run
    return [found[key] for key in sorted(found)]


def written(run: ScheduleRun) -> str:
    """Format a run as a line."""
    return json.dumps(asdict(run)) + "\n"


def rendered(runs: Sequence[ScheduleRun]) -> str:
    """Format the report: a row for each kind of run, then faults by their kind, then what was found."""
    kinds = {run.kind: [each for each in runs if each.kind == run.kind] for run in runs}
    heads = ["target", "transaction version", "mirror", "seeds", "seconds", "faults", "records", "ended", "given up"]
    rows = [_row(each) for each in kinds.values()]
    titles = [" ".join(_title(each[0])) for each in kinds.values()]
    faults = _summed([[run.faults for run in each] for each in kinds.values()])
    endings = _summed([[run.endings for run in each] for each in kinds.values()])
    parts = [
        _HEAD,
        *([_MIRROR_MAKER_2] if any(run.tool == MIRROR_MAKER_2 for run in runs) else []),
        table([*heads, "lost", "doubled", "date"], rows),
        "## Code\n",
        table(["commit", "target", "transaction version", "mirror", "seeds"], _by_code(runs)),
        "## Faults by their kind\n",
        table(["fault", *titles], faults),
        *(["## Why mirrors ended\n", "Where it was noted.\n", table(["reason", *titles], endings)] if endings else []),
        _NOT_RUN,
    ]
    wrong = [run for run in runs if run.found]
    if wrong:
        lines = [f"- {' '.join(_title(run))}, seed {run.seed}: {'; '.join(run.found)}" for run in wrong]
        parts.append("## What did not hold\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def main(words: Sequence[str]) -> None:
    """Add the runs of these files, and write the report."""
    runs = read_runs([*([RUNS] if RUNS.exists() else []), *map(Path, words)])
    RUNS.write_text("".join(map(written, runs)), "utf-8")
    REPORT.write_text(rendered(runs), "utf-8")


def _title(run: ScheduleRun) -> tuple[str, str, str]:
    return run.release, run.transaction_version or "as released", run.tool


def _summed(kinds: Sequence[Sequence[Mapping[str, int]]]) -> list[list[object]]:
    """Return a row for each name, with its number in all runs of each kind."""
    sums = [sum(map(Counter, runs), Counter[str]()) for runs in kinds]
    return [[name, *(each[name] for each in sums)] for name in sorted({name for each in sums for name in each})]


def _by_code(runs: Sequence[ScheduleRun]) -> list[list[str]]:
    """Return a row for each commit and kind of run, with its seeds; those of unknown code first."""
    seeds: dict[tuple[str, str, str, str], list[int]] = {}
    for run in sorted(runs, key=lambda run: (run.date if run.code else "", run.code, run.kind, run.seed)):
        seeds.setdefault((run.code or "not noted", *_title(run)), []).append(run.seed)
    return [[*kind, ", ".join(map(str, each))] for kind, each in seeds.items()]


def _row(runs: Sequence[ScheduleRun]) -> list[object]:
    seconds = sorted({run.seconds for run in runs})
    sums = [sum(getattr(run, name) for run in runs) for name in ("records", "ended", "given_up", "lost", "doubled")]
    faults = sum(sum(run.faults.values()) for run in runs)
    span = "-".join(f"{each:g}" for each in sorted({seconds[0], seconds[-1]}))
    return [*_title(runs[0]), len(runs), span, faults, *(f"{each:,}" for each in sums), max(run.date for run in runs)]


if __name__ == "__main__":
    main(sys.argv[1:])
