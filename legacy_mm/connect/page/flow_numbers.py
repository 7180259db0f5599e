"""The partitions, streams and counts of a flow, as one snapshot tells of them: pure functions."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from legacy_mm.connect.page.flow_history import Course
from legacy_mm.metrics.registry import Labels, Snapshot
from legacy_mm.metrics.window import NOTHING_YET, WindowReading

Readings = Mapping[str, WindowReading]
MEASURES = frozenset(
    (
        *(
            "lag",
            "lead",
            "lag_seconds",
            "lag_records",
            "lag_is_longer",
            "rewound",
            "caught_up_seconds",
            "records",
            "received_bytes",
        ),
        *("assigned", "rebalances", "rebalance", "commits"),
        *("dropped", "gaps", "skipped_offsets", "quarantined", "failures"),
        *("checkpoints", "groups", "syncs", "failed_syncs", "groups_seen", "groups_left_out", "left_out"),
        *("last_heartbeat", "last_checkpoint", "last_look", "last_sync"),
    )
)
"""The measures that a page shows."""
_OF_PARTITIONS = ("partition", "consumer_partition", "mirror_partition", "mirror_group")
_NOTHING: Readings = {}
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
    """The records that the target does not have yet; NaN where nobody knows."""
    is_longer: bool
    """It is behind for longer than `seconds`."""
    stream: str
    """The client id of the stream that copies it."""
    own: Readings
    """The measures of the partition."""
    copy: Readings
    """The measures of its copy; none where nobody counts them."""
    rewound: float = 0.0
    """The offsets by which its copying went back lately."""

    @property
    def rate(self) -> float:
        """Records a second that are copied; NaN where nobody counts them."""
        found = self.copy.get("records")
        return math.nan if found is None else found.rate()

    @property
    def course(self) -> Course:
        """The direction of its lag, or that it went back."""
        if self.rewound > 0:
            return Course.REWIND
        return _course(self.records, self.own.get("lag", NOTHING_YET), self.own.get("lead", NOTHING_YET))


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


class LeftOut(NamedTuple):
    """A group of the source that has no checkpoint for some partition."""

    group: str
    why: str


class FlowNumbers(NamedTuple):
    """The numbers of one flow."""

    rows: Sequence[PartitionRow]
    """The partitions that a client has reported on."""
    streams: Sequence[StreamRow]
    others: Sequence[tuple[str, Readings]]
    """The measures of what is no partition, and the level that each belongs to."""
    left_out: Sequence[LeftOut] = ()

    @property
    def partitions(self) -> float:
        """The number of partitions that the streams own; NaN before they have an assignment."""
        return total(row.partitions for row in self.streams)

    @property
    def lag(self) -> float:
        """The lag of all partitions together; NaN where nobody knows, as while no stream is in its group."""
        is_idle = self.partitions == 0 and any(row.is_member for row in self.streams)
        return 0.0 if is_idle else total(row.records for row in self.rows)

    def summed(self, level: str, measure: str) -> float:
        """Return the value of a measure, of all places of a level together."""
        return sum(known(each.value, 0) for each in self.of(level, measure))

    def rate(self, level: str, measure: str) -> float:
        """Return how much of a measure comes a second, of all places of a level together."""
        return sum(each.rate() for each in self.of(level, measure))

    def greatest(self, level: str, measure: str) -> float:
        """Return the greatest value of a measure; NaN if none is known."""
        return greatest(each.value for each in self.of(level, measure))

    def least(self, level: str, measure: str) -> float:
        """Return the least value of a measure; NaN if none is known."""
        return -greatest(-each.value for each in self.of(level, measure))

    def of(self, level: str, measure: str) -> Iterator[WindowReading]:
        """Yield a measure of all places of a level that have it."""
        return (readings[measure] for where, readings in self.others if where == level and measure in readings)


def numbers_of(snapshots: Iterable[Snapshot], outside: Collection[str] = ()) -> FlowNumbers:
    """Return what snapshots of one flow tell; `outside` has the client ids of streams that are in no group."""
    rows: list[PartitionRow] = []
    streams: list[StreamRow] = []
    others: list[tuple[str, Readings]] = []
    left_out: list[LeftOut] = []
    for snapshot in snapshots:
        own: list[tuple[Labels, Readings]] = []
        copies: dict[tuple[str, str], Readings] = {}
        lags: dict[tuple[str, str], Readings] = {}
        sources: dict[str, str] = {}
        for (level, labels), readings in snapshot.readings.items():
            if level == "consumer_partition":
                own.append((labels, readings))
            elif level == "mirror_partition":
                copy, partition = labels[2][1], labels[3][1]
                copies[copy, partition] = readings
                if (topic := sources.get(copy)) is None:
                    topic = sources[copy] = _without_alias(copy, labels[0][1])
                copies.setdefault((topic, partition), readings)
            elif level == "partition":
                lags[labels[0][1], labels[1][1]] = readings
            elif level == "consumer":
                streams.append(_stream(snapshot.flow, labels[0][1], readings, outside))
            elif level == "group_left_out":
                left_out.append(LeftOut(labels[0][1], labels[1][1]))
            if level not in _OF_PARTITIONS:
                others.append((level, readings))
        rows += (_row(snapshot.flow, labels, readings, copies, lags) for labels, readings in own)
    return FlowNumbers(rows, sorted(streams), others, sorted(left_out))


def _without_alias(copy: str, alias: str) -> str:
    """Return the topic of which one of this name is a copy, if its name has the source's alias before it."""
    return copy[len(alias) + 1 :] if copy.startswith(alias) else copy


def _row(
    flow: str,
    labels: Labels,
    readings: Readings,
    copies: Mapping[tuple[str, str], Readings],
    lags: Mapping[tuple[str, str], Readings],
) -> PartitionRow:
    (_, client_id), (_, topic), (_, partition) = labels
    lag = lags.get((topic, partition), _NOTHING)
    return PartitionRow(
        flow,
        topic,
        int(partition),
        lag.get("lag_seconds", NOTHING_YET).value,
        lag.get("lag_records", NOTHING_YET).value,
        "lag_is_longer" in lag,
        client_id,
        readings,
        copies.get((topic, partition), _NOTHING),
        known(lag.get("rewound", NOTHING_YET).value, 0.0),
    )


def _stream(flow: str, client_id: str, readings: Readings, outside: Collection[str]) -> StreamRow:
    numbers = (_value(readings, name) for name in ("assigned", "rebalances", "rebalance", "commits"))
    return StreamRow(flow, client_id, client_id not in outside, *numbers)


def _course(records: float, lag: WindowReading, lead: WindowReading) -> Course:
    """Return where a partition goes, by the reports of the last half minute or minute about how far it was read."""
    if math.isnan(records):
        return Course.UNKNOWN
    if records == 0:
        return Course.KEEPS_UP
    if lag.recordings < _FEW:
        return Course.UNKNOWN
    if lead.maximum == lead.minimum:
        return Course.STANDS_STILL
    if lag.value >= lag.maximum and lag.value > lag.minimum:
        return Course.FALLS_BEHIND
    return Course.CATCHES_UP if lag.value < lag.average() else Course.KEEPS_UP


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
