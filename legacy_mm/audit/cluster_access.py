"""Write topics and read them back: the oracle's own eyes. Rule: reads stop where the log ended at the call.

It uses plain confluent-kafka and shares no code with the mirror. `record_comparison.py` judges the
differences between records; this module exports it. Questions go through clients that are kept: a new one takes 50 ms
and, of both processes, 20 ms of a core.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic

from legacy_mm.audit.record_comparison import ObservedHeaders, ObservedRecord, murmur2, partition_of, same_records
from legacy_mm.audit.waiting import wait_until

REQUEST_TIMEOUT = 30.0
SILENCE_TIMEOUT = 60.0
CONSUME_TIMEOUT = 0.05
BATCH = 5_000
_NO_GROUP = "legacy-mm-testbed"
"""librdkafka demands a group; the consumer never joins it."""
_KEPT_CLIENTS = 12
"""The clients for the clusters, and the groups, of a test."""

ClientProperties = dict[str, str | int | float | bool]
ClientError = KafkaException
"""The error of the testbed's functions when a cluster refuses."""


def read_all(bootstrap: str, topic: str, *, isolation: str = "read_uncommitted") -> list[ObservedRecord]:
    """Return every record of a topic, by partition and offset, up to the ends at the time of the call.

    With `read_committed` the end is the last stable offset. Checksums are verified.
    """
    found = [
        _record(message, partition, offset)
        for message, partition, offset in messages({"bootstrap.servers": bootstrap}, topic, isolation=isolation)
    ]
    found.sort(key=lambda record: (record.partition, record.offset))
    return found


def messages(
    connection: Mapping[str, Any], topic: str, *, isolation: str = "read_uncommitted"
) -> Iterator[tuple[Message, int, int]]:
    """Yield every record with its partition and offset, each partition in order, up to the ends at the time of the
    call.
    """
    settings: ClientProperties = {"isolation.level": isolation, "enable.partition.eof": True, "check.crcs": True}
    consumer = _consumer({**connection, **settings})
    try:
        ends = _assign_from_start(consumer, topic)
        while ends:
            batch = wait_until(
                # `consume` waits out its time unless the batch is full, so that time is short.
                lambda: consumer.consume(BATCH, CONSUME_TIMEOUT),
                SILENCE_TIMEOUT,
                f"records of {topic} at {connection['bootstrap.servers']}",
            )
            for message in batch:
                if (place := _take(message, ends)) is not None:
                    yield message, *place
    finally:
        consumer.close()


def end_offsets(bootstrap: str, topic: str) -> dict[int, int]:
    """Return the high watermark of every partition."""
    return {partition: high for partition, (_, high) in _log_ends(bootstrap, topic).items()}


def all_ends(bootstrap: str, topics: Iterable[str]) -> dict[str, dict[int, int]]:
    """Return `end_offsets` of those of these topics that exist, by one client."""
    asking = partial(_asking, bootstrap)
    there = asking().list_topics(timeout=REQUEST_TIMEOUT).topics
    return {
        topic: {number: _watermarks(asking, topic, number)[1] for number in sorted(there[topic].partitions)}
        for topic in topics
        if topic in there
    }


def log_starts(bootstrap: str, topic: str) -> dict[int, int]:
    """Return the first offset of every partition."""
    return {partition: low for partition, (low, _) in _log_ends(bootstrap, topic).items()}


def _log_ends(bootstrap: str, topic: str) -> dict[int, tuple[int, int]]:
    asking = partial(_asking, bootstrap)
    return {partition: _watermarks(asking, topic, partition) for partition in partition_numbers(asking(), topic)}


def committed(bootstrap: str, group: str, topics: Iterable[str]) -> dict[tuple[str, int], int]:
    """Return the committed offsets of a group; partitions without a commit are absent.

    Does not join.

    A consumer asks: librdkafka's admin client crashes if the broker is not the group's coordinator any more.
    """
    consumer = _asking(bootstrap, group)
    wanted = [TopicPartition(topic, number) for topic in topics for number in partition_numbers(consumer, topic)]
    (found,) = wait_until(  # a new cluster has no coordinators yet
        lambda: (consumer.committed(wanted, timeout=REQUEST_TIMEOUT),),
        REQUEST_TIMEOUT,
        f"the offsets of {group} at {bootstrap}",
    )
    return {(entry.topic, entry.partition): entry.offset for entry in found if entry.offset >= 0}


