"""Compare what two clusters hold: counts, order-free hashes, missing and doubled records. Read `compare` first.

(1) The ends of both sides are noted; what is written later is not looked at. (2) Each partition is cut into slices, a
Spark task for each. (3) A record becomes a fingerprint; equal fingerprints meet in one row, whatever partition they
are in. (4) What one side has more often is told by topic, partition and hour, with its first and last offset.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from legacy_mm.clock import Deadline
from legacy_mm.kafka.survey import SourceSurvey
from legacy_mm.model import TopicPartition
from legacy_mm.spark.tables import Slice, query

SIDES = ("source", "target")
_ASK_SECONDS = 10.0
_SLICE_RECORDS = 500_000
_TASK_MODULE = "legacy_mm.verify.fingerprints"
_TOTALS = """
SELECT topic, side, count(*) AS records, sum(fingerprint & 4294967295) AS hash FROM records GROUP BY topic, side
"""
_DIFFERENCES = """
WITH counted AS (
  SELECT topic, fingerprint, count_if(side = 'source') AS sources, count_if(side = 'target') AS targets,
    min(struct(side, partition, offset, hour)) AS first, max(struct(side, partition, offset, hour)) AS last
  FROM records GROUP BY topic, fingerprint HAVING sources <> targets
), judged AS (
  SELECT topic, abs(sources - targets) AS surplus,
    CASE WHEN sources > targets THEN 'missing' WHEN sources = 0 THEN 'unexpected' ELSE 'doubled' END AS kind,
    CASE WHEN sources > targets THEN first ELSE last END AS place
  FROM counted
)
SELECT topic, kind, place.partition AS partition, place.hour AS hour, sum(surplus) AS records,
  min(place.offset) AS first_offset, max(place.offset) AS last_offset
FROM judged GROUP BY topic, kind, place.partition, place.hour ORDER BY topic, kind, partition, hour
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """Records that one side has more often; partition and offsets are the source's for what is missing, else the
    target's."""

    topic: str
    kind: str
    """`missing`, `doubled` or `unexpected`."""
    partition: int
    hour: int
    """Hours since 1970, of the records' timestamps."""
    records: int
    first_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class Totals:
    """What one side holds of a topic."""

    topic: str
    side: str
    records: int
    hash: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """Both sides, and what differs: nothing where they are equal."""

    totals: tuple[Totals, ...]
    differences: tuple[Difference, ...]


def compare(
    context: Any,
    connections: Mapping[str, Mapping[str, str]],
    matching: Callable[[Collection[str]], Collection[str]],
    folder: Path,
    *,
    timed: bool,
) -> Outcome:
    """Compare the topics of the source that match with those of the same name at the target."""
    slices: list[Slice] = []
    topics: Collection[str] = ()
    for side in SIDES:
        survey = SourceSurvey(connections[side])
        counts = survey.partitions(Deadline.after(_ASK_SECONDS))
        topics = sorted(matching(counts)) if side == "source" else topics
        partitions = [TopicPartition(name, number) for name in topics for number in range(counts.get(name, 0))]
        ends = survey.log_ends(partitions, Deadline.after(_ASK_SECONDS))
        common = {"side": side, "connection": str(_write(folder / side, connections[side])), "timed": timed}
        slices += [{**common, "committed": side == "target", **cut} for cut in _cuts(ends)]
    if not slices:
        return Outcome((), ())
    totals = query(context, _TASK_MODULE, slices, "records", _TOTALS)
    differences = query(context, _TASK_MODULE, slices, "records", _DIFFERENCES)
    return Outcome(tuple(Totals(**row) for row in totals), tuple(Difference(**row) for row in differences))


def _cuts(ends: Mapping[TopicPartition, tuple[int, int]]) -> Iterator[Slice]:
    for (topic, number), (low, high) in ends.items():
        for begin in range(low, high, _SLICE_RECORDS):
            end = min(high, begin + _SLICE_RECORDS)
            yield {"topic": topic, "name": topic, "partition": number, "begin": begin, "end": end}


def _write(path: Path, connection: Mapping[str, str]) -> Path:
    """Credentials go to the tasks by a file of this process's own folder, never through Spark (invariant G)."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(dict(connection), file)
    return path
