"""A look at a cluster that changes nothing: topics, committed offsets, log ends. It joins no group.

Every question has a deadline, so a cluster that does not answer costs seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from math import inf
from typing import Any

from kafka.protocol.metadata import MetadataRequest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, StreamFailure
from legacy_mm.base.kafka_clients import ConnectionSettings, ConsumerSettings
from legacy_mm.base.model import EARLIEST, LATEST, Offsets, TopicPartition
from legacy_mm.clients.admin.cluster_admin import PartitionView
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.coordinator import Coordinator
from legacy_mm.clients.cluster.topology import id_text, known_topics
from legacy_mm.clients.group import offset_requests
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost, UnsupportedVersion
from legacy_mm.protocol.error_codes import ErrorCode

_CLIENT_ID = "legacy_mm-topics"
_SOON = 60.0
_EVERY_TOPIC = MetadataRequest(topics=None, allow_auto_topic_creation=False, min_version=1)
_EVERY_TOPIC_OF_0_9 = MetadataRequest(topics=[], version=0)
"""Without a name, which means no topic since then."""


class NativeTopicLister:
    """All topics of a cluster that the principal may see. It connects anew for each look, but not for frequent ones."""

    def __init__(self, settings: ConnectionSettings, timeout: float, interval: float = inf) -> None:
        """Take the client's settings, the time for an answer, and that between two looks, in seconds."""
        self._settings = settings.named(_CLIENT_ID)
        self._timeout = timeout
        self._keeps_connection = interval < _SOON
        self._cluster: Cluster | None = None

    def topics(self) -> dict[str, str]:
        """Return each topic and its id, which changes when it is recreated; raise HostError if no answer is in time.

        Brokers before 2.8 have no ids: all are empty.
        """
        listing = None
        try:
            with asking("listing topics"):
                self._cluster = self._cluster or Cluster(self._settings, self._timeout)
                listing = every_topic(self._cluster)
        finally:
            if listing is None or not self._keeps_connection:
                self.close()
        return {topic.name: id_text(topic) for topic in listing.topics}

    def close(self) -> None:
        """End a connection that was kept."""
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            cluster.close()


