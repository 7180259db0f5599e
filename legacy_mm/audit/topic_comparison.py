"""Compares the records of two clusters: counts, order-free hashes, missing and doubled records.

Read `compare` first.

(1) The log ends of both sides are noted; later records are ignored, and where committed records are read, those from an
open transaction on. (2) Each partition is cut into slices, a Spark task
for each. (3) A record becomes a fingerprint; a topic with as many records and the same sum of fingerprints on both
sides is equal. (4) The others are read again: equal fingerprints meet in one row, whatever partition they are in, and a
surplus of one side is reported by topic, partition and hour, with its first and last offset.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.cluster.cluster_errors import at_cluster
from legacy_mm.runtime.spark.tables import Slice, Tables

SIDES = ("source", "target")
_ASK_TIMEOUT = 10.0
_SLICE_RECORDS = 500_000
_VIEW = "records"
_HASHES = 1 << 64
_TASK_MODULE = "legacy_mm.audit.fingerprints"
_TOTALS = """
SELECT topic, side, count(*) AS records, sum(CAST(fingerprint AS DECIMAL(20, 0))) AS hash
FROM records GROUP BY topic, side
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
class TopicDifference:
    """Records that one side has more often.

    Partition and offsets are the source's for missing records, otherwise the target's.
    """

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
    """Number and hash of one side's records of a topic."""

    topic: str
    side: str
    records: int
    hash: int
    """The sum of the fingerprints, 64 bits of it."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Offsets of one side that were not compared, because a transaction is open from the first of them on."""

    topic: str
    side: str
    partition: int
    begin: int
    end: int
    """One past the last of them."""


@dataclass(frozen=True, slots=True)
class ComparisonOutcome:
    """Totals of both sides, and the differences. Topics have their names at the source.

    The sides are equal if there are neither differences nor unread offsets.
    """

    names: Mapping[str, str]
    """Source topic -> its name at the target."""
    totals: tuple[Totals, ...]
    differences: tuple[TopicDifference, ...]
    unread: tuple[Unread, ...] = ()
    undecided: tuple[TopicDifference, ...] = ()
    """Differences that may be none: what was not found may be among the other side's unread offsets."""


def compare(
    context: Any,
    connections: Mapping[str, ConnectionSettings],
    secret: str,
    named: Callable[[Collection[str]], Mapping[str, str]],
    watch: Callable[[float], None] | None,
    *,
    timed: bool,
    committed_only: bool = False,
    without_header: str = "",
) -> ComparisonOutcome:
    """Compare topics of the source with their copies.

    Raises HostError if there are none. Of a partition with an open transaction, the records before it are compared.

    `named` chooses among the source's topics and returns their names at the target. `secret` gives the tasks the
    connections. `watch` gets the share that has been read, from 0 to 1, and from 0 again for the differences.
    `committed_only`: the mirror copies no record of an aborted transaction. `without_header`: the header that it adds.
    """
    inspectors = {side: NativeInspector(connections[side]) for side in SIDES}
    counts = {}
    for side in SIDES:
        with at_cluster(side, connections[side]):
            counts[side] = inspectors[side].partitions(Deadline.after(_ASK_TIMEOUT))
    names = named(counts["source"])
    if not names:
        raise HostError("nothing to compare: no topic of the source matches, or the principal may see none")
    topics = {"source": {name: name for name in names}, "target": {there: here for here, there in names.items()}}
    slices: list[Slice] = []
    unread: list[Unread] = []
    for side in SIDES:
        committed = committed_only or side == "target"
        partitions = [
            TopicPartition(name, number) for name in topics[side] for number in range(counts[side].get(name, 0))
        ]
        with at_cluster(side, connections[side]):
            ends = inspectors[side].log_ends(partitions, Deadline.after(_ASK_TIMEOUT))
            opened = inspectors[side].open_from(ends, Deadline.after(_ASK_TIMEOUT)) if committed else {}
        for place, begin in opened.items():
            low, end = ends[place]
            unread.append(Unread(topics[side][place.topic], side, place.partition, begin, end))
            ends[place] = low, begin
        common = {"side": side, "timed": timed, "committed": committed, "without_header": without_header}
        slices += [{**common, "name": topics[side][cut["topic"]], **cut} for cut in _cuts(ends)]

    def query(name: str, sql: str, read: list[Slice]) -> list[Mapping[str, Any]]:
        on_progress = None if watch is None else lambda done: watch(done / len(read))
        return Tables(context, _TASK_MODULE, read, secret, _VIEW).query(name, sql, on_progress)

    held = query("totals", _TOTALS, slices) if slices else []
    totals = [*_totals(held, names)]
    unequal = _unequal(totals)
    again = [cut for cut in slices if cut["name"] in unequal]
    found = [TopicDifference(**row) for row in query("differences", _DIFFERENCES, again)] if again else []
    undecided = tuple(each for each in found if _may_be_unread(each, found, unread))
    differences = tuple(each for each in found if each not in undecided)
    return ComparisonOutcome(names, tuple(totals), differences, tuple(unread), undecided)


def _may_be_unread(row: TopicDifference, differences: Iterable[TopicDifference], unread: Iterable[Unread]) -> bool:
    """Return True if all that one side has more often may be among the unread offsets of the other side."""
    missing = row.kind == "missing"
    alike = (each for each in differences if each.topic == row.topic and (each.kind == "missing") == missing)
    surplus = sum(each.records for each in alike)
    other = "target" if missing else "source"
    return surplus <= sum(each.end - each.begin for each in unread if (each.topic, each.side) == (row.topic, other))


def _totals(held: Iterable[Mapping[str, Any]], topics: Iterable[str]) -> Iterator[Totals]:
    """Yield the totals of every topic on both sides, also without records."""
    rows = {(row["topic"], row["side"]): row for row in held}
    for topic, side in product(topics, SIDES):
        row = rows.get((topic, side), {"records": 0, "hash": 0})
        yield Totals(topic, side, row["records"], int(row["hash"]) % _HASHES)


def _unequal(totals: Iterable[Totals]) -> frozenset[str]:
    """Return the topics that differ."""
    sides: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for found in totals:
        sides[found.topic].add((found.records, found.hash))
    return frozenset(topic for topic, held in sides.items() if len(held) > 1)


def _cuts(ends: Mapping[TopicPartition, tuple[int, int]]) -> Iterator[Slice]:
    for (topic, number), (low, high) in ends.items():
        for begin in range(low, high, _SLICE_RECORDS):
            end = min(high, begin + _SLICE_RECORDS)
            yield {"topic": topic, "partition": number, "begin": begin, "end": end}
