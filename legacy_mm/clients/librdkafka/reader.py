"""The copying client at the source: reads given partitions from given offsets, never resets, never commits.

An offset that is not in the log is reported as a gap; the partition waits until `resume` says where to go on.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clients.librdkafka.client import (
    QUESTION_TIMEOUT,
    ErrorLines,
    client_properties,
    count_partitions,
    leaders,
    to_topic_partition,
)
from legacy_mm.clients.librdkafka.error_meanings import ends_reading, is_out_of_range
from legacy_mm.clients.librdkafka.statistics import statistics_properties
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConsumerSettings
from legacy_mm.control_channel.frames import Gap, Started, Statistics
from legacy_mm.errors import StreamFailure
from legacy_mm.model import EARLIEST, LATEST, NO_RECORDS, Columns, Offsets, TopicPartition

BATCH_RECORDS = 400
_START_TIMEOUT, _RETRY_BACKOFF = 4.0, 0.5
_RESOLVE_TIMEOUT = 10.0
_CUT = re.compile(r"broker end offset is (\d+)")
_error = Message.error
_topic: Callable[[Any], str] = Message.topic  # type: ignore[assignment]
_partition: Callable[[Any], int] = Message.partition  # type: ignore[assignment]


class PartitionReader:
    """Reads the partitions of one copy job."""

    def __init__(self, settings: ConsumerSettings, timeout: float, on_statistics: Callable[[Statistics], None]) -> None:
        self._timeout = timeout
        told = statistics_properties("consumer", on_statistics, committed_only=settings.fetch.committed_only)
        own = {"auto.offset.reset": "error", **told}
        self._errors = ErrorLines(settings.connection.client_id)
        self._consumer = Consumer(client_properties(settings, self._errors, **own))
        self._gaps: list[Gap] = []
        self.leaderless: dict[TopicPartition, int] = {}
        """Partitions whose start, EARLIEST or LATEST, is not known yet."""
        self._resolve_at = Deadline.after(0)
        self._starts: dict[TopicPartition, int] = {}
        self._waiting: set[TopicPartition] = set()
        self._failure: StreamFailure | None = None

    def start(self, offsets: Offsets) -> Started:
        """Begin to fetch; the actual start offsets, EARLIEST and LATEST resolved.

        Those of partitions without a leader come later, from `take_started`.
        """
        self.leaderless = {partition: offset for partition, offset in offsets.items() if offset in (EARLIEST, LATEST)}
        known = {partition: offset for partition, offset in offsets.items() if partition not in self.leaderless}
        found = self._resolved(_START_TIMEOUT)
        self._starts = {**known, **found.offsets}
        self._assign()
        return Started(dict(self._starts), found.lows)

    def take_started(self, positions: Callable[[], Offsets]) -> Started | None:
        """Take the start offsets of partitions that got their first leader.

        `positions` returns the argument of `resume`.
        """
        if not self.leaderless or not self._resolve_at.expired():
            return None
        found = self._resolved(0.0)
        self._resolve_at = Deadline.after(_RESOLVE_TIMEOUT)
        if found.offsets:
            self.resume(found.offsets, positions())
        return found if found.offsets else None

    def read(self, timeout: float) -> Columns:
        """Read available records, at most BATCH_RECORDS; wait only for the first.

        Raise StreamFailure, but only after all earlier records were returned.
        """
        if self._failure is not None:
            raise self._failure
        first = self._consumer.poll(timeout)
        self._errors.raise_refusal()
        if first is None:
            return NO_RECORDS
        records = [first, *self._consumer.consume(BATCH_RECORDS - 1, 0)]
        if any(map(_error, records)):
            errors = [record for record in records if record.error() is not None]
            records = [record for record in records if record.error() is None]
            self._failure = self._sort_out(errors)
            if self._failure is not None and not records:
                raise self._failure
        return columns(records)

    def partitions(self, topic: str) -> int | None:
        """Return a topic's partition count, asked now: 0 if it does not exist, None without an answer."""
        return count_partitions(self._consumer, topic)

    def cluster_id(self) -> str:
        """Return an empty id: librdkafka does not know it without a request."""
        return ""

    def take_gaps(self) -> list[Gap]:
        """Take the gaps found since the last call."""
        gaps, self._gaps = self._gaps, []
        return gaps

    def resume(self, offsets: Offsets, positions: Offsets) -> None:
        """Resume partitions that waited; `positions`: the offsets after the last records that `read` returned of the
        others.

        librdkafka refuses to seek a partition that failed, so everything is assigned anew at its position. Its own
        positions are unusable: an error that it returns counts in them like a record.
        """
        self._waiting -= offsets.keys()
        self._starts |= {**positions, **offsets}
        self._assign()

    def hold(self, offsets: Offsets, positions: Offsets) -> None:
        """Read no more of these until `resume`; `positions`: where the others are, as `resume` wants them."""
        self._waiting |= offsets.keys()
        self._starts |= {**positions, **offsets}
        self._assign()

    def close(self) -> None:
        """Read no more."""
        self._consumer.unassign()

    def _assign(self) -> None:
        starts = {partition: offset for partition, offset in self._starts.items() if partition not in self._waiting}
        self._consumer.assign([ClientPartition(*partition, offset) for partition, offset in starts.items()])

    def _resolved(self, timeout: float) -> Started:
        """Return new starts of partitions whose leaders answer within this time."""
        starts: dict[TopicPartition, int] = {}
        lows: dict[TopicPartition, int] = {}
        deadline = Deadline.after(timeout)
        while self.leaderless:
            last = deadline.expired()
            for partitions in self._led():
                for partition, (low, high) in self._ends(partitions, in_halves=last).items():
                    starts[partition] = low if self.leaderless.pop(partition) == EARLIEST else high
                    lows[partition] = low
            if last:
                break
            threading.Event().wait(_RETRY_BACKOFF)
        if self.leaderless:
            self._errors.tell(
                f"{next(iter(self.leaderless))} has no leader, or its leader does not answer", "leaderless"
            )
        return Started(starts, lows)

    def _led(self) -> list[list[TopicPartition]]:
        """Return the partitions that have a leader but no start yet, leader by leader."""
        found: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        for partition, leader in leaders(self._consumer, self.leaderless).items():
            found[leader].append(partition)
        return list(found.values())

    def _ends(
        self, partitions: Sequence[TopicPartition], *, in_halves: bool
    ) -> Mapping[TopicPartition, tuple[int, int]]:
        """Return first and next offset of one leader's partitions that it answers for.

        librdkafka returns none where the leader refuses one; `in_halves`: then the others are asked for again.
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
        answers = self._consumer.offsets_for_times(asked, timeout=QUESTION_TIMEOUT)
        return {to_topic_partition(each): each.offset for each in answers if each.error is None}

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
        """Return the gap; a log cut by an unclean election is reported without an offset, which only the text names."""
        cut = _CUT.search(reason)
        if offset is None:
            (place,) = self._consumer.position([ClientPartition(*partition)])
            offset = place.offset if place.offset >= 0 else self._starts[partition]
        low, high = self._watermarks(partition)
        return Gap(*partition, offset, low, high, reason, int(cut[1]) if cut else -1)


def unreadable(place: TopicPartition, offset: int, flaw: str) -> StreamFailure:
    """Return the failure of a record with a header whose name librdkafka's Python client cannot take as it is."""
    return StreamFailure(f"{place} at offset {offset} has a header whose name {flaw}; only --engine batches copies it")


def not_text(error: UnicodeDecodeError) -> str:
    """Describe the flaw of a name."""
    return f"is not UTF-8 ({error})"


def columns(records: Sequence[Any]) -> Columns:
    """Return the fields of these records. Most of it loops in C. Raise StreamFailure for a header name that is not
    text.

    confluent-kafka reports that once, by a SystemError; from then on the name is no object.
    """
    try:
        return _columns(records)
    except SystemError as error:
        if not isinstance(error.__cause__, UnicodeDecodeError):
            raise
        record = next(record for record in records if "(<NULL>, " in repr(record.headers()))
        place = TopicPartition(record.topic(), record.partition())
        raise unreadable(place, record.offset(), not_text(error.__cause__)) from error


def _columns(records: Sequence[Any]) -> Columns:
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
