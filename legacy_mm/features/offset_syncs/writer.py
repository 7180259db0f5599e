"""Offset syncs of copied records, as MirrorMaker 2 emits them, and the exact offset pairs beside them.

A thread of its own takes the reports of the copy jobs, so that no stream and no channel waits for a topic. Pairs become
syncs as they come, about once a second, a selection of those that are due. At each flush the newest pair of every
partition becomes a sync, too.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import OffsetPair, Offsets, TopicPartition
from legacy_mm.base.reports import UNKNOWN, CopiedRun
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter
from legacy_mm.features.offset_syncs.exact_offsets import ExactOffsets
from legacy_mm.features.offset_syncs.offset_sync_rule import PartitionSyncs, selected
from legacy_mm.logs import events
from legacy_mm.protocol.mirror_records import OffsetSync

_ROUND_INTERVAL = 1.0


class OffsetSyncs(threading.Thread):
    """Receives the offset pairs of copy jobs (`PairSink`); any thread may call it."""

    def __init__(
        self,
        writer: InternalTopicWriter,
        lag_max: int,
        flush_interval: float,
        exact: ExactOffsets,
    ) -> None:
        """Take the writer for the topic of offset syncs; `flush_interval` is in seconds."""
        super().__init__(name="offset-syncs", daemon=True)
        self._writer = writer
        self._lag_max = lag_max
        self._flush_interval = flush_interval
        self._exact = exact
        self._news: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._assigned: dict[TopicPartition, PartitionSyncs] = {}
        self._unsent: dict[TopicPartition, list[OffsetPair]] = {}
        self._end: Deadline | None = None
        self._over = False

    def started(self, offsets: Offsets) -> None:
        """Begin partitions that this process copies from these offsets."""
        self._tell(lambda: self._start(offsets))

    def copied(self, runs: Sequence[CopiedRun]) -> None:
        """Receive acknowledged records."""
        self._tell(lambda: self._take(runs))

    def ended(self, partitions: Collection[TopicPartition]) -> None:
        """Write down what is known of partitions that this process does not copy any more."""
        self._tell(lambda: self._let_go(partitions))

    def assigned(self) -> frozenset[TopicPartition]:
        """Return the partitions that this process copies."""
        return frozenset(self._assigned)

    def run(self) -> None:
        """Run until `finish`; an unexpected error is logged and ends the pairs, never the mirror."""
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - logged
            reason = f"{type(error).__name__}: {error}; no more pairs are written before a restart"
            events.emit(events.OFFSETS_LOST, reason=reason)
        finally:
            self._over = True

    def _work(self) -> None:
        """Take reports, send syncs, and at each flush promote pairs."""
        flush_at = monotonic() + self._flush_interval
        while self._end is None:
            is_idle = not self._unsent and not self._writer.waiting()
            self._take_told(max(0.0, flush_at - monotonic()) if is_idle else _ROUND_INTERVAL)
            if monotonic() >= flush_at:
                flush_at = monotonic() + self._flush_interval
                with suppress(HostError):  # logged when it failed first
                    self._exact.read()
                self._note(self._assigned)
            self._send_pending(self._assigned)
            self._writer.waiting()  # reports the outcomes
        self._take_told(0)
        self._let_go(tuple(self._assigned))
        self._writer.flush(self._end)
        self._exact.flush(self._end)

    def finish(self, deadline: Deadline) -> None:
        """Write down the rest within this time, after all copying is over."""
        self._end = deadline
        self._news.put(lambda: None)
        if self.is_alive():  # it never was where no thread could be made
            self.join(deadline.remaining())

    def _tell(self, news: Callable[[], None]) -> None:
        if not self._over:
            self._news.put(news)

    def _take_told(self, seconds: float) -> None:
        """Process the reports up to now, or from the first within these seconds on if there are none."""
        try:
            self._news.get(timeout=seconds)()
            while True:
                self._news.get_nowait()()
        except queue.Empty:
            return

    def _start(self, offsets: Offsets) -> None:
        self._assigned |= {partition: PartitionSyncs(self._lag_max) for partition in offsets}
        self._exact.started(offsets)

    def _take(self, runs: Sequence[CopiedRun]) -> None:
        for run in runs:
            syncs = self._assigned.get(TopicPartition(run.topic, run.partition))
            if syncs is not None and run.downstream != UNKNOWN:
                syncs.acknowledged(run.upstream, run.downstream, run.records)
        self._exact.copied(runs)

    def _let_go(self, partitions: Collection[TopicPartition]) -> None:
        gone = {partition: self._assigned.pop(partition) for partition in partitions if partition in self._assigned}
        self._note(gone)
        self._send_pending(gone)
        self._exact.ended(gone)

    def _note(self, partitions: Mapping[TopicPartition, PartitionSyncs]) -> None:
        for syncs in partitions.values():
            syncs.promote_delayed()
        self._exact.save(tuple(partitions))

    def _send_pending(self, partitions: Mapping[TopicPartition, PartitionSyncs]) -> None:
        """Send pending syncs.

        Pairs that find no room wait for the next round, where they are selected from once more.
        """
        for partition, syncs in partitions.items():
            if pairs := syncs.take_pending():
                self._unsent[partition] = selected([*self._unsent.get(partition, ()), *pairs])
        for partition, pairs in tuple(self._unsent.items()):
            while pairs:
                if not self._writer.send(*OffsetSync(*partition, *pairs[0]).encode()):
                    return
                del pairs[0]
            del self._unsent[partition]
