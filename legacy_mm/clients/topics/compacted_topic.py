"""A compacted topic of several partitions, such as that of Kafka Connect's offsets: the latest record of each key.

Each read goes on where the last one ended. Of a key that is in several partitions (somebody has added some, or made
the topic anew by a copy) the record with the later timestamp counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import LATEST, TopicPartition
from legacy_mm.clients.admin.inspector import asking
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.partition_log import LogRecord, PartitionLog
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.protocol.error_codes import ErrorCode

_QUESTION_TIMEOUT = 4.0
_RETRY_BACKOFF = 0.1


class CompactedTopic:
    """All partitions of such a topic, for one thread at a time. It need not be there yet."""

    def __init__(self, settings: ConnectionSettings, topic: str, client: str, *, stays_connected: bool = False) -> None:
        """Create the reader; `settings` are any client's of the cluster; `client` is its id. Connects at the first
        read, and at each later one unless it `stays_connected`, which who reads all the time wants.
        """
        self._settings = settings.named(client)
        self._topic = topic
        self._stays_connected = stays_connected
        self._kept: Cluster | None = None
        self._topic_id: object = None
        self._read_to: dict[int, int] = {}
        self._latest: dict[bytes, tuple[int, LogRecord]] = {}

    def read(self, silence: float) -> Mapping[bytes, LogRecord]:
        """Read up to the present end of each partition; return the latest record of every key, removed ones too.

        There is no limit while it moves. Raise HostError when nothing came for `silence` seconds, and where a
        transaction is open for so long: what follows it is not committed.
        """
        with asking(f"reading {self._topic}"), self._connected() as cluster:
            for place, end in self._ends(cluster, Deadline.after(silence)).items():
                self._read_on(cluster, place, end, silence)
        return {key: record for key, (_, record) in self._latest.items()}

    def close(self) -> None:
        """Disconnect; a later read connects anew."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    @contextmanager
    def _connected(self) -> Iterator[Cluster]:
        cluster, self._kept = self._kept or Cluster(self._settings, _QUESTION_TIMEOUT), None
        try:
            yield cluster
        except BaseException:
            cluster.close()
            raise
        if self._stays_connected:
            self._kept = cluster
        else:
            cluster.close()

    def partitions(self) -> int:
        """Return the number of partitions at the last read; 0: the topic was missing."""
        return len(self._read_to)

    def _ends(self, cluster: Cluster, deadline: Deadline) -> Mapping[TopicPartition, int]:
        """Return the end of each partition, of open transactions too; none of a missing topic.

        A recreated topic is read from its start.
        """
        cluster.metadata.watch({self._topic})
        while True:
            try:
                cluster.metadata.refresh()
                break
            except (ConnectionLost, ClusterUnreachable):
                if deadline.expired():
                    raise
                sleep(_RETRY_BACKOFF)
        problem = cluster.metadata.problem(self._topic)
        if problem and problem not in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE):
            why = error_text.refused_topic(self._topic, problem, "Read")
            raise HostError(f"topic {self._topic} cannot be read: {why}")
        places = [TopicPartition(self._topic, number) for number in range(cluster.metadata.partitions(self._topic))]
        ends = cluster.offsets.of(places, LATEST) if places else {}
        before, self._topic_id = self._topic_id, cluster.metadata.topic_ids().get(self._topic)
        is_another = before not in (None, self._topic_id)
        if is_another or any(ends.get(TopicPartition(self._topic, n), 0) < at for n, at in self._read_to.items()):
            self._read_to, self._latest = {}, {}
        for place in places:
            self._read_to.setdefault(place.partition, 0)
        return ends

    def _read_on(self, cluster: Cluster, place: TopicPartition, end: int, silence: float) -> None:
        at, deadline = self._read_to[place.partition], Deadline.after(silence)
        if at >= end:
            return
        with closing(PartitionLog(cluster, place, committed_only=True)) as log:
            while at < end:
                try:
                    part = log.read(at)
                except (ConnectionLost, ClusterUnreachable):
                    if deadline.expired():
                        raise
                    sleep(_RETRY_BACKOFF)
                    continue
                for record in part.records:
                    self._take(place.partition, record)
                if part.next_offset > at:
                    at, deadline = part.next_offset, Deadline.after(silence)
                    self._read_to[place.partition] = at
                elif deadline.expired():
                    raise HostError(
                        f"a transaction is open in {place} from offset {at} on: what follows counts once it has ended"
                    )

    def _take(self, partition: int, record: LogRecord) -> None:
        if record.key is None:
            return
        known = self._latest.get(record.key)
        if known is None or known[0] == partition or known[1].timestamp <= record.timestamp:
            self._latest[record.key] = partition, record
