"""The copying client at the source: reads given partitions from given offsets, never resets, never commits.

An offset that is not in the log is reported as a gap; the partition waits until `resume` says where to go on.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clock import Deadline
from legacy_mm.copyjob import Gap, Started, Statistics
from legacy_mm.errors import StreamFailure
from legacy_mm.kafka.client import QUESTION_SECONDS, ErrorLines, client_properties, count_partitions, leaders, ours
from legacy_mm.kafka.errors import ends_reading, is_out_of_range
from legacy_mm.kafka.statistics import statistics_properties
from legacy_mm.model import EARLIEST, LATEST, Columns, Offsets, TopicPartition

BATCH_RECORDS = 400
_START_SECONDS, _PAUSE_SECONDS = 4.0, 0.5
_RESOLVE_SECONDS = 10.0
_CUT = re.compile(r"broker end offset is (\d+)")
_error = Message.error
_topic: Callable[[Any], str] = Message.topic  # type: ignore[assignment]
_partition: Callable[[Any], int] = Message.partition  # type: ignore[assignment]


class PartitionRecords(NamedTuple):
    """Some records of one partition, in order."""

    partition: TopicPartition
    records: list[Any]

    def times(self) -> list[int]:
        """Milliseconds since 1970."""
        return [time for _, time in map(Message.timestamp, self.records)]

    def value_bytes(self) -> int:
        """Bytes of all values; null has none."""
        return sum(map(len, filter(None, map(Message.value, self.records))))

    def next_offset(self) -> int:
        """One past the last."""
        return int(self.records[-1].offset()) + 1


class PartitionReader:
    """Reads the partitions of one copy job."""

    def __init__(
        self, properties: Mapping[str, str], timeout: float, on_statistics: Callable[[Statistics], None]
    ) -> None:
        self._timeout = timeout
        own = {"auto.offset.reset": "error", **statistics_properties("consumer", properties, on_statistics)}
        self._errors = ErrorLines(properties.get("client.id", "client"))
        self._consumer = Consumer(client_properties(properties, self._errors, **own))
        self._gaps: list[Gap] = []
        self.unled: dict[TopicPartition, int] = {}
        """Partitions whose start, EARLIEST or LATEST, is not known yet."""
        self._resolve_at = Deadline.after(0)
        self._starts: dict[TopicPartition, int] = {}
        self._waiting: set[TopicPartition] = set()
        self._failure: StreamFailure | None = None

    def start(self, offsets: Offsets) -> Started:
        """Begin to fetch; the actual start offsets, EARLIEST and LATEST resolved.

        Those of partitions that nobody leads come later, from `take_started`.
        """
        self.unled = {partition: offset for partition, offset in offsets.items() if offset in (EARLIEST, LATEST)}
        known = {partition: offset for partition, offset in offsets.items() if partition not in self.unled}
        found = self._resolved(_START_SECONDS)
        self._starts = {**known, **found.offsets}
        self._assign()
        return Started(dict(self._starts), found.lows)

    def take_started(self, positions: Offsets) -> Started | None:
        """Where partitions begin that nobody led before, as soon as somebody does; to be asked while there are any.

        `positions` as for `resume`.
        """
        if not self._resolve_at.expired():
            return None
        found = self._resolved(0.0)
        self._resolve_at = Deadline.after(_RESOLVE_SECONDS)
        if found.offsets:
            self.resume(found.offsets, positions)
        return found if found.offsets else None

    def read(self, timeout: float) -> list[Any]:
        """Records that are there, at most BATCH_RECORDS; waits only for the first.

        Raises StreamFailure, but only once the records that came before it have been handed over.
        """
        if self._failure is not None:
            raise self._failure
        first = self._consumer.poll(timeout)
        self._errors.raise_refusal()
        if first is None:
            return []
        records = [first, *self._consumer.consume(BATCH_RECORDS - 1, 0)]
        if any(map(_error, records)):
            errors = [record for record in records if record.error() is not None]
            records = [record for record in records if record.error() is None]
            self._failure = self._sort_out(errors)
            if self._failure is not None and not records:
                raise self._failure
        return records

    def partitions(self, topic: str) -> int | None:
        """How many a topic has, asked now: 0 if it is not there, None if nobody answers."""
        return count_partitions(self._consumer, topic)

    def take_gaps(self) -> list[Gap]:
        """Gaps found since the last call."""
        gaps, self._gaps = self._gaps, []
        return gaps

    def resume(self, offsets: Offsets, positions: Offsets) -> None:
        """Go on with partitions that waited; `positions`: one past what `read` handed over of the others.

        librdkafka refuses to seek a partition that failed, so everything is assigned anew from where it is. Its own
        positions do not tell: an error that it hands over counts in them like a record.
        """
        self._waiting -= offsets.keys()
        self._starts |= {**positions, **offsets}
        self._assign()

    def _assign(self) -> None:
        starts = {partition: offset for partition, offset in self._starts.items() if partition not in self._waiting}
        self._consumer.assign([ClientPartition(*partition, offset) for partition, offset in starts.items()])

    def _resolved(self, patience: float) -> Started:
        """The starts of partitions that have none yet, of those whose leaders tell them within this time."""
        starts: dict[TopicPartition, int] = {}
        lows: dict[TopicPartition, int] = {}
        deadline = Deadline.after(patience)
        while self.unled:
            last = deadline.expired()
            for partitions in self._led():
                for partition, (low, high) in self._ends(partitions, in_halves=last).items():
                    starts[partition] = low if self.unled.pop(partition) == EARLIEST else high
                    lows[partition] = low
            if last:
                break
            threading.Event().wait(_PAUSE_SECONDS)
        if self.unled:
            self._errors.tell(f"nobody leads {next(iter(self.unled))}, or its leader does not answer", "unled")
        return Started(starts, lows)

    def _led(self) -> list[list[TopicPartition]]:
        """The partitions that have no start yet and that somebody leads, leader by leader."""
        found: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        for partition, leader in leaders(self._consumer, self.unled).items():
            found[leader].append(partition)
        return list(found.values())

    def _ends(
        self, partitions: Sequence[TopicPartition], *, in_halves: bool
    ) -> Mapping[TopicPartition, tuple[int, int]]:
        """First offset and the next to be written, of those of one leader's partitions that it tells.

        librdkafka tells none where the leader refuses one; `in_halves`: then the others are asked for again.
        """
        try:
            low, high = (self._offsets(partitions, which) for which in (EARLIEST, LATEST))
        except KafkaException as error:
            problem = error.args[0]
            if len(partitions) > 1 and problem.code() > 0 and (in_halves or ends_reading(problem)):
                middle = len(partitions) // 2
                halves = (partitions[:middle], partitions[middle:])
                return {**self._ends(halves[0], in_halves=in_halves), **self._ends(halves[1], in_halves=in_halves)}
            if ends_reading(problem):
                raise StreamFailure(f"reading {partitions[0]} failed: {problem.str()}") from error
            return {}
        return {each: (low[each], high[each]) for each in low.keys() & high.keys()}

    def _offsets(self, partitions: Sequence[TopicPartition], which: int) -> dict[TopicPartition, int]:
        asked = [ClientPartition(*partition, which) for partition in partitions]
        answers = self._consumer.offsets_for_times(asked, timeout=QUESTION_SECONDS)
        return {ours(each): each.offset for each in answers if each.error is None}

    def _watermarks(self, partition: TopicPartition) -> tuple[int, int]:
        try:
            low, high = self._consumer.get_watermark_offsets(ClientPartition(*partition), timeout=self._timeout)
        except KafkaException as error:
            raise TimeoutError(f"offsets of {partition}: {error.args[0].str()}") from error
        return low, high

    def _sort_out(self, errors: Iterable[Any]) -> StreamFailure | None:
        """Note the gaps among them; the first that ends reading."""
        for record in errors:
            error = record.error()
            if is_out_of_range(error):
                partition = TopicPartition(record.topic(), record.partition())
                self._waiting.add(partition)
                self._gaps.append(self._gap(partition, record.offset(), error.str()))
            elif ends_reading(error):
                return StreamFailure(f"reading {record.topic()}-{record.partition()} failed: {error.str()}")
            else:
                self._errors.tell(f"{record.topic()}-{record.partition()}: {error.str()}", error.name())
        return None

    def _gap(self, partition: TopicPartition, offset: int | None, reason: str) -> Gap:
        """A log that an unclean election has cut is told without an offset, and where it was cut only in words."""
        cut = _CUT.search(reason)
        if offset is None:
            (place,) = self._consumer.position([ClientPartition(*partition)])
            offset = place.offset if place.offset >= 0 else self._starts[partition]
        low, high = self._watermarks(partition)
        return Gap(*partition, offset, low, high, reason, int(cut[1]) if cut else -1)


def last_offsets(records: Sequence[Any]) -> dict[TopicPartition, int]:
    """One past the last of these records, per partition. Runs over every record, so it loops in C.

    0.2 us each; 0.1 where all are of one partition, as nearly always: fetched records come partition by partition.
    """
    topics, numbers = list(map(_topic, records)), list(map(_partition, records))
    if records and topics.count(topics[0]) == numbers.count(numbers[0]) == len(records):
        return {TopicPartition(topics[0], numbers[0]): records[-1].offset() + 1}
    last = dict(zip(zip(topics, numbers, strict=True), records, strict=True))
    return {TopicPartition(*place): record.offset() + 1 for place, record in last.items()}


def unreadable(records: Iterable[Any], error: UnicodeDecodeError) -> StreamFailure:
    """The failure that names the record of these with a header whose name is not UTF-8.

    confluent-kafka tells once, by a SystemError caused by `error`; from then on that name is no object.
    """
    record = next(record for record in records if "(<NULL>, " in repr(record.headers()))
    place = TopicPartition(record.topic(), record.partition())
    return StreamFailure(
        f"{place} at offset {record.offset()} has a header whose name is not UTF-8 ({error}); "
        "only --engine batches copies it"
    )


def places_of(records: Sequence[Any]) -> Iterator[TopicPartition]:
    """The partition of each of these records."""
    return map(TopicPartition, map(_topic, records), map(_partition, records))


def by_partition(records: Sequence[Any]) -> Iterator[PartitionRecords]:
    """These records in portions of one partition each."""
    found: defaultdict[tuple[str, int], list[Any]] = defaultdict(list)
    for place, record in zip(zip(map(_topic, records), map(_partition, records), strict=True), records, strict=True):
        found[place].append(record)
    for place, portion in found.items():
        yield PartitionRecords(TopicPartition(*place), portion)


def columns(records: Sequence[Any]) -> Columns:
    """The fields of these records, for a handler. Runs over every record, so most of it loops in C."""
    stamps = list(map(Message.timestamp, records))
    return Columns(
        topics=list(map(_topic, records)),
        partitions=list(map(_partition, records)),
        offsets=[record.offset() for record in records],
        timestamp_types=[kind for kind, _ in stamps],
        timestamps=[time for _, time in stamps],
        keys=list(map(Message.key, records)),
        values=list(map(Message.value, records)),
        headers=[tuple(headers) if headers else () for headers in map(Message.headers, records)],  # type: ignore[arg-type]
    )
