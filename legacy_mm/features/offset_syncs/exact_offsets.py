"""Every offset pair of the partitions that this process copies, in runs, kept in a compacted topic of our own.

The pairs of records that another process copied before are read from there. If that process could not write its last
runs, the map has a hole and reports it; offset syncs answer then.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Sequence

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import JoinedChunk, OffsetMapChunk, OffsetRun, Offsets, TopicPartition
from legacy_mm.base.reports import UNKNOWN, CopiedRun
from legacy_mm.clients.net.connection_errors import RequestRefused
from legacy_mm.clients.topics.internal_log import InternalLog, decoded
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter
from legacy_mm.features.offset_syncs.offset_map import Nearest, OffsetMap
from legacy_mm.logs import events
from legacy_mm.protocol.offset_map_records import OffsetMapRecord

_READ_TIMEOUT = 10.0
_ROOM_TIMEOUT = 5.0


class StoredMaps:
    """The maps that all processes have written."""

    def __init__(self, log: InternalLog) -> None:
        self._log = log
        self._chunks: defaultdict[TopicPartition, dict[int, OffsetMapChunk | JoinedChunk]] = defaultdict(dict)

    def refresh(self, deadline: Deadline) -> None:
        """Read new chunks; raises HostError. A record that is no chunk of a map is ignored."""
        for record in decoded(self._log.read(deadline), OffsetMapRecord.decode):
            self._chunks[TopicPartition(record.topic, record.partition)][record.place] = record.chunk

    def read_map(self, partition: TopicPartition) -> OffsetMap:
        """Return the map of a partition, empty if there is none."""
        return OffsetMap(self._chunks[partition].values())


class ExactOffsets:
    """Maps for use by one thread; any thread may call `nearest`."""

    def __init__(self, stored: StoredMaps, writer: InternalTopicWriter) -> None:
        """Take the reader and the writer of the same topic."""
        self._stored = stored
        self._writer = writer
        self._maps: dict[TopicPartition, OffsetMap] = {}
        self._unread: set[TopicPartition] = set()
        self._lock = threading.Lock()

    def started(self, offsets: Offsets) -> None:
        """Begin the maps of partitions that this process copies from these offsets, without a gap from there."""
        self._unread |= offsets.keys() - self._maps.keys()
        try:
            self.read()
        except HostError as error:
            if isinstance(error.__cause__, RequestRefused):  # MirrorMaker 2 needs no right on this topic
                events.emit(events.DUTY_NOTED, duty="offset-syncs", note=f"offset syncs alone tell offsets: {error}")
            else:
                events.emit(events.DUTY_FAILED, duty="offset-syncs", reason=str(error))
        with self._lock:
            for partition in offsets.keys() & self._maps.keys():
                self._maps[partition].start(offsets[partition])

    def read(self) -> None:
        """Read what other processes wrote about partitions that began here; raises HostError.

        Until that succeeds no pair of them is noted: a map that does not continue the other process's map would hide
        it.
        """
        if not self._unread:
            return
        self._stored.refresh(Deadline.after(_READ_TIMEOUT))
        with self._lock:
            self._maps |= {partition: self._stored.read_map(partition) for partition in self._unread}
        self._unread.clear()

    def copied(self, runs: Sequence[CopiedRun]) -> None:
        """Add acknowledged records, in the order of each partition."""
        with self._lock:
            for run in runs:
                found = self._maps.get(TopicPartition(run.topic, run.partition))
                if found is None:
                    continue
                if run.downstream == UNKNOWN:
                    found.start(run.upstream + run.records)
                else:
                    found.add(OffsetRun(run.upstream, run.downstream, run.records))

    def ended(self, partitions: Collection[TopicPartition]) -> None:
        """Drop the maps of partitions that this process does not copy any more."""
        self._unread.difference_update(partitions)
        with self._lock:
            for partition in partitions:
                self._maps.pop(partition, None)

    def nearest(self, partition: TopicPartition, offset: int) -> Nearest:
        """Return the known pairs next to an offset of the source."""
        with self._lock:
            found = self._maps.get(partition)
            return Nearest() if found is None else found.nearest(offset)

    def save(self, partitions: Collection[TopicPartition]) -> None:
        """Write down what is new in the maps of these partitions."""
        for partition in self._maps.keys() & partitions:
            for place, chunk in self._maps[partition].changed():
                record = OffsetMapRecord(*partition, place, chunk).encode()
                while not self._writer.send(*record):
                    self._writer.flush(Deadline.after(_ROOM_TIMEOUT))

    def flush(self, deadline: Deadline) -> None:
        """Wait until the records under way are written."""
        self._writer.flush(deadline)
