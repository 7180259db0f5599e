"""The partitions and streams of a flow, as one snapshot tells of them: pure functions."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from legacy_mm.connect.page.flow_history import Course
from legacy_mm.metrics.registry import Scope, Snapshot
from legacy_mm.metrics.window import NOTHING_YET, WindowReading

Readings = Mapping[str, WindowReading]
_FEW = 4
"""Reports in a window below which nothing is said of where a partition goes."""


class PartitionRow(NamedTuple):
    """One partition of the source."""

    flow: str
    topic: str
    partition: int
    seconds: float
    """The lag; NaN where nobody knows."""
    records: float
    """The lag; NaN where nobody knows."""
    rate: float
    """Records a second that are copied; NaN where nobody counts them."""
    course: Course
    stream: str
    """The client id of the stream that copies it."""


class StreamRow(NamedTuple):
    """One stream."""

    flow: str
    client_id: str
    is_member: bool
    partitions: float
    rebalances: float
    rebalanced_ago: float
    """Seconds; NaN if it never was."""
    commits: float


def partition_rows(snapshots: Iterable[Snapshot]) -> list[PartitionRow]:
    """Return all partitions that streams of these flows own."""
    return [row for snapshot in snapshots for row in _rows_of(snapshot)]


def _rows_of(snapshot: Snapshot) -> list[PartitionRow]:
    own: list[tuple[str, str, str, Readings]] = []
    seconds: dict[tuple[str, str], float] = {}
    rates: dict[tuple[str, str], float] = {}
    for scope, readings in snapshot.readings.items():
        if scope.level == "consumer_partition":
            (_, client_id), (_, topic), (_, partition) = scope.labels
            own.append((client_id, topic, partition, readings))
        if scope.level == "mirror_partition":
            _note_copy(scope, readings, seconds, rates)
        elif "lag_seconds" in readings and scope.labels:
            labels = dict(scope.labels)
            seconds[labels["topic"], labels["partition"]] = readings["lag_seconds"].value
    return [
        PartitionRow(
            snapshot.flow,
            topic,
            int(partition),
            seconds.get((topic, partition), math.nan),
            readings.get("lag", NOTHING_YET).value,
            rates.get((topic, partition), math.nan),
            _course(readings.get("lag", NOTHING_YET), readings.get("lead", NOTHING_YET)),
            client_id,
        )
        for client_id, topic, partition, readings in own
    ]


def _note_copy(
    scope: Scope, readings: Readings, seconds: dict[tuple[str, str], float], rates: dict[tuple[str, str], float]
) -> None:
    """Note what is known of a partition by the name of its copy, which has the source's alias before it, or has not."""
    (_, alias), _, (_, copy), (_, partition) = scope.labels
    for topic in {copy, copy[len(alias) + 1 :] if copy.startswith(alias) else copy}:
        if "uncopied_seconds" in readings:
            seconds.setdefault((topic, partition), readings["uncopied_seconds"].value)
        if "records" in readings:
            rates[topic, partition] = readings["records"].rate()


def _course(lag: WindowReading, lead: WindowReading) -> Course:
    """Return where a partition goes, by the reports of the last half minute or minute."""
    if math.isnan(lag.value):
        return Course.UNKNOWN
    if lag.value == 0:
        return Course.KEEPS_UP
    if lag.recordings < _FEW:
        return Course.UNKNOWN
    if lag.minimum > 0 and lead.maximum == lead.minimum:
        return Course.STANDS_STILL
    if lag.value >= lag.maximum and lag.value > lag.minimum:
        return Course.FALLS_BEHIND
    return Course.CATCHES_UP if lag.value < lag.average() else Course.KEEPS_UP


def stream_rows(snapshots: Iterable[Snapshot], outside: Iterable[str]) -> list[StreamRow]:
    """Return all streams; `outside` has the client ids of those that are no members of their group."""
    not_in = frozenset(outside)
    found = []
    for snapshot in snapshots:
        for scope, readings in snapshot.readings.items():
            if scope.level == "consumer":
                ((_, client_id),) = scope.labels
                row = StreamRow(
                    snapshot.flow,
                    client_id,
                    client_id not in not_in,
                    *(_value(readings, name) for name in ("assigned", "rebalances", "rebalance", "commits")),
                )
                found.append(row)
    return sorted(found)


def _value(readings: Readings, name: str) -> float:
    value = readings.get(name, NOTHING_YET).value
    return math.nan if math.isinf(value) else value


def known(value: float, otherwise: float = -1.0) -> float:
    """Return a value, or another one for what nobody knows; -1 sorts it behind all that is known."""
    return otherwise if math.isnan(value) else value


def is_behind(row: PartitionRow) -> bool:
    """Return True for a partition that is known to have a lag."""
    return row.records > 0 or row.seconds > 0


def worst(rows: Iterable[PartitionRow], count: int) -> list[PartitionRow]:
    """Return the partitions that are behind most, by seconds, then by records."""
    behind = (row for row in rows if is_behind(row))
    return heapq.nlargest(count, behind, key=lambda row: (known(row.seconds), known(row.records)))


class TopicRow(NamedTuple):
    """The partitions of one topic together."""

    flow: str
    topic: str
    partitions: int
    seconds: float
    """The worst of them."""
    records: float
    """All of them."""


def topic_rows(rows: Sequence[PartitionRow]) -> list[TopicRow]:
    """Return the topics, those that are behind most first."""
    of_topic: dict[tuple[str, str], list[PartitionRow]] = {}
    for row in rows:
        of_topic.setdefault((row.flow, row.topic), []).append(row)
    found = [
        TopicRow(flow, topic, len(some), greatest(each.seconds for each in some), total(each.records for each in some))
        for (flow, topic), some in of_topic.items()
    ]
    return sorted(found, key=lambda row: (-known(row.seconds), -known(row.records), row.flow, row.topic))


def greatest(values: Iterable[float]) -> float:
    """Return the greatest known value; NaN if none is known."""
    return max((each for each in values if not math.isnan(each)), default=math.nan)


def total(values: Iterable[float]) -> float:
    """Return the sum of the known values; NaN if none is known."""
    some = [each for each in values if not math.isnan(each)]
    return sum(some) if some else math.nan
