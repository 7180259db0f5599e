"""Copying: whole record batches, from socket to socket, with the legacy tool's meaning.

The loop of `run` is: take a record set, find each batch its way (`routes.py`), hand it to the appender. The sockets
have threads of their own (`clients/native`), which wait without Python's lock; hashing, checksums and codecs run
without it, too. A full appender stops the loop, and then the reading, so memory is bounded by `buffer.memory` and the
backlog.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import CorruptRecords, StreamFailure
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import UNKNOWN, Gap, Progress
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.buffer_pool import Buffers
from legacy_mm.clients.net.connection_errors import ProducerForgotten, UnsupportedVersion
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce import append_options
from legacy_mm.clients.produce.appender import Acknowledged, BatchAppender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.dataplane.acks import Part, Piece, Pieces, SafeOffsets
from legacy_mm.dataplane.batch_contents import times_of
from legacy_mm.dataplane.batch_source import BatchSource, JoinLimits, cluster_of, trouble_log
from legacy_mm.dataplane.copy_measures import CopyMeasures
from legacy_mm.dataplane.delivery import AtLeastOnce, CopyParts, Delivery, SendFrame
from legacy_mm.dataplane.empty_copies import Copying, EmptyCopies
from legacy_mm.dataplane.handler_exit import HandlerExit
from legacy_mm.dataplane.held_partitions import HeldPartitions
from legacy_mm.dataplane.keep_alive import KeepAlive, ReportTimes, RetryLoop
from legacy_mm.dataplane.one_cluster import OneCluster
from legacy_mm.dataplane.partition_meters import Sized, Times
from legacy_mm.dataplane.plain_stage import BatchStage, PlainStage, StageServices
from legacy_mm.dataplane.refused_batches import Aside, RefusedBatches
from legacy_mm.dataplane.routes import Placed, Route, RouteOptions, Router
from legacy_mm.dataplane.send_failure import ProducerBroken, SendFailures
from legacy_mm.dataplane.target_topics import TargetTopics
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.record_batch import RecordBatch, seal
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.runtime.channel.frames import BEAT_INTERVAL, TaskConfig

_POLL_TIMEOUT, _LAST_TIMEOUT = 0.1, 20.0


class CopyEngine:
    """Copies the partitions of one task config until `stop`."""

    def __init__(
        self, config: TaskConfig, report: SendFrame, buffers: Buffers, delivery: type[Delivery] = AtLeastOnce
    ) -> None:
        self._report = report
        self._config = config
        self._keeps_partition = frozenset(config.keeps_partition)
        aside, target = config.quarantine, config.target
        self._target = cluster_of(target.connection)
        self._written = Traffic("producer", trouble_log(target.connection))
        options = append_options.options_from(
            target,
            sets_aside=aside.refused,
            synchronous=config.synchronous,
            owners=delivery.owners,
        )
        self._appender = BatchAppender(self._target, options, self._written, buffers.sent)
        measure, waits = config.pairs or config.receipts, config.records_may_wait
        self._router = Router(RouteOptions.of(target.produce, measure=measure, records_may_wait=waits))
        self._failures = SendFailures(self._router.sizes, config.abort_on_send_failure, config.synchronous)
        handled = config.handler is not None
        limits = self._join_limits = JoinLimits(min(options.request_bytes, options.batch_bytes))
        self._batches = BatchSource(config.source, self._router.decompress, buffers.read, limits, opens=handled)
        self._source, self._read, self._fetcher = self._batches.cluster, self._batches.traffic, self._batches.fetcher
        self._safe = SafeOffsets()
        self._measures = CopyMeasures(config, self._router)
        self._pieces = Pieces(self._safe, self._measures.tally)
        refusing = (aside, self._router, self._pieces, options.request_bytes)
        self._stopping, self._stop_deadline = threading.Event(), Deadline(0)
        self._refused = RefusedBatches(*refusing, self._stopping) if aside.refused else None
        self._halving = self._appending = False
        self._reports = ReportTimes(min(BEAT_INTERVAL, config.report_interval), _POLL_TIMEOUT, self._is_idle)
        self._gaps, self._resume = list[Gap](), list[Offsets]()
        beat, clusters = KeepAlive(lambda: report(self._progress({}, blocked=True))), (self._source, self._target)
        self._empty_copies = EmptyCopies(
            Copying(config.names, config.offsets, self._safe.safe, self._read.log_begin, handled, config.begins_unseen),
            clusters,
            beat,
        )
        self._one_cluster = OneCluster({} if handled else config.names, clusters, beat)
        self._answered = options.acks != 0
        self._retries = RetryLoop(self._stopping, beat, lambda: self._tend(blocked=True))
        self._topics = TargetTopics(config, self._target, self._retries, self._stopping, self._wait)
        self._held = HeldPartitions(config, self._fetcher, self._topics, self._appender)
        self._exit = None if config.handler is None else HandlerExit(self._prove_sent, report)
        counts = self._source.partitions, self._partitions
        services = StageServices(config, self._router, *counts, self._held, self._failures.batch)
        self._stage: BatchStage = PlainStage(services)
        self.delivery = delivery(self._delivery_parts())
        if self._exit is not None:  # last: while a handler is made, the keep-alive reports progress
            from legacy_mm.dataplane.handler_stage import HandlerStage

            self._stage = HandlerStage(services, beat, self._exit)

    def _delivery_parts(self) -> CopyParts:
        work = self._turn if self._exit is None else None  # a handler is called by one thread
        ends, waiting = (self._appender, self._fetcher), self._held.records
        return CopyParts(self._config, *ends, self, self._report, self._pieces, self._retries, waiting, work)

    def run(self) -> Offsets:
        """Copy until stopped; return how far sending went where it was not acknowledged in time (empty: all was).
        Raise SendFailure, StreamFailure.
        """
        try:
            unacknowledged = self._run()
            if self._exit is not None:
                self._exit.wait_for_code()
            return unacknowledged
        except (ProducerBroken, ProducerForgotten, UnsupportedVersion):
            self._send_progress(blocked=False)
            raise
        except StreamFailure:
            self._leave_nothing_behind()
            raise
        finally:
            self.purge()
            self._source.close()
            self._target.close()
            self._stage.close()

    def _run(self) -> Offsets:
        for cluster, traffic in ((self._source, self._read), (self._target, self._written)):
            cluster.keep_fresh(traffic.on_trouble)
        self.delivery.begin()
        while not self._stopping.is_set():
            if self._halving:
                self._appender.wait_empty(_POLL_TIMEOUT)
            fetched = self.delivery.take(0.0 if self._halving else self._reports.pause())
            self._turn([] if fetched is None else [fetched])
            if self._exit is not None and self._exit.asked:
                self._wait_for_end(self._exit)
        return self._finish()

    def _wait_for_end(self, exit_: HandlerExit) -> None:
        """Wait until the driver stops this job, because the handler has ended the program."""
        exit_.report()
        while not self._stopping.wait(_POLL_TIMEOUT):
            self._tend(blocked=False)
            self._put_aside()

    def _prove_sent(self) -> None:
        """Report as safe what was sent of earlier batches, and end; only where the engine's own thread cannot do it."""
        self._drain(Deadline.after(_LAST_TIMEOUT).expired)
        self.purge()

    def _turn(self, arrived: Sequence[CompletedFetch]) -> None:
        """Copy these and see to what came back. Called by one thread at a time, not always that of `run`."""
        for fetched in arrived:
            if not self._stopping.is_set():  # what a stop left uncopied must not be followed by what came after it
                self._copy(fetched)
        self._tend(blocked=False)
        self._held.tend()
        self._put_aside()
        self._mind_gaps()
        if arrived and self._reports.soon():
            self._fetcher.wake()

    def _is_idle(self) -> bool:
        """Return True if all is at the target, and the source is asked for more; never with user code."""
        eager = self._exit or self._config.exactly_once or self._held or self._gaps or self._resume
        return not eager and self._appender.is_empty() and self._fetcher.is_settled()

    def stop(self, seconds: float, *, for_good: bool = True) -> None:
        """Stop from any thread: read no more and finish within this time; `for_good` as in `Stop`."""
        self._stop_deadline, self._held.stops_for_good = Deadline.after(seconds), for_good
        self._stopping.set()
        self._fetcher.wake()
        self._stage.stop()

    def resume(self, offsets: Offsets) -> None:
        """Resume from any thread the partitions that reported a gap."""
        self._resume.append(offsets)
        self._fetcher.wake()

    def purge(self) -> None:
        """Purge all unsent records; call this after `run`."""
        self._fetcher.close()
        self._appender.purge()
        self.delivery.close()

    # --- copying

    def _copy(self, fetched: CompletedFetch) -> None:
        partition, begin, record_set, _, _ = fetched
        if self._held.stays(partition):
            return
        topic = self._config.names.get(partition.topic, "")
        unopened = partition.topic in self._keeps_partition and self._exit is None
        try:
            for arrived in self._batches.data(fetched, self._join_limits.most_bytes(topic), opens=not unopened):
                if not self._send(partition, arrived, begin) or self._stopping.is_set():
                    return
        except CorruptRecords as error:
            corrupt = CorruptRecords(f"{partition}: {error}")
            self._held.wait_at(partition, max(begin, self._safe.sent_to(partition)), corrupt)
            return
        self._read.passed(partition, record_set.next_offset)
        self.delivery.passed(partition, record_set.next_offset)

    def _send(self, source: TopicPartition, arrived: Arrived, begin: int) -> bool:
        """Send the batches; return False if the rest, from this batch on, must be sent later."""
        found = self._stage.outbound(source, arrived, begin)
        self._failures.raise_if_ending()
        if found is None or not self.delivery.may_go_on(source):
            return False
        first = max(begin, arrived.batch.header.base_offset)
        targets = {TopicPartition(topic, each.partition) for topic, route in found.routes for each in route.batches}
        if not self.delivery.takes(targets):
            self._held.hold(source, first, found.routes[0][0], 1, targets)
            self._stage.waits(source)
            return False
        if found.failure is not None and not found.records:
            self._held.wait_at(source, found.next_offset, found.failure)
            return False
        if self._refused is None:
            self._failures.too_large(source, found.routes)  # before its piece is open, or its offset would be safe
        measured = self._measures.outbound(source, arrived, begin, found)
        parts = self.delivery.parts + sum(len(route.batches) for _, route in found.routes)
        parts += 0 if self._refused is None else sum(len(route.too_large) for _, route in found.routes)
        piece = self._pieces.open(source, found.next_offset, parts, measured.counted, begin=first)
        self.delivery.begin_piece(piece, targets)
        try:
            complete = all(self._append(topic, route, piece, measured.sized) for topic, route in found.routes)
        except StreamFailure:
            self.delivery.end_piece(piece, 0, complete=False)
            raise
        more = self.delivery.end_piece(piece, sum(route.records for _, route in found.routes), complete=complete)
        if not complete:
            return False
        self._read.carried(source, found.records, len(arrived.batch.buffer), found.next_offset)
        self._held.records.passed(source, found.next_offset)
        if found.failure is not None:
            self._held.wait_at(source, found.next_offset, found.failure)
            return False
        return more and (self._exit is None or not self._exit.asked)

    def _append(self, topic: str, route: Route, piece: Piece, sized: Sized | None) -> bool:
        """Give the batches of a route to the appender; return False if a stop came before there was room for them."""
        if self._refused is not None:
            self._refused.add_too_large(piece, route)
        source, names = piece.partition, self._config.names
        for (number, made, offsets), each in zip(route.batches, times_of(sized, route), strict=True):
            if not self._wait_for_room():
                return False
            whole = made if self._batches.check_crcs or self._exit is not None else seal(*made)
            target = TopicPartition(topic, number)
            part = Part(piece, offsets, each, number != source.partition, topic == names[source.topic])
            if not self._answered:
                self._empty_copies.before_sending(part, number)
            if not self.delivery.append(piece, target, whole, part):
                return False
            self._written.carried(target, made.header.records, len(made.buffer))
        return True

    def _partitions(self, topic: str, least: int, *, named: bool = False) -> int:
        """Return the number of partitions as `TargetTopics.partitions` does, of a target that has answered."""
        if self._appending and (count := self._target.partitions(topic)) >= least:
            return count
        if not self._appending:
            self._retries.ask(self._appender.start)
            self._appending = not self._stopping.is_set()
        return self._topics.partitions(topic, least, named=named)

    def _wait(self) -> None:
        self._tend(blocked=True)
        self._target.wait_for_refresh(_POLL_TIMEOUT)

    def _wait_for_room(self) -> bool:
        if self._appender.has_room():
            return True
        while not self._appender.wait_for_room(_POLL_TIMEOUT):
            if self._stopping.is_set() and self._stop_deadline.expired():
                return False
            self._tend(blocked=True)
        return True

    # --- what comes back

    def _tend(self, *, blocked: bool) -> None:
        refused = self._appender.take_refused()  # first: it comes behind what its queue has acknowledged
        try:
            for acknowledged in self._appender.take_acknowledged():
                self.delivery.acknowledged(acknowledged)
            self._appender.tend()
            self.delivery.tend()
            self._halving = bool(refused)
            while refused:
                self._deal_with(refused[0])
                del refused[0]
        except StreamFailure:
            for each in refused:  # copying ends, and must not wait for what these queues hold
                self.delivery.abandon(each)
            raise
        self._failures.raise_if_ending()
        if self._reports.due():
            self._send_progress(blocked=blocked)
        read, written = self._read.statistics_when_due(), self._written.statistics_when_due()
        for statistics in filter(None, (read, written, self._measures.statistics_when_due(self._safe.safe()))):
            self._report(statistics)

    def count(self, acknowledged: Acknowledged) -> None:
        """Count a batch that the target has, for good."""
        part, base_offset = acknowledged
        if not isinstance(part, Aside):
            self._empty_copies.acknowledged(part, base_offset)
            self._measures.acknowledged(part, base_offset)
            self._one_cluster.acknowledged(part, base_offset)
        self._pieces.acknowledged(part.piece)

    def _deal_with(self, refused: ProducerBatch) -> None:
        """Send other batches in its place; what none of them can mend has failed, in the end each record alone."""
        if self.delivery.refused(refused):
            return
        topic, number = refused.queue.partition
        if error_codes.needs_new_producer(refused.refusal):
            if not refused.queue.may_start_anew():
                raise ProducerBroken(error_text.text(refused.refusal))
            self._retries.ask(lambda: self._appender.start_anew(refused), at_least_once=True)
            return
        if self._refused is not None and isinstance(refused.opaque, Aside):
            self._refused.not_taken(refused)
            self._drop(refused)
            return
        piece, offsets, *_ = part = refused.opaque
        instead, failed = self._router.replace(Placed(number, refused.batch, offsets), refused.refusal, refused.blamed)
        if failed and self._config.records_may_wait and self._config.exactly_once is None:  # a transaction cannot wait
            if self._held.records.add(refused):
                self._pieces.cut(piece, offsets[0], self._appender.unacknowledged)
            else:
                self.delivery.abandon(refused)
            return
        piece.missing += len(instead)
        for each, why in failed:
            if self._refused is not None and error_codes.refuses_the_record(refused.refusal):
                piece.missing += 1
                self._refused.refused(refused, each, why)
            else:
                self._failures.refused(refused, each, why)
                if self._failures.end_copying:  # its piece stays open, so its offset is never safe
                    self.delivery.abandon(refused)
                    return
            if self._reports.due():  # there may be thousands of them
                self._send_progress(blocked=True)
        if instead:
            if error_codes.is_too_large(refused.refusal):
                self._join_limits.refused(topic, refused.size)
            parts = [(made.batch, part.of(made.offsets, Times.of_batch(made.batch.header))) for made in instead]
            self._appender.replace(refused, parts)
        else:
            self._drop(refused)
        self._pieces.acknowledged(piece)

    def _drop(self, refused: ProducerBatch) -> None:
        """Drop the refused batches, also in a stop, so that the batches after them are sent."""
        if refused.may_have_arrived and isinstance(refused.opaque, Part):
            self._measures.note(refused.opaque, UNKNOWN)
        self._retries.ask(lambda: self._appender.drop(refused), at_least_once=True)

    def _put_aside(self) -> None:
        """Give refused records to the quarantine. Only from the loops: it may have to wait for the topic."""
        if self._refused is not None:
            self._refused.put(self._partitions, self._wait_for_topics, self._append_aside)

    def _wait_for_topics(self) -> None:
        self._held.tend()
        self._wait()

    def _append_aside(self, partition: TopicPartition, batch: RecordBatch, aside: Aside) -> bool:
        return self._wait_for_room() and self.delivery.append(aside.piece, partition, batch, aside)

    def _mind_gaps(self) -> None:
        self._gaps += self._fetcher.take_gaps()
        for gap in [gap for gap in self._gaps if not self._pieces.are_open(gap.topic_partition)]:
            self._gaps.remove(gap)
            self._held.forget(gap.topic_partition)
            self._send_progress(blocked=False)
            self._report(gap)
        while self._resume and self.delivery.may_resume(resumed := self._fetcher.awaited(self._resume[0])):
            del self._resume[0]
            self._fetcher.resume(resumed)
            for partition in resumed:
                self.forget(partition)
            self.delivery.resumed(resumed)

    def forget(self, partition: TopicPartition) -> None:
        """Forget all that was read of a partition, which goes on at another position."""
        self._held.forget(partition)
        self._pieces.restart(partition)
        self._stage.forget(partition)
        self._measures.restart(partition)

    # --- reporting and the end

    def _send_progress(self, *, blocked: bool) -> None:
        self._reports.sent()
        self._one_cluster.tell()
        for frame in self._measures.frames(self._failures.take_reasons()):
            self._report(frame)
        self._report(self._progress(self._safe.take_moved(), blocked=blocked))

    def _progress(self, moved: Offsets, *, blocked: bool) -> Progress:
        filtered, quarantined = self._stage.counts()
        quarantined += 0 if self._refused is None else self._refused.count
        unwritable, dropped = self._held.reasons(), dict(self._failures.dropped)
        counts = filtered, quarantined, unwritable, self.delivery.transactions()
        return Progress(moved, self.delivery.records, dropped, blocked or bool(unwritable), *counts)

    def _finish(self) -> Offsets:
        """Finish: (1) read no more; (2) wait for the target; (3) report what is unacknowledged."""
        self._fetcher.close()
        self.delivery.stop()
        empty = self._drain(self._stop_deadline.expired)
        left = {} if empty else self._safe.unacknowledged()
        self._held.tell_of_the_end(left)
        return left

    def _leave_nothing_behind(self) -> None:
        """Purge the queue: the next owner starts at the safe offsets, and need not copy acknowledged records twice."""
        self._fetcher.close()
        self.delivery.stop()
        deadline = Deadline.after(_LAST_TIMEOUT)
        self._drain(lambda: deadline.expired() or self._stopping.is_set())

    def _drain(self, give_up: Callable[[], bool]) -> bool:
        """Wait for what is under way, and report what is safe; return True if nothing is left."""
        while not self._all_settled(_POLL_TIMEOUT) and not give_up():
            self._tend(blocked=True)
            self._put_aside()
        self._tend(blocked=False)
        if settled := self._all_settled(0.0):
            self.delivery.finish()
        self._send_progress(blocked=not settled)
        return settled

    def _all_settled(self, seconds: float) -> bool:
        """Return True if every record is at the target, or in the quarantine, and committed."""
        return self.delivery.is_over(seconds) and (self._refused is None or self._refused.is_empty())
