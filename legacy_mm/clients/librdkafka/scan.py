"""One range of one partition, read once from end to end by a client that belongs to no group."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clients.librdkafka.client import ErrorLines, client_properties, outside_groups
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.errors import HostError

_BATCH = 5_000
_POLL_TIMEOUT = 0.5
_SILENCE_TIMEOUT = 60.0
_CLIENT_ID = "legacy_mm-verify"


def read_range(
    settings: ConnectionSettings, topic: str, partition: int, begin: int, end: int, *, committed: bool
) -> Generator[list[Any], None, None]:
    """Read the records from `begin` up to `end`, in batches; raise HostError when the cluster does not return them."""
    own = {
        **outside_groups(_CLIENT_ID),
        "auto.offset.reset": "error",
        "check.crcs": True,
        "isolation.level": "read_committed" if committed else "read_uncommitted",
    }
    consumer = Consumer(client_properties(settings, ErrorLines(_CLIENT_ID), **own))
    place = ClientPartition(topic, partition, begin)
    consumer.assign([place])
    deadline = Deadline.after(_SILENCE_TIMEOUT)
    try:
        while True:
            messages = consumer.consume(_BATCH, _POLL_TIMEOUT)
            errors = [error for message in messages if (error := message.error()) is not None]
            failures = [error for error in errors if error.code() != KafkaError._PARTITION_EOF]
            if failures:
                raise HostError(f"reading {topic}-{partition} failed: {failures[0].str()}")
            records = [message for message in messages if message.error() is None]
            wanted = [record for record in records if (record.offset() or 0) < end]
            if wanted:
                yield wanted
                deadline = Deadline.after(_SILENCE_TIMEOUT)
            if errors or len(wanted) < len(records) or (wanted and wanted[-1].offset() == end - 1):
                return
            if deadline.expired():
                raise HostError(f"{topic}-{partition} gave no record for {_SILENCE_TIMEOUT:g} s")
    except KafkaException as error:
        raise HostError(f"reading {topic}-{partition} failed: {error.args[0].str()}") from error
    finally:
        consumer.close()
