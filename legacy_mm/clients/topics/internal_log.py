"""A topic that keeps state, such as MirrorMaker 2's own: one partition, compacted, read from its beginning."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import LATEST, TopicPartition
from legacy_mm.clients.admin.inspector import asking
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.partition_log import LogRecord, PartitionLog
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.protocol.error_codes import ErrorCode

_QUESTION_TIMEOUT = 4.0
_RETRY_BACKOFF = 0.1
_PARTITION = 0
KeyAndValue = tuple[bytes | None, bytes | None]
"""Key and value of a record."""
Value = TypeVar("Value")


def decoded(records: Iterable[KeyAndValue], decode: Callable[[bytes | None, bytes | None], Value]) -> Iterator[Value]:
    """Decode these records, and skip those that cannot be decoded: any client may have written to the topic."""
    for key, value in records:
        with suppress(CorruptRecords):
            yield decode(key, value)


def _close(log: PartitionLog, cluster: Cluster) -> None:
    log.close()
    cluster.close()


class InternalLog:
    """Partition 0 of such a topic, for one thread. It need not be there yet."""

    def __init__(self, settings: ConnectionSettings, topic: str, client: str) -> None:
        """Create the reader; `settings` are any client's of the cluster; `client` is its id. Connects at the first
        read.
        """
        self._settings = settings.named(client)
        self._place = TopicPartition(topic, _PARTITION)
        self._source: Cluster | None = None
        self._partition_log: PartitionLog | None = None
        self._close_sockets: Callable[[], object] = lambda: None
        self._topic_id: object = None
        self._found: deque[LogRecord] = deque()
        self._read_to = self._found_to = 0

    def read(self, deadline: Deadline) -> Iterator[KeyAndValue]:
        """Read the records that no call has returned yet, at least to the end; none of a missing topic.

        Raise HostError when the cluster does not return all of it in time. The next call resumes after the last record
        that was returned, also where a caller did not take all of them.
        """
        with asking(f"reading {self._place.topic}"):
            end = self._patiently(self._end, deadline)
            while self._read_to < end:
                yield from self._patiently(self._more, deadline)

    def close(self) -> None:
        """Disconnect; a read begins again from the start."""
        self._begin_anew()
        self._close_sockets()
        self._partition_log = self._source = None

    def _end(self) -> int:
        """Return where the log ends; 0 for a missing topic. A recreated one is read from its start."""
        cluster, topic = self._source or self._connect(), self._place.topic
        cluster.metadata.watch({topic})
        cluster.metadata.refresh()
        if cluster.metadata.problem(topic) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            self._begin_anew()
            return 0
        end = cluster.offsets.of([self._place], LATEST)[self._place]
        before, self._topic_id = self._topic_id, cluster.metadata.topic_ids().get(topic)
        if end < self._read_to or before not in (None, self._topic_id):
            self._begin_anew()
        return end

    def _connect(self) -> Cluster:
        """Create what connects; its sockets are closed by `close`, or with the last reference to this reader."""
        cluster = self._source = Cluster(self._settings, _QUESTION_TIMEOUT)
        log = self._partition_log = PartitionLog(cluster, self._place)
        self._close_sockets = weakref.finalize(self, _close, log, cluster)
        return cluster

    def _more(self) -> Iterator[KeyAndValue]:
        """Return the next records; asks only where all that was found is taken."""
        if not self._found:
            assert self._partition_log is not None
            part = self._partition_log.read(self._read_to)
            self._found, self._found_to = deque(part.records), part.next_offset
        return self._taken()

    def _taken(self) -> Iterator[KeyAndValue]:
        while self._found:
            record = self._found.popleft()
            self._read_to = record.offset + 1
            yield record.key, record.value
        self._read_to = self._found_to

    def _patiently(self, ask: Callable[[], Value], deadline: Deadline) -> Value:
        """Ask again until there is an answer, or the time is over."""
        while True:
            try:
                return ask()
            except (ConnectionLost, ClusterUnreachable):
                if deadline.expired():
                    raise
            sleep(_RETRY_BACKOFF)

    def _begin_anew(self) -> None:
        self._found.clear()
        self._read_to = self._found_to = 0
