"""Topics and ranges of partitions that are read once, from begin to end, by a client that belongs to no group."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.clients.admin.inspector import asking
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.partition_log import LogRecord, PartitionLog
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.logs import events
from legacy_mm.protocol.error_codes import ErrorCode

_QUESTION_TIMEOUT = 4.0
_RETRY_BACKOFF = 0.1
_SILENCE_TIMEOUT = 60.0
_PAUSE_TIMEOUT = 1.0
"""The time after the last record in which another one may come."""
_WHOLE, _RANGE, _CLIENT = "legacy_mm-whole-topic", "legacy_mm-verify", "legacy_mm-mirror-client"


class _TimeOver(ConnectionLost):
    """The deadline came before the end."""


def read_topic(
    settings: ConnectionSettings, topic: str, deadline: Deadline, only: int | None = None
) -> Generator[tuple[int, LogRecord], None, None]:
    """Read the committed records of all partitions, or of one, each with its partition's number, each partition in its
    order; none of a missing topic.

    `settings` are any client's of the cluster. Raise HostError when the cluster does not return all in time.
    """
    with asking(f"reading {topic}"), closing(_cluster(settings, _WHOLE, committed_only=True)) as cluster:
        numbers = range(_count(cluster, topic, deadline))
        every = [TopicPartition(topic, number) for number in numbers if only in (None, number)]
        ends = cluster.offsets.of(every, LATEST) if every else {}
        for place, end in ends.items():
            for part in _parts(cluster, place, 0, end, deadline, committed_only=True):
                yield from ((place.partition, record) for record in part)


def read_range(
    settings: ConnectionSettings, topic: str, partition: int, begin: int, end: int, *, committed: bool
) -> Generator[Sequence[LogRecord], None, None]:
    """Read the records from `begin` up to `end`, in batches; raise HostError when the cluster does not return them."""
    place = TopicPartition(topic, partition)
    with asking(f"reading {place}"), closing(_cluster(settings, _RANGE, committed_only=committed)) as cluster:
        _count(cluster, topic, Deadline.after(_SILENCE_TIMEOUT))
        first = cluster.offsets.of([place], EARLIEST)[place]
        if begin < first:
            raise HostError(f"reading {place} failed: the log begins at offset {first}, and {begin} is wanted")
        yield from _parts(cluster, place, begin, end, None, committed_only=committed)


def has_records(
    settings: ConnectionSettings, topic: str, partition: int, begin: int, end: int, *, committed: bool
) -> bool:
    """Return True if a range holds records: it may be empty, or all of markers. Raise HostError."""
    if begin >= end:
        return False
    with closing(read_range(settings, topic, partition, begin, end, committed=committed)) as batches:
        return next(batches, None) is not None


def read_on(
    settings: ConnectionSettings, place: TopicPartition, begin: int, first_timeout: float, *, committed: bool
) -> Generator[LogRecord, None, None]:
    """Read the records from `begin` on, also those that come meanwhile; end when none comes for a moment.

    `first_timeout` is in seconds, for the first record. Raise HostError when the cluster does not answer.
    """
    with (
        asking(f"reading {place}"),
        closing(_cluster(settings, settings.client_id, committed_only=committed)) as cluster,
    ):
        _count(cluster, place.topic, Deadline.after(first_timeout))
        with closing(PartitionLog(cluster, place, committed_only=committed)) as log:
            at, deadline = begin, Deadline.after(first_timeout)
            while not deadline.expired():
                try:
                    part = log.read(at)
                except (ConnectionLost, ClusterUnreachable):
                    if deadline.expired():
                        raise
                    sleep(_RETRY_BACKOFF)
                    continue
                yield from part.records
                if part.next_offset > at:
                    at, deadline = part.next_offset, Deadline.after(_PAUSE_TIMEOUT)


def read_to_end(settings: ConnectionSettings, topic: str, deadline: Deadline) -> Iterator[LogRecord]:
    """Read every record of partition 0, of open and aborted transactions too; yield none of a missing topic.

    At the deadline it ends with what it has read, and a WARN line. Raise HostError where the cluster refuses, or has
    not answered at all. Never creates the topic.
    """
    place = TopicPartition(topic, 0)
    with closing(_cluster(settings, _CLIENT, committed_only=False)) as cluster:
        with asking(f"looking for {topic}"):
            if not _count(cluster, topic, deadline):
                return
            end = cluster.offsets.of([place], LATEST)[place]
        with asking(f"reading {topic}"):
            try:
                for part in _parts(cluster, place, 0, end, deadline, committed_only=False):
                    yield from part
            except _TimeOver:
                events.emit(events.READ_CUT_SHORT, topic=topic)


def _cluster(settings: ConnectionSettings, client: str, *, committed_only: bool) -> Cluster:
    return Cluster(settings.named(client), _QUESTION_TIMEOUT, committed_only=committed_only)


def _count(cluster: Cluster, topic: str, deadline: Deadline) -> int:
    """Return the number of partitions; 0 of a missing topic. Raise HostError for one that may not be seen."""
    cluster.metadata.watch({topic})
    while True:
        try:
            cluster.metadata.refresh()
            break
        except (ConnectionLost, ClusterUnreachable):
            if deadline.expired():
                raise
    problem = cluster.metadata.problem(topic)
    if problem and problem not in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE):
        raise HostError(f"looking for {topic} failed: {error_text.text(problem)}")
    return cluster.metadata.partitions(topic)


def _parts(
    cluster: Cluster, place: TopicPartition, begin: int, end: int, deadline: Deadline | None, *, committed_only: bool
) -> Iterator[Sequence[LogRecord]]:
    """Yield the records from `begin` up to `end`; raise _TimeOver at the deadline, or what a silent broker says after
    a minute.
    """
    with closing(PartitionLog(cluster, place, committed_only=committed_only)) as log:
        silence = Deadline.after(_SILENCE_TIMEOUT)
        at = begin
        while at < end:
            try:
                part = log.read(at)
            except (ConnectionLost, ClusterUnreachable):
                if silence.expired() or (deadline is not None and deadline.expired()):
                    raise
                sleep(_RETRY_BACKOFF)
                continue
            if wanted := [record for record in part.records if record.offset < end]:
                yield wanted
            if part.next_offset > at:
                at, silence = part.next_offset, Deadline.after(_SILENCE_TIMEOUT)
            if at < end and deadline is not None and deadline.expired():
                raise _TimeOver(f"the time was over at offset {at} of {end}")
            if silence.expired():
                raise ConnectionLost(f"no record came for {_SILENCE_TIMEOUT:g} s")
