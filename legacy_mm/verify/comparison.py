"""Compare what two clusters hold: counts, order-free hashes, missing and doubled records. Read `compare` first.

(1) The ends of both sides are noted; what is written later is not looked at. (2) Each partition is cut into slices, a
Spark task for each. (3) A record becomes a fingerprint; equal fingerprints meet in one row, whatever partition they
are in. (4) What one side has more often is told by topic, partition and hour, with its first and last offset.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from legacy_mm.clock import Deadline
from legacy_mm.kafka.survey import SourceSurvey
from legacy_mm.model import TopicPartition
from legacy_mm.spark.tables import Slice, Tables

SIDES = ("source", "target")
_ASK_SECONDS = 10.0
_SLICE_RECORDS = 500_000
_VIEW = "records"
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
    """Both sides, and what differs: nothing where they are equal. Topics have their names at the source."""

    names: Mapping[str, str]
    """Of a topic at the target."""
    totals: tuple[Totals, ...]
    differences: tuple[Difference, ...]


def compare(
    context: Any,
    connections: Mapping[str, Mapping[str, str]],
    secret: str,
    named: Callable[[Collection[str]], Mapping[str, str]],
    watch: Callable[[float], None] | None,
    *,
    timed: bool,
) -> Outcome:
    """Compare topics of the source with their copies.

    `named` chooses among the source's topics and says what they are called at the target, `secret` is good for the
    connections in a task, `watch` is told how much of the work is done, from 0 to 1.
    """
    surveys = {side: SourceSurvey(connections[side]) for side in SIDES}
    counts = {side: surveys[side].partitions(Deadline.after(_ASK_SECONDS)) for side in SIDES}
    names = named(counts["source"])
    topics = {"source": {name: name for name in names}, "target": {there: here for here, there in names.items()}}
    slices: list[Slice] = []
    for side in SIDES:
        partitions = [
            TopicPartition(name, number) for name in topics[side] for number in range(counts[side].get(name, 0))
        ]
        ends = surveys[side].log_ends(partitions, Deadline.after(_ASK_SECONDS))
        common = {"side": side, "timed": timed, "committed": side == "target"}
        slices += [{**common, "name": topics[side][cut["topic"]], **cut} for cut in _cuts(ends)]
    if not slices:
        return Outcome(names, (), ())
    tables = Tables(context, _TASK_MODULE, slices, secret, _VIEW)

    def part(done: int) -> Callable[[int], None] | None:
        return None if watch is None else lambda read: watch((done * len(slices) + read) / (2 * len(slices)))

    totals = tables.query("totals", _TOTALS, part(0))
    differences = tables.query("differences", _DIFFERENCES, part(1))
    return Outcome(names, tuple(Totals(**row) for row in totals), tuple(Difference(**row) for row in differences))


def _cuts(ends: Mapping[TopicPartition, tuple[int, int]]) -> Iterator[Slice]:
    for (topic, number), (low, high) in ends.items():
        for begin in range(low, high, _SLICE_RECORDS):
            end = min(high, begin + _SLICE_RECORDS)
            yield {"topic": topic, "partition": number, "begin": begin, "end": end}
