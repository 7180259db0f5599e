"""The positions of a flow in Kafka Connect's offsets topic at the target: the one book that nodes of a flow share.

Whoever stored the last record of a key, MirrorMaker 2 or this program, is believed, if the source still has the log
that the offset is of.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, Protocol

from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import EARLIEST, CommittedOffset, Lacking, Offsets, TopicPartition
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.features.connect_offsets import stored_positions as records
from legacy_mm.features.connect_offsets.feature import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.source_logs import Examined
from legacy_mm.features.connect_offsets.stored_positions import MARK, SourceLog, StoredPosition
from legacy_mm.logs import events
from legacy_mm.protocol.records import murmur2

_POSITIVE = 0x7FFFFFFF
_LOOK_INTERVAL = 0.05
FORGOTTEN = -1
"""In place of a position: there is none any more."""
OnWritten = Callable[[TopicPartition, int, str | None], None]
"""Told of each position: the offset, and why it could not be written, or None. Any thread may call it."""


class Latest(Protocol):
    """The latest record of each key of the topic."""

    def read(self, silence: float) -> Mapping[bytes, LogRecord]:
        """Read to the present end; raise HostError."""

    def partitions(self) -> int:
        """Return the number of partitions; 0: the topic is missing."""


class Writer(Protocol):
    """A writer of records to the topic."""

    def send(
        self,
        key: bytes,
        value: bytes | None,
        timestamp: int | None = None,
        *,
        partition: int = 0,
        headers: tuple[tuple[str, bytes | None], ...] = (),
    ) -> bool:
        """Queue a record; return False if there is no room for it."""

    def waiting(self) -> int:
        """Return the number of records that are under way, and tell the results of others."""


class Logs(Protocol):
    """The source's logs."""

    def logs(self, topics: Collection[str]) -> Mapping[str, SourceLog]:
        """Return the present log of each of these topics; raise HostError."""

    def examine(self, positions: Mapping[TopicPartition, StoredPosition], topics: Collection[str]) -> Examined:
        """Hold positions against the source; raise HostError."""


class _Waiting(NamedTuple):
    offset: int
    metadata: str
    on_written: OnWritten


