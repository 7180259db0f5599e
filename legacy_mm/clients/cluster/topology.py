"""Brokers and partition leaders from one Metadata response. Frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from uuid import UUID

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.protocol.error_codes import ErrorCode

UNKNOWN_EPOCH = -1
_EPOCHS_SINCE = 9
"""The first version of the answer whose epochs count: before it brokers repeat old ones during a reassignment."""
_NO_ID = UUID(int=0)


class Broker(NamedTuple):
    """The address of a broker."""

    node: int
    host: str
    port: int
    rack: str | None


class Leadership(NamedTuple):
    """The leader of a partition (-1: none now) and its leader epoch (-1: unknown)."""

    node: int
    epoch: int


@dataclass(frozen=True)
class Topology:
    """A cluster at one time, as far as it was asked about."""

    brokers: Mapping[int, Broker] = field(default_factory=dict)
    leaders: Mapping[TopicPartition, Leadership] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    ids: Mapping[str, UUID] = field(default_factory=dict)
    cluster_ids: tuple[str, ...] = ()
    """All that were told so far, that of this answer last; none by brokers before 0.10.1."""
    problems: Mapping[str, int] = field(default_factory=dict)
    """Topic -> error code, where the answer was one."""
    without_listener: frozenset[TopicPartition] = frozenset()
    """Partitions whose leader is no broker that is reached, because it lacks the listener of who asks."""

    @cached_property
    def with_leader(self) -> Mapping[TopicPartition, Leadership]:
        """Partitions whose leader is one of `brokers`."""
        return {partition: found for partition, found in self.leaders.items() if found.node in self.brokers}

    @property
    def cluster_id(self) -> str:
        """The id in this answer; empty where it is not told."""
        return self.cluster_ids[-1] if self.cluster_ids else ""

    @classmethod
    def of_cluster(cls, response: Any) -> Topology:
        """Return what is known of a cluster by its id alone, in the `response` to a Metadata request."""
        return cls(cluster_ids=_ids(response, ()))

    @classmethod
    def read(cls, response: Any, before: Topology) -> Topology:
        """Read the `response` to a Metadata request; of two answers with an epoch for one partition the later epoch
        counts.
        """
        brokers = {row.node_id: Broker(row.node_id, row.host, row.port, row.rack) for row in response.brokers}
        problems = {topic.name: topic.error_code for topic in response.topics if topic.error_code}
        described = [topic for topic in response.topics if topic.partitions]
        ids = {topic.name: _uuid(topic.topic_id) for topic in described}
        return cls(
            brokers=brokers,
            leaders=dict(_leaders(described, ids, before, with_epochs=response.version >= _EPOCHS_SINCE)),
            sizes={topic.name: len(topic.partitions) for topic in described},
            ids={name: topic_id for name, topic_id in ids.items() if topic_id != _NO_ID},
            cluster_ids=_ids(response, before.cluster_ids),
            problems=problems,
            without_listener=without_listener(described),
        )


def known_topics(listing: Any) -> Any:
    """Return a broker's answer about topics; raise ConnectionLost where it does not know any broker, and so no
    topic, yet.
    """
    if not listing.brokers:
        raise ConnectionLost("a broker that has just started knows nothing of its cluster")
    return listing


def without_listener(topics: Iterable[Any]) -> frozenset[TopicPartition]:
    """Return the partitions of these topics of a Metadata response whose leader lacks the client's listener."""
    return frozenset(
        TopicPartition(topic.name, row.partition_index)
        for topic in topics
        for row in topic.partitions
        if row.error_code == ErrorCode.LISTENER_NOT_FOUND
    )


def id_text(topic: Any) -> str:
    """Return the id of a topic of a Metadata response; empty where it has none, as before Kafka 2.8."""
    found = _uuid(topic.topic_id) if topic.partitions else _NO_ID
    return "" if found == _NO_ID else str(found)


def _ids(response: Any, before: tuple[str, ...]) -> tuple[str, ...]:
    current = getattr(response, "cluster_id", None)
    return (*(each for each in before if each != current), current) if current else ()


def _leaders(
    topics: Iterable[Any], ids: Mapping[str, UUID], before: Topology, *, with_epochs: bool
) -> Iterable[tuple[TopicPartition, Leadership]]:
    for topic in topics:
        same_topic = before.ids.get(topic.name, _NO_ID) == ids[topic.name]
        for row in topic.partitions:
            partition = TopicPartition(topic.name, row.partition_index)
            found = Leadership(row.leader_id, row.leader_epoch if with_epochs else UNKNOWN_EPOCH)
            known = before.leaders.get(partition, found)
            yield partition, known if same_topic and known.epoch > found.epoch > UNKNOWN_EPOCH else found


def _uuid(given: Any) -> UUID:
    return given if isinstance(given, UUID) else _NO_ID
