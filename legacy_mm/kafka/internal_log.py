"""A topic that keeps state, such as MirrorMaker 2's own: one partition, compacted, read from its beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clock import Deadline
from legacy_mm.errors import CorruptRecords, HostError
from legacy_mm.kafka.client import ErrorLines, admin_properties, client_properties, outside_groups, seconds

_BATCH = 5_000
_WAIT_SECONDS = 0.1
_ABSENT = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC}
Pair = tuple[bytes | None, bytes | None]
"""Key and value of a record."""
Value = TypeVar("Value")


def decoded(records: Iterable[Pair], decode: Callable[[bytes | None, bytes | None], Value]) -> Iterator[Value]:
    """What these records say, but for those that say nothing: anybody may have written to the topic."""
    for key, value in records:
        with suppress(CorruptRecords):
            yield decode(key, value)


class InternalLog:
    """Partition 0 of such a topic, for one thread. It need not be there yet."""

    def __init__(self, properties: Mapping[str, str], topic: str, client: str) -> None:
        """`properties` are any client's of the cluster; `client` is its id. Connects at the first read."""
        self._topic = topic
        self._errors = ErrorLines(client)
        self._settings = client_properties(
            admin_properties(properties),
            self._errors,
            **{**outside_groups(client), "auto.offset.reset": "earliest", "check.crcs": True},
        )
        self._consumer: Consumer | None = None
        self._read_to = 0

    def read(self, deadline: Deadline) -> list[Pair]:
        """What was written since the last call, up to the end or beyond; nothing of a topic that is not there.

        Raises HostError when the cluster does not give all of it in time; the next call begins again from the start.
        """
        try:
            return self._up_to(self._end(deadline), deadline)
        except KafkaException as error:
            self.close()
            if error.args[0].code() in _ABSENT:
                return []
            raise HostError(f"reading {self._topic} failed: {error.args[0].str()}") from error

    def close(self) -> None:
        """Disconnect; a read begins again from the start."""
        consumer, self._consumer, self._read_to = self._consumer, None, 0
        if consumer is not None:
            consumer.close()

    def _end(self, deadline: Deadline) -> int:
        place = ClientPartition(self._topic, 0)
        _, end = self._open().get_watermark_offsets(place, timeout=seconds(deadline))
        if end < self._read_to:  # the topic was made again
            self.close()
        return int(end)

    def _up_to(self, end: int, deadline: Deadline) -> list[Pair]:
        found: list[Pair] = []
        while self._read_to < end:
            if deadline.expired():
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
            for message in self._open().consume(_BATCH, _WAIT_SECONDS):
                error = message.error()
                if error is None:
                    found.append((message.key(), message.value()))
                elif error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                self._read_to = (message.offset() or 0) + (error is None)
        return found

    def _open(self) -> Consumer:
        if self._consumer is None:
            self._consumer = Consumer(self._settings)
            self._consumer.assign([ClientPartition(self._topic, 0, 0)])
        return self._consumer