class OffsetsTopic:
    """The positions of one flow. Any thread may call it."""

    def __init__(
        self,
        settings: ConnectOffsetSettings,
        latest: Latest,
        source: Logs,
        writer: Callable[[Callable[[bytes, str | None], None]], Writer],
    ) -> None:
        """Take the topic; `writer` is made when the first position comes, and told whom to tell of each key."""
        self._settings = settings
        self._latest = latest
        self._source = source
        self._make_writer = writer
        self._writer: Writer | None = None
        self._reading, self._writing = threading.Lock(), threading.RLock()
        self._logs: dict[TopicPartition, SourceLog] = {}
        self._waiting: dict[TopicPartition, _Waiting] = {}
        self._sent: defaultdict[bytes, deque[tuple[TopicPartition, _Waiting]]] = defaultdict(deque)
        self._said_where = False

    def stored(self, partitions: Collection[TopicPartition], silence: float) -> dict[TopicPartition, StoredPosition]:
        """Return the last word of the topic about these partitions; raise HostError where it cannot be read."""
        with self._reading:
            latest = self._latest.read(silence)
            found = {each: records.position(latest.get(records.key(self._settings, each))) for each in partitions}
        return {partition: position for partition, position in found.items() if position is not None}

    def every_position(self, silence: float) -> dict[TopicPartition, CommittedOffset]:
        """Return all positions of the flow, whatever the source has now; raise HostError."""
        found: dict[TopicPartition, CommittedOffset] = {}
        with self._reading:
            for key, record in self._latest.read(silence).items():
                place, position = records.of_flow(self._settings, key), records.position(record)
                if place is not None and position is not None:
                    found[place] = CommittedOffset(position.next, position.metadata)
        return found

    def positions(
        self, partitions: Collection[TopicPartition], silence: float
    ) -> dict[TopicPartition, CommittedOffset]:
        """Return the next record to copy of each partition that has a position.

        (1) The last word of the topic counts. (2) A position of another log counts as none, and says so: the first
        record is next. Raise HostError where topic or source do not answer.
        """
        # (1)
        stored = self.stored(partitions, silence)
        # (2)
        examined = self._source.examine(stored, {partition.topic for partition in partitions})
        self._logs |= {partition: examined.logs[partition.topic] for partition in partitions}
        for partition, why in sorted(examined.foreign.items()):
            offset = stored[partition].next
            events.emit(
                events.POSITION_OF_ANOTHER_LOG, offset=offset, topic=self._settings.topic, partition=partition, why=why
            )
        self._say_where([each for partition, each in stored.items() if partition not in examined.foreign])
        return {
            partition: CommittedOffset(EARLIEST if partition in examined.foreign else each.next, each.metadata)
            for partition, each in stored.items()
        }

    def lacking(self, partitions: Collection[TopicPartition], silence: float) -> Lacking:
        """Return those that have no position which counts; of each topic one position is held against the source.

        Raise HostError where topic or source do not answer.
        """
        with self._reading:
            latest = self._latest.read(silence)
            records_of = {each: latest.get(records.key(self._settings, each)) for each in partitions}
        found = {
            partition for partition, record in records_of.items() if record is not None and record.value is not None
        }
        first = {partition.topic: partition for partition in sorted(found, reverse=True)}
        stored = self.stored(first.values(), silence)
        examined = self._source.examine(stored, first.keys()).foreign if stored else {}
        foreign = {partition: (stored[partition].next, why) for partition, why in examined.items()}
        known = {partition for partition in found if first[partition.topic] not in foreign}
        return Lacking([partition for partition in partitions if partition not in known], foreign)

    def write(self, offsets: Offsets, metadata: str, on_written: OnWritten) -> None:
        """Write positions, each the next record to copy, or `FORGOTTEN`; returns at once.

        A later one replaces one that waits.
        """
        with self._writing:
            self._waiting |= {each: _Waiting(offset, metadata, on_written) for each, offset in offsets.items()}
        self.poll()

    def moved(self, partitions: Collection[TopicPartition]) -> None:
        """Note that these go on elsewhere after a gap: their log may be another one."""
        try:
            logs = self._source.logs({partition.topic for partition in partitions})
        except HostError:
            logs = {}
        for partition in partitions:
            self._logs[partition] = logs.get(partition.topic, SourceLog("", ""))

    def poll(self) -> None:
        """Send what waits for room, and tell of what is written; call this often."""
        with self._writing:
            if self._waiting and not self._latest.partitions():
                self._fail_all(f"topic {self._settings.topic} is missing at the target")
            for partition in list(self._waiting):
                if not self._send(partition):
                    break
            if self._writer is not None:
                self._writer.waiting()

    def flush(self, deadline: Deadline) -> bool:
        """Wait until what was given is written or refused; True if it is."""
        while not deadline.expired():
            self.poll()
            with self._writing:
                if not self._waiting and not any(self._sent.values()):
                    return True
            sleep(min(_LOOK_INTERVAL, deadline.remaining()))
        return False

    def _send(self, partition: TopicPartition) -> bool:
        waiting = self._waiting[partition]
        key = records.key(self._settings, partition)
        mark = records.mark(self._logs.get(partition, SourceLog("", "")), waiting.metadata)
        self._writer = self._writer or self._make_writer(self._written)
        self._sent[key].append((partition, waiting))  # first: the writer may tell of it at once
        if not self._writer.send(
            key,
            None if waiting.offset == FORGOTTEN else records.value(waiting.offset),
            partition=(murmur2(key) & _POSITIVE) % self._latest.partitions(),
            headers=((MARK, mark),),
        ):
            self._sent[key].pop()
            return False
        self._waiting.pop(partition, None)
        return True

    def _written(self, key: bytes, reason: str | None) -> None:
        with self._writing:
            partition, waiting = self._sent[key].popleft()
            if not self._sent[key]:
                del self._sent[key]
        error = None if reason is None else f"topic {self._settings.topic}: {reason}"
        waiting.on_written(partition, waiting.offset, error)

    def _fail_all(self, reason: str) -> None:
        waiting, self._waiting = self._waiting, {}
        for partition, each in waiting.items():
            each.on_written(partition, each.offset, reason)

    def _say_where(self, stored: Collection[StoredPosition]) -> None:
        theirs = sum(each.log is None for each in stored)
        if theirs and not self._said_where:
            self._said_where = True
            events.emit(events.RESUMED_FROM_CONNECT, count=theirs, topic=self._settings.topic)
