"""`MirrorClient`: questions to one cluster about the clusters that are mirrored into it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import NamedTuple, Self, TypeVar, overload

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import CorruptRecords, HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.client import properties as client_properties
from legacy_mm.clients.admin.cluster_admin import TopicLister
from legacy_mm.clients.admin.inspector import NativeTopicLister
from legacy_mm.clients.topics.topic_reader import read_to_end
from legacy_mm.flow.plugins import policy_of
from legacy_mm.logs import events
from legacy_mm.policies import remote_clusters
from legacy_mm.policies.topic_naming import ReplicationPolicy
from legacy_mm.protocol.mirror_records import Checkpoint, Heartbeat

_LISTING_TIMEOUT = 60.0
_DEFAULT_TIMEOUT = 60.0


class OffsetAndMetadata(NamedTuple):
    """Offset at which a group continues (that of the next record to read), and the group's metadata of the commit."""

    offset: int
    metadata: str


TranslatedOffsets = dict[TopicPartition, OffsetAndMetadata]
"""Partition of this cluster -> offset at which one group continues."""


R = TypeVar("R")


class MirrorClient:
    """Java's `MirrorClient`.

    A context manager; any thread may call it.

    The questions about names list the cluster's topics each time and raise HostError if it does not answer within 60 s.
    Those that read records take `timeout`, in seconds, for the whole call (Java's may last twice as long). When it is
    over they return what they have read, and log a WARN line; HostError only if the cluster refuses, or did not answer
    at all. A missing topic counts as an empty one. Records that cannot be read are skipped with a WARN line, and a null
    value deletes the earlier record of its key (Java's client fails on it). Like Java's, it also reads records of open
    or aborted transactions.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        """Read the properties of a MirrorMaker 2 client, in Java's spelling, see `legacy_mm.client.properties`.

        Connects to nothing yet. Raises ConfigurationError. Key stores of Java take the 2 s that a Java process needs.
        """
        settings = client_properties.read(properties)
        self._policy = policy_of(settings.naming)
        self._admin, self._consumer = settings.admin, settings.consumer
        self._lister: TopicLister | None = None
        self._closed = False

    @property
    def connection(self) -> ConnectionSettings:
        """The way to the cluster, as questions about names take it."""
        return self._admin

    def replication_policy(self) -> ReplicationPolicy:
        """Return the replication policy, which gives names their meaning."""
        return self._policy

    def replication_hops(self, source_cluster_alias: str) -> int:
        """Return the smallest number of hops from that cluster, read from names of heartbeats topics: -1 for none."""
        return remote_clusters.replication_hops(self._policy, self._topics(), source_cluster_alias)

    def heartbeat_topics(self) -> set[str]:
        """Return all topics with heartbeats: `heartbeats` itself, and copies of any depth."""
        return remote_clusters.heartbeat_topics(self._policy, self._topics())

    def checkpoint_topics(self) -> set[str]:
        """Return all topics with checkpoints."""
        return remote_clusters.checkpoint_topics(self._policy, self._topics())

    def upstream_clusters(self) -> set[str]:
        """Return the aliases of all clusters from which heartbeats have come, directly or not."""
        return remote_clusters.upstream_clusters(self._policy, self._topics())

    def remote_topics(self, source: str | None = None) -> set[str]:
        """Return all copies that are not internal, those of heartbeats included.

        With `source`, only copies from there.
        """
        return remote_clusters.remote_topics(self._policy, self._topics(), source)

    @overload
    def remote_consumer_offsets(self, group: str, remote_cluster_alias: str, timeout: float) -> TranslatedOffsets: ...

    @overload
    def remote_consumer_offsets(
        self, group: re.Pattern[str], remote_cluster_alias: str, timeout: float
    ) -> dict[str, TranslatedOffsets]: ...

    def remote_consumer_offsets(
        self, group: str | re.Pattern[str], remote_cluster_alias: str, timeout: float
    ) -> TranslatedOffsets | dict[str, TranslatedOffsets]:
        """Return the offsets at which a group of that cluster continues in this one, from its last checkpoints.

        With a compiled pattern: the same for every group whose whole id it matches, by group id (as in Java since 4.3).
        An unknown group has an empty dict. Raises HostError.
        """
        if not isinstance(group, str | re.Pattern):
            raise TypeError(f"a group is asked for by its id or a compiled pattern, not by {group!r}")
        found: dict[str, TranslatedOffsets] = {}
        for each in self.checkpoints(remote_cluster_alias, timeout):
            wanted = each.group == group if isinstance(group, str) else group.fullmatch(each.group)
            if wanted:
                place = TopicPartition(each.topic, each.partition)
                offset = OffsetAndMetadata(each.downstream, each.metadata)
                found.setdefault(each.group, {})[place] = offset
        return found.get(group, {}) if isinstance(group, str) else found

    def checkpoints(self, remote_cluster_alias: str, timeout: float = _DEFAULT_TIMEOUT) -> list[Checkpoint]:
        """Return the last checkpoint of each group and partition of that cluster. Raises HostError."""

        def decode(key: bytes | None, value: bytes | None) -> Checkpoint:
            record = Checkpoint.decode(key, value)
            if record.downstream < 0:
                raise CorruptRecords(f"a checkpoint at offset {record.downstream}")
            return record

        return self._last(self._policy.checkpoints_topic(remote_cluster_alias), "checkpoints", decode, timeout)

    def heartbeats(self, topic: str, timeout: float = _DEFAULT_TIMEOUT) -> list[Heartbeat]:
        """Return the last heartbeat of each flow in one of the `heartbeat_topics()`. Raises HostError."""
        return self._last(topic, "heartbeats", Heartbeat.decode, timeout)

    def close(self) -> None:
        """Disconnect; later questions raise HostError."""
        self._closed, self._lister = True, None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _topics(self) -> list[str]:
        self._check_open()
        self._lister = self._lister or NativeTopicLister(self._admin, _LISTING_TIMEOUT)
        return list(self._lister.topics())

    def _last(
        self, topic: str, kind: str, decode: Callable[[bytes | None, bytes | None], R], timeout: float
    ) -> list[R]:
        """Return the last record under each key; an unreadable record does not replace the one before."""
        self._check_open()
        last: dict[bytes, R] = {}
        skipped: list[int] = []
        for record in read_to_end(self._consumer, topic, Deadline.after(timeout)):
            key = record.key
            if key is not None and record.value is None:
                last.pop(key, None)
                continue
            try:
                found = decode(key, record.value)
            except CorruptRecords:
                skipped.append(record.offset)
            else:
                assert key is not None
                last[key] = found
        if skipped:
            events.emit(events.MIRROR_RECORDS_SKIPPED, count=len(skipped), topic=topic, kind=kind, offset=skipped[0])
        return list(last.values())

    def _check_open(self) -> None:
        if self._closed:
            raise HostError("this MirrorClient is closed")
