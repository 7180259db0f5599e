"""The records of one partition, one answer at a time: for topics that are read on the side, outside any group.

A thread that copies has `fetcher.py`, which asks ahead. Here each call asks once and waits for the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from legacy_mm.base.model import EARLIEST, TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ConnectionLost, RequestRefused
from legacy_mm.protocol import error_codes
from legacy_mm.protocol import fetch_messages as messages
from legacy_mm.protocol.compression import Decompressor
from legacy_mm.protocol.fetch_messages import FetchedPartition, FetchOptions, Session, Wanted
from legacy_mm.protocol.record_fields import RawHeaders, fields
from legacy_mm.protocol.record_set import CommittedOnly, DataBatches, RecordSet, whole_batches

_BATCH_RECORDS, _BATCH_BYTES = 1_000, 1 << 20
_NO_SESSION, _ONCE = 0, -1


class LogRecord(NamedTuple):
    """A record as the log has it. `timestamp`: milliseconds since 1970, the broker's where it has set it; -1: none."""

    offset: int
    timestamp: int
    by_broker: bool
    """True if the broker has set the time."""
    key: bytes | None
    value: bytes | None
    headers: RawHeaders


class LogPart(NamedTuple):
    """The records of one answer."""

    records: Sequence[LogRecord]
    next_offset: int
    """The offset from which the next answer comes."""


class PartitionLog:
    """Reads one partition over a connection of its own. For one thread."""

    def __init__(self, cluster: Cluster, partition: TopicPartition, *, committed_only: bool = False) -> None:
        """Create the reader; connects at the first read. `committed_only`: no record of an aborted transaction."""
        self._cluster = cluster
        self._partition = partition
        self._options = FetchOptions(
            max_wait_ms=100,
            min_bytes=1,
            max_bytes=8 << 20,
            partition_bytes=8 << 20,
            committed_only=committed_only,
            rack="",
        )
        self._decompress = Decompressor()
        self._batches = DataBatches(self._decompress, check_crcs=True, keeps_append_time=True)
        self._connection: Connection | None = None

    def read(self, offset: int) -> LogPart:
        """Return the next records from this offset on; none if there are none yet. An offset below the log is its
        first.

        Raise ConnectionLost or ClusterUnreachable where a later try may succeed; RequestRefused, CorruptRecords
        where none does.
        """
        try:
            answer, begin = self._ask(offset)
        except ConnectionLost:
            self.close()
            self._cluster.metadata.stale()
            raise
        record_set = whole_batches(answer)
        records = list(self._records(record_set, answer.aborted, begin))
        return LogPart(records, max(begin, record_set.next_offset))

    def close(self) -> None:
        """Close the connection; the next read makes another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _ask(self, offset: int) -> tuple[FetchedPartition, int]:
        """Return the answer, and the offset for which it was asked: that of the log's first record at least."""
        leader = self._cluster.metadata.leader(self._partition)
        if leader is None:
            raise ConnectionLost(f"{self._partition} {self._cluster.metadata.why_leaderless(self._partition)}")
        if self._connection is None or self._connection.node != leader.node:
            self.close()
            self._connection = self._cluster.connect(leader.node)
        answer = self._fetch(self._connection, offset)
        if error_codes.is_out_of_range(answer.error):
            offset = max(offset, self._cluster.offsets.of([self._partition], EARLIEST)[self._partition])
            answer = self._fetch(self._connection, offset)
        if answer.error and error_codes.may_be_read_later(answer.error):
            raise ConnectionLost(error_text.text(answer.error))
        if answer.error:
            raise RequestRefused(error_text.refused_topic(self._partition.topic, answer.error, "Read"))
        return answer, offset

    def _fetch(self, connection: Connection, offset: int) -> FetchedPartition:
        version = connection.version(messages.API_KEY, messages.LOWEST, messages.HIGHEST)
        wanted = Wanted(self._partition, offset, self._cluster.metadata.leader_epoch(self._partition))
        request = messages.encode(version, self._options, Session(_NO_SESSION, _ONCE, [wanted], ()))
        connection.send(messages.API_KEY, version, [request])
        answer = messages.decode(version, connection.receive())
        if answer.error:
            raise ConnectionLost(error_text.text(answer.error))
        return answer.partitions[0]

    def _records(self, record_set: RecordSet, aborted: Sequence[tuple[int, int]], begin: int) -> Iterator[LogRecord]:
        committed = CommittedOnly(aborted, self._decompress) if self._options.committed_only else None
        for batch, _ in self._batches.of(record_set, committed, _BATCH_BYTES):
            header = batch.header
            data = self._decompress(header.codec, batch.payload)
            for part in fields(header, data, from_offset=begin, most=_BATCH_RECORDS, most_bytes=_BATCH_BYTES):
                rows = zip(part.offsets, part.timestamps, part.keys, part.values, part.headers, strict=True)
                for offset, timestamp, key, value, headers in rows:
                    yield LogRecord(offset, timestamp, header.has_append_time, key, value, headers)