class NativeInspector:
    """Questions to the source cluster. Each raises HostError where there is no answer in time."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings.named(_CLIENT_ID)

    def partitions(self, deadline: Deadline) -> dict[str, int]:
        """Return topic -> number of partitions, of all topics the principal may see."""
        with asking("listing topics"), self._cluster(deadline) as cluster:
            return partition_counts(every_topic(cluster))

    def views(
        self,
        group: str | None,
        partitions: Collection[TopicPartition],
        deadline: Deadline,
        *,
        committed_only: bool = False,
    ) -> dict[TopicPartition, PartitionView]:
        """Return the committed offset and log ends of each partition, as such a reader sees them; None: no group."""
        committed: Mapping[TopicPartition, int] = {}
        if group is not None:
            with asking(f"reading the offsets of group {group}"), self._cluster(deadline) as cluster:
                committed = _committed(Coordinator(cluster, group), partitions, deadline)
        ends = self.log_ends(partitions, deadline)
        open_from = self.open_from(ends, deadline) if committed_only else {}
        return {
            each: PartitionView(committed.get(each), low, high, open_from.get(each, high))
            for each, (low, high) in ends.items()
        }

    def log_ends(
        self, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return the first and the next offset of each partition."""
        if not partitions:
            return {}
        with asking("reading the ends of logs"), self._cluster(deadline) as cluster:
            low, high = (cluster.offsets.of(partitions, which) for which in (EARLIEST, LATEST))
        return {each: (low[each], high[each]) for each in partitions}

    def at_times(self, times: Mapping[TopicPartition, int], deadline: Deadline) -> Offsets:
        """Return the first offset of this time (ms since 1970) or later; -1: no record is so late.

        Omit partitions whose leader does not tell.
        """
        if not times:
            return {}
        with asking("reading the times of records"), self._cluster(deadline) as cluster:
            return cluster.offsets.for_times(times)

    def settled_ends(
        self, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return `log_ends`; raise HostError also where a transaction is open, which hides later records from
        committed reads.
        """
        ends = self.log_ends(partitions, deadline)
        for each, offset in self.open_from(ends, deadline).items():
            raise HostError(
                f"a transaction is open in {each} from offset {offset} on: what follows cannot be read as committed "
                "before it has ended"
            )
        return ends

    def open_from(self, ends: Mapping[TopicPartition, tuple[int, int]], deadline: Deadline) -> Offsets:
        """Return the last stable offset of each partition where a transaction is open before its end.

        `ends` are those of `log_ends`, asked for before.
        """
        if not ends:
            return {}
        with asking("reading the ends of logs"), self._cluster(deadline, committed_only=True) as cluster:
            stable = cluster.offsets.of(ends, LATEST)
        return {each: stable[each] for each, (_, end) in ends.items() if stable[each] < end}

    @contextmanager
    def _cluster(self, deadline: Deadline, *, committed_only: bool = False) -> Iterator[Cluster]:
        with closing(Cluster(self._settings, deadline.remaining(), committed_only=committed_only)) as cluster:
            yield cluster


def log_ends(
    settings: ConsumerSettings, topics: Collection[str], deadline: Deadline
) -> dict[TopicPartition, tuple[int, int]]:
    """Return the first and the next offset, as `isolation.level` sees it, of every partition of these topics.

    Raise HostError where one has no leader or does not answer in time, StreamFailure where a retry is useless.
    """
    try:
        connection, committed_only = settings.named(_CLIENT_ID).connection, settings.fetch.committed_only
        with closing(Cluster(connection, deadline.remaining(), committed_only=committed_only)) as cluster:
            cluster.metadata.watch(topics)
            counts = {name: cluster.metadata.partitions(name) for name in topics}
            if unseen := [name for name, count in counts.items() if not count]:
                raise HostError(f"reading the ends of logs failed: topic {unseen[0]} has no partitions yet")
            every = [TopicPartition(name, number) for name, count in counts.items() for number in range(count)]
            low, high = (cluster.offsets.of(every, which) for which in (EARLIEST, LATEST))
            return {each: (low[each], high[each]) for each in every}
    except ConnectionLost as error:
        raise HostError(f"reading the ends of logs failed: {error}") from error


def ends(settings: ConnectionSettings, partitions: Collection[TopicPartition], deadline: Deadline) -> Offsets:
    """Return the next offset of each partition; omit those that do not exist, are not visible, or have no leader.

    Raise HostError.
    """
    known = settings.named(_CLIENT_ID)
    with asking("reading the ends of logs"), closing(Cluster(known, deadline.remaining())) as cluster:
        counts = partition_counts(every_topic(cluster))
        there = [each for each in partitions if each.partition < counts.get(each.topic, 0)]
        return cluster.offsets.of_led(there, LATEST, patient=False)


def every_topic(cluster: Cluster) -> Any:
    """Return a broker's answer about all topics; raise as `informed` does."""
    try:
        return known_topics(cluster.call_any(_EVERY_TOPIC))
    except UnsupportedVersion:
        return known_topics(cluster.call_any(_EVERY_TOPIC_OF_0_9))


def missing_topics(cluster: Cluster, topics: Collection[str]) -> set[str]:
    """Return the topics of these that do not exist, without creating them. Raise as `informed` does."""
    listed = _listing(cluster, topics).topics
    return {topic.name for topic in listed if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def _listing(cluster: Cluster, topics: Collection[str]) -> Any:
    named = [MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics]
    request = MetadataRequest(topics=named, allow_auto_topic_creation=False)
    return known_topics(cluster.call_any(request))


def partition_counts(listing: Any) -> dict[str, int]:
    """Return topic -> number of partitions, of the topics that `every_topic` returns without an error."""
    return {topic.name: len(topic.partitions) for topic in listing.topics if not topic.error_code}


def _committed(coordinator: Coordinator, partitions: Collection[TopicPartition], deadline: Deadline) -> Offsets:
    request: Any = offset_requests.fetch_request(coordinator.group, partitions)
    try:
        while True:
            try:
                found = offset_requests.fetched(coordinator.group, coordinator.call(request, deadline.remaining()))
                return {partition: each.offset for partition, each in found.items()}
            except ConnectionLost:
                coordinator.forget()
                if deadline.expired():
                    raise
    finally:
        coordinator.forget()


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Convert errors into a HostError that names the request."""
    try:
        yield
    except (ConnectionLost, ClusterUnreachable, StreamFailure, TimeoutError) as error:
        raise HostError(f"{what} failed: {error}") from error