def commit(bootstrap: str, group: str, offsets: Mapping[tuple[str, int], int]) -> None:
    """Commit offsets for a group without members. Does not join."""
    consumer = _asking(bootstrap, group)
    places = [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
    wait_until(  # a new cluster has no coordinators yet
        lambda: consumer.commit(offsets=places, asynchronous=False),
        REQUEST_TIMEOUT,
        f"the commit of {group} at {bootstrap}",
    )


def members(bootstrap: str, group: str) -> int:
    """Return the number of members of a stable group; 0 while it rebalances or does not exist."""
    admin = _admin(bootstrap)
    description = admin.describe_consumer_groups([group])[group].result(REQUEST_TIMEOUT)
    return len(description.members) if description.state == ConsumerGroupState.STABLE else 0


def create_topic(
    bootstrap: str,
    name: str,
    partitions: int = 4,
    replication: int = 1,
    config: Mapping[str, str] | None = None,
) -> None:
    """Create a topic and wait until the leader of every partition answers; an existing topic is an error.

    A leader that is named before it has a log refuses the first batch, and the second may pass it.
    """
    admin = _admin(bootstrap)
    order = NewTopic(name, partitions, replication, config=dict(config or {}))
    admin.create_topics([order])[name].result(REQUEST_TIMEOUT)
    _wait_for_leaders(bootstrap, name, partitions)


def delete_topic(bootstrap: str, name: str) -> None:
    """Delete a topic and wait until the cluster no longer lists it."""
    admin = _admin(bootstrap)
    admin.delete_topics([name])[name].result(REQUEST_TIMEOUT)
    wait_until(
        lambda: name not in admin.list_topics(timeout=REQUEST_TIMEOUT).topics,
        REQUEST_TIMEOUT,
        f"{name} to be gone at {bootstrap}",
    )


def delete_records(bootstrap: str, topic: str, before: Mapping[int, int]) -> None:
    """Raise the log start offsets of partitions, as retention does."""
    admin = _admin(bootstrap)
    for future in admin.delete_records([TopicPartition(topic, number, at) for number, at in before.items()]).values():
        future.result(REQUEST_TIMEOUT)


def change_topic(bootstrap: str, name: str, config: Mapping[str, str]) -> None:
    """Give a topic these settings beside those that it has."""
    entries = [ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in config.items()]
    resource = ConfigResource(ConfigResource.Type.TOPIC, name, incremental_configs=entries)
    admin = _admin(bootstrap)
    admin.incremental_alter_configs([resource])[resource].result(REQUEST_TIMEOUT)


def grow_topic(bootstrap: str, name: str, partitions: int) -> None:
    """Give a topic more partitions and wait until the leaders of all answer."""
    admin = _admin(bootstrap)
    admin.create_partitions([NewPartitions(name, partitions)])[name].result(REQUEST_TIMEOUT)
    _wait_for_leaders(bootstrap, name, partitions)


def leader(bootstrap: str, topic: str, partition: int) -> int:
    """Return the node that leads a partition, -1 for none; wait until the broker that is asked knows the partition."""
    admin = _admin(bootstrap)

    def described() -> Any:
        return admin.list_topics(topic, timeout=REQUEST_TIMEOUT).topics[topic].partitions.get(partition)

    return int(wait_until(described, REQUEST_TIMEOUT, f"{topic}-{partition} to be known").leader)


def list_topics(bootstrap: str) -> dict[str, int]:
    """Return every topic of a cluster, internal ones too, with its number of partitions."""
    found = _admin(bootstrap).list_topics(timeout=REQUEST_TIMEOUT).topics
    return {name: len(topic.partitions) for name, topic in found.items()}


def wait_for_count(bootstrap: str, topic: str, n: int, timeout: float) -> None:
    """Wait until the log of a topic holds at least `n` offsets (transaction markers count as well)."""

    def offsets() -> int:
        return sum(high - low for low, high in _log_ends(bootstrap, topic).values())

    wait_until(lambda: offsets() >= n, timeout, f"{n} records in {topic} at {bootstrap}")


def partition_numbers(client: Consumer, topic: str) -> list[int]:
    """Partition numbers of a topic; KafkaException when it does not exist."""
    found = client.list_topics(topic, timeout=REQUEST_TIMEOUT).topics[topic]
    if found.error is not None:
        raise KafkaException(found.error)
    return sorted(found.partitions)


def _asking(bootstrap: str, group: str = _NO_GROUP) -> Consumer:
    """Return the kept client that asks for offsets; those of a group, which it never joins."""
    return _kept_consumer(bootstrap, group, os.getpid())


def forget_clients() -> None:
    """Make the next question one of a new client; those that are kept end when nobody uses them."""
    _kept_consumer.cache_clear()


def _admin(bootstrap: str) -> AdminClient:
    return _kept_admin(bootstrap, os.getpid())


@lru_cache(_KEPT_CLIENTS)
def _kept_consumer(bootstrap: str, group: str, process: int) -> Consumer:
    return _consumer({**_connection(bootstrap), "group.id": group})


@lru_cache(_KEPT_CLIENTS)
def _kept_admin(bootstrap: str, process: int) -> AdminClient:
    return AdminClient(_connection(bootstrap))


def _connection(bootstrap: str) -> ClientProperties:
    """Return the settings of a client that is kept: it looks for brokers that come back, and says nothing of them."""
    return {"bootstrap.servers": bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 500}


def _consumer(settings: Mapping[str, Any]) -> Consumer:
    fixed: ClientProperties = {
        "log_level": 0,
        "group.id": _NO_GROUP,
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_uncommitted",  # librdkafka's default makes the end of a log its last stable offset
        "allow.auto.create.topics": False,
        "fetch.wait.max.ms": 20,  # the end of a partition is reported after this time
        "fetch.message.max.bytes": 4 << 20,
        "queued.max.messages.kbytes": 64 << 10,
    }
    return Consumer({**fixed, **settings})


def _watermarks(asking: Callable[[], Consumer], topic: str, partition: int) -> tuple[int, int]:
    def ask() -> tuple[int, int] | None:
        place = TopicPartition(topic, partition)
        try:
            return asking().get_watermark_offsets(place, timeout=REQUEST_TIMEOUT, cached=False)
        except KafkaException as error:
            if error.args[0].code() == KafkaError._UNKNOWN_PARTITION:
                forget_clients()  # librdkafka asks no broker while its cache knows no leader; a new client does
            raise

    # Asked again while the leadership moves: librdkafka reports the broker that has gone.
    answer = wait_until(ask, REQUEST_TIMEOUT, f"the offsets of {topic}-{partition}")
    assert answer is not None
    return answer


def _assign_from_start(consumer: Consumer, topic: str) -> dict[int, int]:
    ends, starts = {}, []
    for partition in partition_numbers(consumer, topic):
        low, high = _watermarks(lambda: consumer, topic, partition)
        if low < high:
            ends[partition] = high
            starts.append(TopicPartition(topic, partition, low))
    consumer.assign(starts)
    return ends


def _take(message: Message, ends: dict[int, int]) -> tuple[int, int] | None:
    """Partition and offset of a record that counts; takes the partition out of `ends` when it is read."""
    partition, offset = message.partition(), message.offset()
    error = message.error()
    if error is not None and error.code() != KafkaError._PARTITION_EOF:
        raise KafkaException(error)
    assert partition is not None and offset is not None
    end = ends.get(partition)
    if end is None:
        return None  # written after the call
    if offset >= end - (error is None):
        del ends[partition]
    return (partition, offset) if error is None and offset < end else None


def _record(message: Message, partition: int, offset: int) -> ObservedRecord:
    kind, timestamp = message.timestamp()
    return ObservedRecord(
        topic=message.topic() or "",
        partition=partition,
        offset=offset,
        timestamp_type=kind,
        timestamp=timestamp,
        key=_bytes(message.key()),
        value=_bytes(message.value()),
        headers=headers_of(message),
    )


def headers_of(message: Message) -> ObservedHeaders:
    """Return the headers of a message, in their order."""
    headers: list[tuple[str, bytes | None]] = list(message.headers() or [])  # type: ignore[arg-type]
    return tuple((name, _bytes(content)) for name, content in headers)


def _bytes(content: str | bytes | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content


def _wait_for_leaders(bootstrap: str, name: str, partitions: int) -> None:
    wait_until(
        lambda: len(_log_ends(bootstrap, name)) == partitions,
        REQUEST_TIMEOUT,
        f"the leaders of {partitions} partitions of {name} at {bootstrap}",
    )


__all__ = [
    "ClientError",
    "ObservedRecord",
    "all_ends",
    "change_topic",
    "commit",
    "committed",
    "create_topic",
    "delete_records",
    "delete_topic",
    "end_offsets",
    "forget_clients",
    "grow_topic",
    "headers_of",
    "leader",
    "list_topics",
    "log_starts",
    "members",
    "messages",
    "murmur2",
    "partition_of",
    "partition_numbers",
    "read_all",
    "same_records",
    "wait_for_count",
    "wait_until",
]
