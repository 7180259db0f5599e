"""Every pair of offsets of the partitions that are copied here, in runs, kept in a compacted topic of our own.

What was copied before another process took a partition over is read from there. Where that process could not write
its last runs the map has a hole, and says so; offset syncs answer then.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Sequence

from legacy_mm import events
from legacy_mm.clock import Deadline
from legacy_mm.copyjob import UNKNOWN, Run
from legacy_mm.errors import HostError
from legacy_mm.kafka.internal_log import InternalLog, decoded
from legacy_mm.kafka.internal_topic import InternalTopicWriter
from legacy_mm.model import OffsetMapChunk, OffsetRun, Offsets, TopicPartition
from legacy_mm.policies.offset_map import Nearest, OffsetMap
from legacy_mm.protocol.offset_map_records import OffsetMapRecord

_READ_SECONDS = 10.0
_ROOM_SECONDS = 5.0


class StoredMaps:
    """The maps that were written down, by whatever process."""

    def __init__(self, log: InternalLog) -> None:
        self._log = log
        self._chunks: defaultdict[TopicPartition, dict[int, OffsetMapChunk]] = defaultdict(dict)

    def refresh(self, deadline: Deadline) -> None:
        """Read what is new; raises HostError. What is no chunk of a map is passed over."""
        for record in decoded(self._log.read(deadline), OffsetMapRecord.decode):
            self._chunks[TopicPartition(record.topic, record.partition)][record.place] = record.chunk

    def of(self, partition: TopicPartition) -> OffsetMap:
        """The map of a partition, empty if there is none."""
        return OffsetMap(self._chunks[partition].values())


class ExactOffsets:
    """For one thread, but for `nearest`, which any thread may ask."""

    def __init__(self, stored: StoredMaps, writer: InternalTopicWriter) -> None:
        """Both of the same topic."""
        self._stored = stored
        self._writer = writer
        self._maps: dict[TopicPartition, OffsetMap] = {}
        self._unread: set[TopicPartition] = set()
        self._lock = threading.Lock()

    def started(self, offsets: Offsets) -> None:
        """These partitions are copied here from these offsets on, without a gap from there."""
        self._unread |= offsets.keys() - self._maps.keys()
        try:
            self.read()
        except HostError as error:
            events.emit(events.DUTY_FAILED, duty="offset-syncs", reason=str(error))
        with self._lock:
            for partition in offsets.keys() & self._maps.keys():
                self._maps[partition].start(offsets[partition])

    def read(self) -> None:
        """Read what others wrote down of partitions that began here; raises HostError.

        Until that succeeded nothing is noted of them: a map that does not follow on theirs would hide it.
        """
        if not self._unread:
            return
        self._stored.refresh(Deadline.after(_READ_SECONDS))
        with self._lock:
            self._maps |= {partition: self._stored.of(partition) for partition in self._unread}
        self._unread.clear()

    def copied(self, runs: Sequence[Run]) -> None:
        """Acknowledged records, in the order of each partition."""
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
        """These are copied elsewhere from now on."""
        self._unread.difference_update(partitions)
        with self._lock:
            for partition in partitions:
                self._maps.pop(partition, None)

    def nearest(self, partition: TopicPartition, offset: int) -> Nearest:
        """What is known here of an offset of the source."""
        with self._lock:
            found = self._maps.get(partition)
            return Nearest() if found is None else found.nearest(offset)

    def save(self, partitions: Collection[TopicPartition]) -> None:
        """Write down what is new of these."""
        for partition in self._maps.keys() & partitions:
            for place, chunk in self._maps[partition].changed():
                record = OffsetMapRecord(*partition, place, chunk).encode()
                while not self._writer.send(*record):
                    self._writer.flush(Deadline.after(_ROOM_SECONDS))

    def flush(self, deadline: Deadline) -> None:
        """Wait for what is being written."""
        self._writer.flush(deadline)
