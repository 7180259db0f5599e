"""A whole topic, read once from its beginning to the ends of its partitions, by a client that belongs to no group."""

from __future__ import annotations

from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clients.librdkafka.client import ErrorLines, client_properties, outside_groups, seconds
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.errors import HostError

_BATCH = 5_000
_POLL_TIMEOUT = 0.1
_CLIENT_ID = "legacy_mm-whole-topic"
_ABSENT = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC}


def read_topic(settings: ConnectionSettings, topic: str, deadline: Deadline) -> Iterator[Message]:
    """Read the committed records of all partitions, each partition in its order; none of a missing topic.

    `settings` are any client's of the cluster. Raise HostError when the cluster does not return all in time.
    """
    own = {
        **outside_groups(_CLIENT_ID),
        "auto.offset.reset": "earliest",
        "check.crcs": True,
        "isolation.level": "read_committed",
    }
    consumer = Consumer(client_properties(settings, ErrorLines(_CLIENT_ID), **own))
    try:
        found = consumer.list_topics(topic, timeout=seconds(deadline)).topics[topic]
        unread = set(found.partitions) if found.error is None else set()
        if found.error is not None and found.error.code() not in _ABSENT:
            raise KafkaException(found.error)
        consumer.assign([ClientPartition(topic, partition, 0) for partition in unread])
        while unread:
            if deadline.expired():
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
            for message in consumer.consume(_BATCH, _POLL_TIMEOUT):
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    unread.discard(message.partition())
                else:
                    raise KafkaException(error)
    except KafkaException as error:
        raise HostError(f"reading {topic} failed: {error.args[0].str()}") from error
    finally:
        consumer.close()
