"""A topic that keeps state, such as MirrorMaker 2's own: one partition, compacted, read from its beginning."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clients.librdkafka.client import ErrorLines, client_properties, outside_groups, seconds
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.errors import CorruptRecords, HostError

_BATCH = 5_000
_POLL_TIMEOUT = 0.1
_ABSENT = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC}
KeyAndValue = tuple[bytes | None, bytes | None]
"""Key and value of a record."""
Value = TypeVar("Value")


def decoded(records: Iterable[KeyAndValue], decode: Callable[[bytes | None, bytes | None], Value]) -> Iterator[Value]:
    """Decode these records, and skip those that cannot be decoded: any client may have written to the topic."""
    for key, value in records:
        with suppress(CorruptRecords):
            yield decode(key, value)


class InternalLog:
    """Partition 0 of such a topic, for one thread. It need not be there yet."""

    def __init__(self, settings: ConnectionSettings, topic: str, client: str) -> None:
        """Create the reader; `settings` are any client's of the cluster; `client` is its id. Connects at the first
        read.
        """
        self._topic = topic
        self._errors = ErrorLines(client)
        self._settings = client_properties(
            settings,
            self._errors,
            **{**outside_groups(client), "auto.offset.reset": "earliest", "check.crcs": True},
        )
        self._consumer: Consumer | None = None
        self._found: deque[Message] = deque()
        self._read_to = 0

    def read(self, deadline: Deadline) -> Iterator[KeyAndValue]:
        """Read the records that no call has returned yet, at least to the end; none of a missing topic.

        Raise HostError when the cluster does not return all of it in time. The next call resumes after the last record
        that was returned, also where a caller did not take all of them.
        """
        try:
            end = self._end(deadline)
            while self._read_to < end:
                if deadline.expired():
                    raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
                yield from self._poll()
        except KafkaException as error:
            self._disconnect()
            if error.args[0].code() not in _ABSENT:
                raise HostError(f"reading {self._topic} failed: {error.args[0].str()}") from error
            self._read_to = 0

    def close(self) -> None:
        """Disconnect; a read begins again from the start."""
        self._disconnect()
        self._read_to = 0

    def _end(self, deadline: Deadline) -> int:
        place = ClientPartition(self._topic, 0)
        _, end = self._open().get_watermark_offsets(place, timeout=seconds(deadline))
        if end < self._read_to:  # the topic was recreated
            self.close()
        return int(end)

    def _poll(self) -> Iterator[KeyAndValue]:
        self._found = self._found or deque(self._open().consume(_BATCH, _POLL_TIMEOUT))
        while self._found:
            message = self._found.popleft()
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            self._read_to = (message.offset() or 0) + (error is None)
            if error is None:
                yield message.key(), message.value()

    def _open(self) -> Consumer:
        if self._consumer is None:
            self._consumer = Consumer(self._settings)
            self._consumer.assign([ClientPartition(self._topic, 0, self._read_to)])
        return self._consumer

    def _disconnect(self) -> None:
        consumer, self._consumer = self._consumer, None
        self._found.clear()
        if consumer is not None:
            consumer.close()
