"""The copying client at the target: sends records in order and says when all of them are acknowledged.

Acknowledgement is by barrier: librdkafka reports only failed records, so once `flush` leaves nothing and no failure
was reported, every record sent before it is durable under the configured acks (1.7 us a record, against 2.3 us with a
report for each).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from operator import length_hint
from typing import Any

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, KafkaError, KafkaException, Producer

from legacy_mm.clients.librdkafka.client import (
    ErrorLines,
    NetworkLine,
    ask_topic,
    client_properties,
    count_partitions,
    measure_line,
    missing_topics,
)
from legacy_mm.clients.librdkafka.error_meanings import (
    is_too_large,
    needs_new_producer,
    refusal,
    refuses_idempotence,
    refuses_login,
    refuses_the_record,
)
from legacy_mm.clients.librdkafka.header_support import HeaderCheck
from legacy_mm.clients.librdkafka.statistics import statistics_properties
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.control_channel.frames import UNKNOWN, Statistics
from legacy_mm.model import Columns, Outgoing, TopicPartition

_LEAST_BATCH_BYTES = 1024
_QUEUE_FULL_BACKOFF = 0.05
_ANY_PARTITION = -1


@dataclass(frozen=True, slots=True)
class FailedSend:
    """A record that could not be sent. Sizes are bytes, None for null; `fatal`: this producer can send no more.

    `code` is librdkafka's name of the error, such as MSG_SIZE_TOO_LARGE.
    """

    topic: str
    key_size: int | None
    value_size: int | None
    reason: str
    code: str
    fatal: bool
    refuses_idempotence: bool
    of_the_record: bool = False
    """The target will never take this record, or one in its batch."""
    batch_bytes: int = 0
    """The limit of the batches of a record whose batch was too large, though not the record alone."""
    needs_new_producer: bool = False
    """True where the error is fatal: the target has lost this producer id, and takes the same records under another
    one.
    """


Delivered = Callable[[Any, str, int], None]
"""(row of the source, topic at the target, offset there)."""
Refused = Callable[[Any, FailedSend], bool]
"""(what the record was made of, why it failed) -> whether that is seen to; else it counts as any failure."""


class RecordSender:
    """Sends records to the target cluster; `on_failure` is called for each record that failed for good."""

    def __init__(
        self,
        settings: ProducerSettings,
        names: Mapping[str, str],
        on_failure: Callable[[FailedSend], None],
        on_zero_timestamp: Callable[[TopicPartition], None],
        on_statistics: Callable[[Statistics], None],
        keeps_partition: Collection[str] = (),
        on_delivered: Delivered | None = None,
        on_refused: Refused | None = None,
    ) -> None:
        """Create a sender; `keeps_partition`: source topics whose records `send` leaves in their partition.

        `on_delivered` is called for each row that `send` was given, in the order of its partition, with its topic and
        its offset at the target, UNKNOWN if it failed and may be there nevertheless; about 1 us a record. `on_refused`
        is asked about a failed record before `on_failure` is called.
        """
        self._names = names
        self._keeps_partition = keeps_partition
        self._all_keep_partition = bool(keeps_partition) and names.keys() <= set(keeps_partition)
        self._on_failure = on_failure
        self._on_zero_timestamp = on_zero_timestamp
        self._fatal: KafkaError | None = None
        self.cluster_id = ""
        """The target's, as `topic_problem` has learned it."""
        self._stuck = False
        self._given_up: set[str] = set()
        self._topic = ""
        self._on_delivered = on_delivered
        self._on_refused = on_refused
        self._batch_bytes = settings.produce.joined_bytes
        own = {"on_delivery": self._on_delivery, "delivery.report.only.error": on_delivered is None}
        own |= statistics_properties("producer", on_statistics)
        self._errors = ErrorLines(settings.connection.client_id)
        self._producer = Producer(client_properties(settings, self._on_error, **own))
        self._headers = HeaderCheck(settings, self._errors)

    def send(self, records: Columns, begin: int = 0) -> int:
        """Queue these records from one number on, in order; the number of the first that the full queue did not take.

        The loop over the records runs in C, and all arguments are positional: named ones cost 0.3 us a record.
        Raises StreamFailure when the target does not store headers that there are.
        """
        rest = records.part(begin) if begin else records
        if rest:
            self._topic = self._names[rest.topics[0]]
            if not self._headers.admits(rest.headers, self._topic):
                return begin
        waiting = iter(rest.values)
        sends = map(
            self._producer.produce,
            self._targets(rest),
            waiting,
            rest.keys,
            self._partitions(rest),
            self._outcomes(rest),
            repeat(None),
            self._timestamps(rest),
            map(list, rest.headers) if any(rest.headers) else repeat(None),
        )
        while (refused := self._queue(sends, waiting)) is not None:
            topic, *_, key, value, _ = row = next(rest.part(-length_hint(waiting) - 1).rows())
            self._failed(row, topic, key, value, refused)
        return self._first_unsent(len(records), waiting)

    def send_outgoing(
        self,
        records: Sequence[Outgoing],
        begin: int = 0,
        origins: Sequence[Any] | None = None,
        *,
        are_rows: bool = False,
    ) -> int:
        """Send a handler's records like `send`, with their own topic, partition and timestamp.

        `origins`: the source of each record, for `on_refused`; if they `are_rows`, also for `on_delivered`. Raise
        TypeError, ValueError or OverflowError for an invalid record.
        """
        rest = records[begin:]
        if not rest:
            return begin
        topics, keys, values, headers, partitions, timestamps = zip(*rest, strict=True)
        self._topic = topics[0]
        if not self._headers.admits(headers, self._topic):
            return begin
        waiting = iter(values)
        on_outcome = self._on_outcome if are_rows else self._on_outgoing
        sends = map(
            self._producer.produce,
            topics,
            waiting,
            keys,
            [_ANY_PARTITION if number is None else number for number in partitions],
            repeat(None) if origins is None else map(partial, repeat(on_outcome), origins[begin:]),
            repeat(None),
            [time if time and time > 0 else 0 for time in timestamps],
            [_encodable(pairs) if pairs else None for pairs in headers],
        )
        while (refused := self._queue(sends, waiting)) is not None:
            left = length_hint(waiting) + 1
            topic, key, value, *_ = rest[-left]
            self._failed(None if origins is None else origins[-left], topic, key, value, refused)
        return self._first_unsent(len(records), waiting)

    def _queue(self, sends: Iterator[None], waiting: Iterator[Any]) -> KafkaError | None:
        """Queue until all is queued, the queue is full or a record is refused; `waiting` shows the progress."""
        self._stuck = False
        refused: KafkaError | None = None
        try:
            deque(sends, maxlen=0)
        except BufferError:
            self._stuck = True
        except KafkaException as error:
            refused = error.args[0]
            self._stuck = refused.code() == KafkaError._FATAL  # of the producer, not of this record
        self._serve(self._producer.poll, _QUEUE_FULL_BACKOFF if self._stuck else 0)
        return None if self._stuck else refused

    def _first_unsent(self, total: int, waiting: Iterator[Any]) -> int:
        return total - length_hint(waiting) - self._stuck

    def flush(self, seconds: float) -> bool:
        """Send what is queued and wait for it; True when nothing is unacknowledged."""
        return self._serve(self._producer.flush, seconds)

    def _serve(self, serve: Callable[[float], int], seconds: float) -> bool:
        """Let librdkafka tell what happened; what ends the producer is raised, not told to `_on_error`.

        Where records fail with it, confluent-kafka calls us while that is being raised, and a SystemError comes of it.
        """
        try:
            return serve(seconds) == 0
        except (KafkaException, SystemError) as error:
            ending = error.__cause__ if isinstance(error, SystemError) else error
            if not isinstance(ending, KafkaException):
                raise
            self._end(ending.args[0])
            return False

    def poll(self, seconds: float) -> None:
        """Let librdkafka tell what happened. What ends the producer is known for certain then, after a flush mostly."""
        self._serve(self._producer.poll, seconds)

    def unacknowledged(self) -> int:
        """Return the number of records that are queued or in flight."""
        return len(self._producer)

    def purge(self) -> None:
        """Throw away what is queued and in flight."""
        self._producer.purge(in_queue=True, in_flight=True, blocking=False)

    def give_up_waiting(self) -> None:
        """Throw away what is queued; `take_given_up` tells once it is known what that was."""
        self._producer.purge(in_queue=True, in_flight=False, blocking=False)

    def take_given_up(self) -> set[str]:
        """Take the topics of the records that were given up since the last call."""
        given_up, self._given_up = self._given_up, set()
        return given_up

    def close(self) -> None:
        """Let go of the brokers, when everything is acknowledged."""
        self._producer.close()

    def line(self, *, short: float) -> NetworkLine | None:
        """Measure the line to the leaders of a topic that was sent to; see `measure_line`."""
        return measure_line(self._producer, self._topic, short=short)

    def partitions(self, topic: str) -> int | None:
        """Return a topic's partition count, asked now: 0 if it does not exist, None without an answer."""
        return count_partitions(self._producer, topic)

    def topic_problem(self, topic: str) -> str | None:
        """Return why a topic cannot be written yet, asked now: empty if it can, None without an answer."""
        answer = ask_topic(self._producer, topic)
        if answer is None:
            return None
        self.cluster_id = answer.cluster_id
        return answer.problem

    def missing_topics(self, topics: Collection[str]) -> set[str] | None:
        """Return the topics that do not exist, without creating them; None without an answer."""
        return missing_topics(self._producer, topics)

    def fatal(self) -> FailedSend | None:
        """Return the error after which this producer can send no more, if there is one."""
        error = self._fatal
        if error is None:
            return None
        return FailedSend(
            "",
            None,
            None,
            refusal(error),
            error.name(),
            fatal=True,
            refuses_idempotence=refuses_idempotence(error),
            needs_new_producer=needs_new_producer(error),
        )

    def _targets(self, records: Columns) -> Iterator[str]:
        if records and records.of_one_topic():
            return repeat(self._topic)
        return map(self._names.__getitem__, records.topics)

    def _partitions(self, records: Columns) -> Iterable[int]:
        if not self._keeps_partition:
            return repeat(_ANY_PARTITION)
        if self._all_keep_partition:
            return records.partitions
        kept = map(self._keeps_partition.__contains__, records.topics)
        return (number if keep else _ANY_PARTITION for number, keep in zip(records.partitions, kept, strict=True))

    def _outcomes(self, records: Columns) -> Iterator[Callable[[KafkaError | None, Any], None] | None]:
        """Yield the delivery callback of each record, which knows its source."""
        if self._on_delivered is None and self._on_refused is None:
            return repeat(None)
        return map(partial, repeat(self._on_outcome), records.rows())

    def _timestamps(self, records: Columns) -> Sequence[int]:
        """Return milliseconds; 0, for which librdkafka uses its own clock, where a record has none or has 0."""
        times = records.timestamps
        if min(times, default=1) > 0:
            return times
        for topic, partition, _, kind, time, *_ in records.rows():
            if kind != TIMESTAMP_NOT_AVAILABLE and time == 0:
                self._on_zero_timestamp(TopicPartition(topic, partition))
        return [max(time, 0) for time in times]

    def _on_delivery(self, error: KafkaError | None, record: Any) -> None:
        self._on_outgoing(None, error, record)

    def _on_outcome(self, source: Any, error: KafkaError | None, record: Any) -> None:
        if self._on_delivered is not None and not (error is not None and refuses_the_record(error)):
            self._on_delivered(source, record.topic(), record.offset() if error is None else UNKNOWN)
        self._on_outgoing(source, error, record)

    def _on_outgoing(self, origin: Any, error: KafkaError | None, record: Any) -> None:
        if error is not None:
            shared = self._batch_bytes if self._refuses_the_batch(error, record) else 0
            self._failed(origin, record.topic(), record.key(), record.value(), error, shared)

    def _refuses_the_batch(self, error: KafkaError, record: Any) -> bool:
        """Return True if a smaller batch with this record may be accepted."""
        size = len(record.key() or b"") + len(record.value() or b"")
        return is_too_large(error) and max(size, _LEAST_BATCH_BYTES) < self._batch_bytes

    def _failed(
        self, origin: Any, topic: str, key: bytes | None, value: bytes | None, error: KafkaError, shared: int = 0
    ) -> None:
        if error.code() == KafkaError._FATAL:
            self._end(error)
            return
        if error.code() == KafkaError._PURGE_QUEUE:
            self._given_up.add(topic)
            return
        failed = FailedSend(
            topic,
            _size(key),
            _size(value),
            error.str(),
            error.name(),
            fatal=bool(error.fatal()),
            refuses_idempotence=refuses_idempotence(error),
            of_the_record=refuses_the_record(error),
            batch_bytes=shared,
        )
        if origin is None or self._on_refused is None or not self._on_refused(origin, failed):
            self._on_failure(failed)

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal() or error.code() == KafkaError._FATAL or refuses_idempotence(error) or refuses_login(error):
            self._end(error)
        self._errors(error)

    def _end(self, error: KafkaError) -> None:
        """End this producer with the reason; the fatal state itself says less."""
        if self._fatal is None or self._fatal.code() == KafkaError._FATAL:
            self._fatal = error


def _size(data: bytes | None) -> int | None:
    return None if data is None else len(data)


def _encodable(headers: Sequence[tuple[str, bytes | None]]) -> list[tuple[str, bytes | None]]:
    """Convert headers for the producer.

    Raise ValueError for a name that is not Unicode, which would crash it, or holds a NUL, where it would cut it off.
    """
    for name, _ in headers:
        name.encode()
        if "\0" in name:
            raise ValueError(f"the name of a header holds a NUL: {name!r}")
    return list(headers)
