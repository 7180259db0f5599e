"""Partition 0 of a compacted topic, read once from its beginning to its end, or as far as the time allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clients.librdkafka.client import ErrorLines, client_properties, outside_groups, seconds
from legacy_mm.clients.librdkafka.error_meanings import ends_reading
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.errors import HostError
from legacy_mm.logs import events

_CLIENT_ID = "legacy_mm-mirror-client"
_BATCH = 5_000
_PARTITION = 0
_ABSENT = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}


class CompactedEntry(NamedTuple):
    """A record; a key or a value of None was sent so."""

    offset: int
    key: bytes | None
    value: bytes | None


def read_to_end(settings: ConnectionSettings, topic: str, deadline: Deadline) -> Iterator[CompactedEntry]:
    """Read every record, of open and aborted transactions too; yield none of a missing topic.

    At the deadline it ends with what it has read, and a WARN line. Raise HostError where the cluster refuses, or has
    not answered at all. Belongs to no group, and never creates the topic.
    """
    own = {
        **outside_groups(_CLIENT_ID),
        "auto.offset.reset": "earliest",
        "isolation.level": "read_uncommitted",
        "allow.auto.create.topics": False,
        "fetch.wait.max.ms": 20,  # the end of the partition is reported after this time
    }
    errors = ErrorLines(_CLIENT_ID)
    try:
        consumer = Consumer(client_properties(settings, errors, **own))
    except KafkaException as error:
        raise HostError(f"the client cannot be made: {error.args[0].str()}") from error
    try:
        if _is_there(consumer, topic, errors, deadline):
            consumer.assign([ClientPartition(topic, _PARTITION, OFFSET_BEGINNING)])
            yield from _entries(consumer, topic, deadline)
    finally:
        consumer.close()


def _is_there(consumer: Consumer, topic: str, errors: ErrorLines, deadline: Deadline) -> bool:
    try:
        found = consumer.list_topics(topic, timeout=seconds(deadline)).topics[topic]
    except KafkaException as error:
        raise HostError(f"looking for {topic} failed: {errors.why(consumer, error)}") from error
    code = KafkaError.NO_ERROR if found.error is None else found.error.code()
    if code in (KafkaError.NO_ERROR, KafkaError.LEADER_NOT_AVAILABLE):
        return True
    if code in _ABSENT:
        return False
    raise HostError(f"looking for {topic} failed: {found.error.str()}")


def _entries(consumer: Consumer, topic: str, deadline: Deadline) -> Iterator[CompactedEntry]:
    while not deadline.expired():
        first = consumer.poll(deadline.remaining())
        if first is None:
            continue
        for message in [first, *consumer.consume(_BATCH - 1, 0)]:
            error = message.error()
            if error is None:
                yield _entry(message)
            elif error.code() == KafkaError._PARTITION_EOF or error.code() in _ABSENT:
                return
            elif ends_reading(error):
                raise HostError(f"reading {topic} failed: {error.str()}")
    events.emit(events.READ_CUT_SHORT, topic=topic)


def _entry(message: Any) -> CompactedEntry:
    return CompactedEntry(message.offset(), message.key(), message.value())
