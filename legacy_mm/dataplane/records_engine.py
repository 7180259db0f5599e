"""The `records` engine: one record at a time through librdkafka on both sides.

The loop of `run` is: read, send, and at a barrier prove and report. Reading and sending overlap inside librdkafka;
a full send queue stops the reading, so memory is bounded by `buffer.memory`. Python's cycle collector runs at barriers
only, but for handlers: started by the message objects it took 7 % of the CPU and never found a cycle.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Collection
from typing import Any

from legacy_mm.clients.api import LogReader
from legacy_mm.clients.librdkafka.reader import PartitionReader
from legacy_mm.clients.librdkafka.sender import RecordSender, Refused
from legacy_mm.clients.librdkafka.senders import Senders
from legacy_mm.clock import Deadline, monotonic
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.control_channel.frames import (
    BEAT_INTERVAL,
    UNKNOWN,
    Copied,
    Frame,
    Gap,
    Pairs,
    Progress,
    Started,
    Statistics,
    TaskConfig,
)
from legacy_mm.dataplane.acks import SafeOffsets
from legacy_mm.dataplane.keep_alive import KeepAlive, RetryLoop
from legacy_mm.dataplane.offset_pairs import OffsetPairs
from legacy_mm.dataplane.one_cluster import OneCluster
from legacy_mm.dataplane.partition_counts import Move, PartitionCounts
from legacy_mm.dataplane.partition_meters import PartitionMeters, Sized, Times
from legacy_mm.dataplane.refused_records import RefusedRecords
from legacy_mm.dataplane.send_failure import SendFailures
from legacy_mm.dataplane.stuck_records import StuckRecords
from legacy_mm.dataplane.tally import Tally
from legacy_mm.dataplane.target_gate import TargetGate
from legacy_mm.dataplane.unmade_topics import UnmadeTopics
from legacy_mm.errors import EngineUnfit, StreamFailure
from legacy_mm.logs import events
from legacy_mm.model import NO_RECORDS, Columns, Offsets, TopicPartition

READ_TIMEOUT = 0.1
_FLUSH_SLICE = 0.05
_BARRIER_TIMEOUT = 5.0
_LAST_TIMEOUT = 20.0


class RecordsEngine:
    """Copies the partitions of one task config until `stop`."""

    def __init__(self, config: TaskConfig, report: Callable[[Frame], None]) -> None:
        self._report = report
        self._beat = KeepAlive(lambda: report(self._progress({}, blocked=True)))
        self._start = config.offsets
        self._failures = SendFailures(abort=config.abort_on_send_failure, synchronous=config.synchronous)
        self._stopping = threading.Event()
        self._stop_deadline = Deadline(0)
        self._reader = self._make_reader(config)
        self._keeps_partition = frozenset(config.keeps_partition)
        self._pairs = OffsetPairs() if config.pairs else None
        self._names = config.names
        quarantine = config.quarantine
        self._refused: RefusedRecords | None = None
        if quarantine.refused:
            waits = (self._wait_a_moment, self._flush)
            self._refused = RefusedRecords(quarantine, config.target, config.names, self._make_senders, *waits)
            self._sender = self._refused.sender
        else:
            self._sender = self._make_senders(config.target, among=config.offsets)
        keeps_partition = [partition for partition in config.offsets if partition.topic in self._keeps_partition]
        self._meters = PartitionMeters(keeps_partition) if config.pairs else None
        self._arrived: list[tuple[Any, ...]] = []
        self._unmade = UnmadeTopics(config, self._sender.missing_topics)
        self._one_cluster = OneCluster(
            {} if config.handler else self._names, self._reader.cluster_id, self._sender.cluster_id
        )
        self._gate = TargetGate(config, self._reader, self._sender.topic_problem, self._unmade)
        self._counts = (
            PartitionCounts(self._reader.partitions, self._at_target, config.target.produce.missing_topic_timeout)
            if self._keeps_partition
            else None
        )
        self._stuck = StuckRecords(self._sender.unacknowledged)
        self._may_set_back = self._refused is None and config.handler is None and not (config.pairs or config.receipts)
        self._starts: dict[TopicPartition, int] = {}
        self._zero_seen: set[TopicPartition] = set()
        self._safe = SafeOffsets()
        self._tally = Tally() if config.receipts else None
        self._batch: Any = NO_RECORDS
        self._sent = 0
        self._records = 0
        self._barrier_interval = 0.0 if config.synchronous else min(config.barrier_interval, _BARRIER_TIMEOUT)
        self._next_barrier = self._next_report = monotonic()
        self._gaps: list[Gap] = []
        self._resume: list[Offsets] = []

    def _make_reader(self, config: TaskConfig) -> LogReader:
        if config.wire_source:
            from legacy_mm.clients.native.connection_security import unsupported
            from legacy_mm.dataplane.native_reader import NativeReader

            if unsupported(config.source.connection) is None:
                retries = RetryLoop(self._stopping, self._beat, lambda: self._report_when_due(blocked=True))
                return NativeReader(config.source, config.api_timeout, self._report, retries)
        return PartitionReader(config.source, config.api_timeout, self._report)

    def _make_senders(
        self, settings: ProducerSettings, on_refused: Refused | None = None, among: Collection[TopicPartition] = ()
    ) -> Senders:
        def make(settings: ProducerSettings, on_statistics: Callable[[Statistics], None]) -> RecordSender:
            return RecordSender(
                settings,
                self._names,
                self._failures,
                self._zero_timestamp,
                on_statistics,
                self._keeps_partition,
                None if self._pairs is None else self._delivered,
                on_refused,
            )

        return Senders(settings, make, among, self._report)

    def run(self) -> Offsets:
        """Copy until stopped; how far sending went where it was not acknowledged in time (empty: all was).

        Raises SendFailure, StreamFailure.
        """
        self._tame_collector()
        with self._beat:
            started = self._reader.start(self._start)
        self._starts |= started.offsets
        self._report(started)
        self._next_barrier = monotonic() + self._barrier_interval
        while not self._stopping.is_set():
            self._copy_some()
            self._failures.raise_if_ending(self._sender.fatal())
            divide = self._records > 0 and self._sender.undecided
            if (divide or monotonic() >= self._next_barrier) and self._barrier() and divide:
                self._sender.divide()
            self._report_when_due(blocked=self._sent < len(self._batch))
            self._mind_gaps()
            if self._sent == len(self._batch):
                with self._beat:
                    self._gate.tend(self._safe.positions)
        return self._finish()

    def stop(self, seconds: float) -> None:
        """Stop from any thread: read no more and finish within this time."""
        self._stop_deadline = Deadline.after(seconds)
        self._stopping.set()

    def resume(self, offsets: Offsets) -> None:
        """Resume from any thread the partitions that reported a gap."""
        self._resume.append(offsets)

    def purge(self) -> None:
        """Purge all unsent records; call this after `run`."""
        self._sender.purge()

    def _tame_collector(self) -> None:
        """Reduce garbage collections, since this engine makes no cycles."""
        gc.disable()

    def _read(self) -> Columns:
        """Read from the source; when it fails, records read before are copied first."""
        try:
            with self._beat:
                return self._reader.read(READ_TIMEOUT)
        except (StreamFailure, EngineUnfit):
            if not self._stopping.is_set():
                self.stop(_LAST_TIMEOUT)
            self._finish()
            raise

    def _copy_some(self) -> None:
        if self._sent == len(self._batch):
            batch = self._read()
            with self._beat:
                self._batch, self._sent = self._gate.passed(batch, self._safe.positions()), 0
            self._measure_read(self._batch)
            if self._counts is not None and not self._counts.suffice(self._moves(), self._wait_a_moment):
                return
        send = self._sender.send if self._refused is None else self._refused.send
        before, self._sent = self._sent, send(self._batch, self._sent)
        self._records += self._sent - before
        done = self._batch.part(before, self._sent)
        self._safe.sent(done.next_offsets())
        if self._tally is not None:
            self._tally.sent(done)
        self._note_arrived()

    def _measure_read(self, batch: Columns) -> None:
        if self._meters is not None:
            for partition, found in batch.by_partition():
                sized = Sized(Times.of_records(found.timestamps), sum(map(len, filter(None, found.values))))
                self._meters.read(partition, found.offsets[-1] + 1, sized)

    def _moves(self) -> set[Move]:
        """Return the moves of the records that must keep their partition."""
        return {
            (topic, number, self._names[topic])
            for topic, number in self._batch.next_offsets()
            if topic in self._keeps_partition
        }

    def _at_target(self, topic: str) -> int | None:
        return None if self._unmade.holds(topic) else self._sender.partitions(topic)

    def _wait_a_moment(self) -> bool:
        """Wait a moment; return False if a stop has come."""
        self._failures.raise_if_ending(self._sender.fatal())
        self._report_when_due(blocked=True)
        return not self._stopping.wait(READ_TIMEOUT)

    def _barrier(self) -> bool:
        """Perform a barrier: (1) send no more; (2) flush in slices, and report that the task lives; (3) only then is it
        all safe.

        Return False when a stop's deadline came first.
        """
        if not self._flush() or (self._refused is not None and not self._refused.settled):
            return False
        self._failures.raise_if_ending(self._sender.fatal())
        back = self._given_up() if self._may_set_back else ()
        self._safe.barrier(but=back)
        if back:
            self._set_back(back)
        self._note_arrived()
        if self._tally is not None and (portions := self._tally.take()):
            self._report(Copied(portions, self._failures.take_reasons()))
        gc.collect(1)
        self._next_barrier = monotonic() + self._barrier_interval
        return True

    def _flush(self) -> bool:
        while not self._sender.flush(_FLUSH_SLICE):
            self._note_arrived()
            self._mind_stuck()
            self._failures.raise_if_ending(self._sender.fatal())
            self._report_when_due(blocked=True)
            if self._stopping.is_set() and self._stop_deadline.expired():
                return False
        return True

    def _mind_stuck(self) -> None:
        """Give up what waits for target topics that cannot be written now: it would keep all others waiting, too.

        Where the source of a record is unknown, this is only reported.
        """
        with self._beat:
            self._gate.tell()
        if self._may_set_back and self._stuck.are_there():
            with self._beat:
                if self._gate.shut({place.topic for place in self._safe.unacknowledged()}):
                    self._sender.give_up_waiting()

    def _given_up(self) -> set[TopicPartition]:
        topics = self._sender.take_given_up()
        return {place for place in self._safe.positions() if topics and self._names[place.topic] in topics}

    def _set_back(self, partitions: Collection[TopicPartition]) -> None:
        """Copy these again from their safe offsets, once their topics can be written."""
        self._send_progress(blocked=True)  # what is safe of them, before it is forgotten
        offsets = {place: self._safe.safe().get(place, self._starts[place]) for place in partitions}
        for place in partitions:
            self._safe.restart(place)
        rest = self._batch.part(self._sent)
        reading = not self._stopping.is_set()
        self._batch, self._sent = self._gate.hold(offsets, rest, self._safe.positions(), reading=reading), 0

    def _finish(self) -> Offsets:
        self._reader.close()
        acknowledged = self._barrier()
        self._send_progress(blocked=not acknowledged)
        self._gate.tell_of_the_end()
        if acknowledged:
            return {}
        self._sender.purge()
        return self._safe.unacknowledged()

    def _report_when_due(self, *, blocked: bool) -> None:
        if monotonic() >= self._next_report:
            self._send_progress(blocked=blocked)

    def _send_progress(self, *, blocked: bool) -> None:
        self._one_cluster.tell()
        self._next_report = monotonic() + BEAT_INTERVAL
        if self._pairs is not None and (runs := self._pairs.take()):
            self._report(Pairs(runs))
        self._report(self._progress(self._safe.take_moved(), blocked=blocked))
        if self._meters is not None and (measured := self._meters.statistics_when_due(self._safe.safe())):
            self._report(measured)

    def _progress(self, moved: Offsets, *, blocked: bool) -> Progress:
        quarantined = 0 if self._refused is None else self._refused.count
        reasons = dict(self._gate.reasons)
        waits = blocked or bool(reasons)
        return Progress(moved, self._records, dict(self._failures.dropped), waits, 0, quarantined, reasons)

    def _mind_gaps(self) -> None:
        if self._sent < len(self._batch):
            return  # what is safe before a gap, and where reading goes on, is known only with nothing in hand
        self._gaps += self._reader.take_gaps()
        for gap in self._gaps:
            self._gate.forget(gap.topic_partition)
        if self._gaps and self._barrier():
            self._send_progress(blocked=False)
            while self._gaps:
                self._report(self._gaps.pop(0))
        while self._resume:
            resumed = self._resume.pop(0)
            self._reader.resume(resumed, self._safe.positions())
            for partition in resumed:
                self._safe.restart(partition)
                if self._meters is not None:
                    self._meters.restart(partition)
            self._starts |= resumed
            self._report(Started(resumed))
        with self._beat:
            started = self._reader.take_started(self._safe.positions)
        if started is not None:
            self._starts |= started.offsets
            self._report(started)

    def _delivered(self, row: tuple[Any, ...], at_target: str, offset: int) -> None:
        topic, partition, upstream, *_ = row
        if self._pairs is not None and topic in self._keeps_partition:
            self._pairs.record(topic, partition, upstream, offset)
            self._arrived += [row] if offset != UNKNOWN else []

    def _note_arrived(self) -> None:
        """Measure what the target has acknowledged since the last call."""
        if self._meters is None or not self._arrived:
            return
        arrived, self._arrived = self._arrived, []
        for partition, found in Columns.from_rows(arrived).by_partition():
            self._meters.acknowledged(partition, len(found), Times.of_records(found.timestamps))
            self._meters.passed(partition, found.offsets[-1] + 1)

    def _zero_timestamp(self, partition: TopicPartition) -> None:
        if partition not in self._zero_seen:
            self._zero_seen.add(partition)
            events.emit(events.ZERO_TIMESTAMP, partition=partition)
