"""Copying: whole record batches, from socket to socket, with the legacy tool's meaning.

The loop of `run` is: take a record set, find each batch its way (`routes.py`), hand it to the appender. The sockets
have threads of their own (`clients`), which wait without Python's lock; hashing, checksums and codecs run without it,
too. A full appender stops the loop, and then the reading, so memory is bounded by `buffer.memory` and the backlog.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import CorruptRecords, StreamFailure
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import Progress
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch
from legacy_mm.clients.net.connection_errors import ProducerForgotten, UnsupportedVersion
from legacy_mm.dataplane.acks import Part, Piece
from legacy_mm.dataplane.batch_contents import times_of
from legacy_mm.dataplane.copy_book import CopyBook
from legacy_mm.dataplane.copy_ends import CopyEnds
from legacy_mm.dataplane.delivery import AtLeastOnce, CopyParts, Delivery, SendFrame
from legacy_mm.dataplane.handler_exit import HandlerExit
from legacy_mm.dataplane.held_partitions import HeldPartitions
from legacy_mm.dataplane.keep_alive import KeepAlive, ReportTimes, RetryLoop
from legacy_mm.dataplane.partition_meters import Sized
from legacy_mm.dataplane.plain_stage import BatchStage, PlainStage, StageServices
from legacy_mm.dataplane.refusals import Refusals
from legacy_mm.dataplane.refused_batches import Aside, RefusedBatches
from legacy_mm.dataplane.routes import Route
from legacy_mm.dataplane.send_failure import ProducerBroken, SendFailures
from legacy_mm.dataplane.source_gaps import SourceGaps
from legacy_mm.dataplane.target_topics import StartedTarget, TargetTopics
from legacy_mm.protocol.record_batch import RecordBatch, seal
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.runtime.channel.frames import BEAT_INTERVAL, TaskConfig

_POLL_TIMEOUT, _LAST_TIMEOUT = 0.1, 20.0


class CopyEngine:
    """Copies the partitions of one task config until `stop`."""

    def __init__(
        self, config: TaskConfig, report: SendFrame, ends: CopyEnds, delivery: type[Delivery] = AtLeastOnce
    ) -> None:
        self._config = config
        self.ends = ends
        handled, aside = config.handler is not None, config.quarantine
        self._unopened = frozenset(() if handled else config.keeps_partition)
        self._stopping, self._stop_deadline = threading.Event(), Deadline(0)
        beat = KeepAlive(lambda: report(self._progress({}, blocked=True)))
        times = ReportTimes(min(BEAT_INTERVAL, config.report_interval), _POLL_TIMEOUT, self._is_idle)
        self.book = CopyBook(config, ends, report, beat, times)
        self._gaps = SourceGaps(self.book.pieces)
        retries = RetryLoop(self._stopping, beat, lambda: self._poll(blocked=True))
        topics = TargetTopics(config, ends.target, retries, self._stopping, self._wait)
        self._started = StartedTarget(topics, ends, retries, self._stopping)
        self._held = HeldPartitions(config, ends.fetcher, topics, ends.appender)
        failures = SendFailures(ends.router.sizes, config.abort_on_send_failure, config.synchronous)
        refusing = aside, ends.router, self.book.pieces, ends.options.request_bytes, self._stopping
        kept = RefusedBatches(*refusing) if aside.refused else None
        waits = config.records_may_wait and not delivery.owners  # a transaction cannot wait
        self.refusals = Refusals(ends, self.book, self._held, retries, failures, kept, may_wait=waits)
        self._exit = HandlerExit(self._prove_sent, report) if handled else None
        counts = ends.source.metadata.partitions, self._started.partitions
        services = StageServices(config, ends.router, *counts, self._held, failures.batch)
        self._stage: BatchStage = PlainStage(services)
        work = None if handled else self._turn  # a handler is called by one thread
        counting, waiting = (self.book.count, self.forget, report, self.book.pieces), self._held.records
        self.delivery = delivery(CopyParts(config, ends.appender, ends.fetcher, *counting, retries, waiting, work))
        if self._exit is not None:  # last: while a handler is made, the keep-alive reports progress
            from legacy_mm.dataplane.handler_stage import HandlerStage

            self._stage = HandlerStage(services, beat, self._exit)

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
            self.ends.close()
            self._stage.close()

    def _run(self) -> Offsets:
        self.ends.keep_fresh()
        self.delivery.begin()
        while not self._stopping.is_set():
            if self.refusals.halving:
                self.ends.appender.wait_empty(_POLL_TIMEOUT)
            fetched = self.delivery.take(0.0 if self.refusals.halving else self.book.times.pause())
            self._turn([] if fetched is None else [fetched])
            if self._exit is not None and self._exit.asked:
                self._wait_for_end(self._exit)
        return self._finish()

    def _wait_for_end(self, exit_: HandlerExit) -> None:
        """Wait until the driver stops this job, because the handler has ended the program."""
        exit_.report()
        while not self._stopping.wait(_POLL_TIMEOUT):
            self._poll(blocked=False)
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
        self._poll(blocked=False)
        self._held.poll()
        self._put_aside()
        self._mind_gaps()
        if arrived and self.book.times.soon():
            self.ends.fetcher.wake()

    def _is_idle(self) -> bool:
        """Return True if all is at the target, and the source is asked for more; never with user code."""
        eager = self._exit or self.delivery.owners or self._held or self._gaps
        return not eager and self.ends.appender.is_empty() and self.ends.fetcher.is_settled()

    def stop(self, seconds: float, *, for_good: bool = True) -> None:
        """Stop from any thread: read no more and finish within this time; `for_good` as in `Stop`."""
        self._stop_deadline, self._held.stops_for_good = Deadline.after(seconds), for_good
        self._stopping.set()
        self.ends.fetcher.wake()
        self._stage.stop()

    def resume(self, offsets: Offsets) -> None:
        """Resume from any thread the partitions that reported a gap."""
        self._gaps.resume(offsets)
        self.ends.fetcher.wake()

    def purge(self) -> None:
        """Purge all unsent records; call this after `run`."""
        self.ends.fetcher.close()
        self.ends.appender.purge()
        self.delivery.close()

    # --- copying

    def _copy(self, fetched: CompletedFetch) -> None:
        partition, begin, record_set, _, _ = fetched
        if self._held.stays(partition):
            return
        ends, topic = self.ends, self._config.names.get(partition.topic, "")
        opens = partition.topic not in self._unopened
        try:
            for arrived in ends.batches.data(fetched, ends.limits.most_bytes(topic), opens=opens):
                if not self._send(partition, arrived, begin) or self._stopping.is_set():
                    return
        except CorruptRecords as error:
            corrupt = CorruptRecords(f"{partition}: {error}")
            self._held.wait_at(partition, max(begin, self.book.safe.sent_to(partition)), corrupt)
            return
        ends.read.passed(partition, record_set.next_offset)
        self.delivery.passed(partition, record_set.next_offset)

    def _send(self, source: TopicPartition, arrived: Arrived, begin: int) -> bool:
        """Send the batches; return False if the rest, from this batch on, must be sent later."""
        found = self._stage.outbound(source, arrived, begin)
        failures, aside = self.refusals.failures, self.refusals.aside
        failures.raise_if_ending()
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
        if aside is None:
            failures.too_large(source, found.routes)  # before its piece is open, or its offset would be safe
        measured = self.book.measures.outbound(source, arrived, begin, found)
        parts = self.delivery.parts + sum(len(route.batches) for _, route in found.routes)
        parts += 0 if aside is None else sum(len(route.too_large) for _, route in found.routes)
        piece = self.book.pieces.open(source, found.next_offset, parts, measured.counted, begin=first)
        self.delivery.begin_piece(piece, targets)
        try:
            complete = all(self._append(topic, route, piece, measured.sized) for topic, route in found.routes)
        except StreamFailure:
            self.delivery.end_piece(piece, 0, complete=False)
            raise
        more = self.delivery.end_piece(piece, sum(route.records for _, route in found.routes), complete=complete)
        if not complete:
            return False
        self.ends.read.carried(source, found.records, len(arrived.batch.buffer), found.next_offset)
        self._held.records.passed(source, found.next_offset)
        if found.failure is not None:
            self._held.wait_at(source, found.next_offset, found.failure)
            return False
        return more and (self._exit is None or not self._exit.asked)

    def _append(self, topic: str, route: Route, piece: Piece, sized: Sized | None) -> bool:
        """Give the batches of a route to the appender; return False if a stop came before there was room for them."""
        if self.refusals.aside is not None:
            self.refusals.aside.add_too_large(piece, route)
        source, names = piece.partition, self._config.names
        for (number, made, offsets), each in zip(route.batches, times_of(sized, route), strict=True):
            if not self._wait_for_room():
                return False
            whole = made if self.ends.batches.check_crcs or self._exit is not None else seal(*made)
            target = TopicPartition(topic, number)
            part = Part(piece, offsets, each, number != source.partition, topic == names[source.topic])
            if not self.ends.options.acks:  # the target answers nothing
                self.book.empty_copies.before_sending(part, number)
            if not self.delivery.append(piece, target, whole, part):
                return False
            self.ends.written.carried(target, made.header.records, len(made.buffer))
        return True

    def _wait(self) -> None:
        self._poll(blocked=True)
        self.ends.target.metadata.wait_for_refresh(_POLL_TIMEOUT)

    def _wait_for_room(self) -> bool:
        if self.ends.appender.has_room():
            return True
        while not self.ends.appender.wait_for_room(_POLL_TIMEOUT):
            if self._stopping.is_set() and self._stop_deadline.expired():
                return False
            self._poll(blocked=True)
        return True

    # --- what comes back

    def _poll(self, *, blocked: bool) -> None:
        appender = self.ends.appender
        refused = appender.take_refused()  # first: it comes behind what its queue has acknowledged
        try:
            for acknowledged in appender.take_acknowledged():
                self.delivery.acknowledged(acknowledged)
            appender.poll()
            self.delivery.poll()
            self.refusals.halving = bool(refused)
            while refused:
                self.refusals.deal_with(refused[0], self.delivery, self._report_when_due)
                del refused[0]
        except StreamFailure:
            for each in refused:  # copying ends, and must not wait for what these queues hold
                self.delivery.abandon(each)
            raise
        self.refusals.failures.raise_if_ending()
        if self.book.times.due():
            self._send_progress(blocked=blocked)
        self.book.send_statistics()

    def _put_aside(self) -> None:
        """Give refused records to the quarantine. Only from the loops: it may have to wait for the topic."""
        if self.refusals.aside is not None:
            self.refusals.aside.put(self._started.partitions, self._wait_for_topics, self._append_aside)

    def _wait_for_topics(self) -> None:
        self._held.poll()
        self._wait()

    def _append_aside(self, partition: TopicPartition, batch: RecordBatch, aside: Aside) -> bool:
        return self._wait_for_room() and self.delivery.append(aside.piece, partition, batch, aside)

    def _mind_gaps(self) -> None:
        fetcher = self.ends.fetcher
        for gap in self._gaps.found(fetcher):
            self._held.forget(gap.topic_partition)
            self._send_progress(blocked=False)
            self.book.send(gap)
        for resumed in self._gaps.answered(fetcher, self.delivery.may_resume):
            for partition in resumed:
                self.forget(partition)
            self.delivery.resumed(resumed)

    def forget(self, partition: TopicPartition) -> None:
        """Forget all that was read of a partition, which goes on at another position."""
        self._held.forget(partition)
        self.book.pieces.restart(partition)
        self._stage.forget(partition)
        self.book.measures.restart(partition)

    # --- reporting and the end

    def _report_when_due(self) -> None:
        if self.book.times.due():
            self._send_progress(blocked=True)

    def _send_progress(self, *, blocked: bool) -> None:
        reasons = self.refusals.failures.take_reasons()
        self.book.send_progress(lambda moved: self._progress(moved, blocked=blocked), reasons)

    def _progress(self, moved: Offsets, *, blocked: bool) -> Progress:
        filtered, quarantined = self._stage.counts()
        quarantined += self.refusals.set_aside
        unwritable, dropped = self._held.reasons(), dict(self.refusals.failures.dropped)
        counts = filtered, quarantined, unwritable, self.delivery.transactions()
        return Progress(moved, self.delivery.records, dropped, blocked or bool(unwritable), *counts)

    def _finish(self) -> Offsets:
        """Finish: (1) read no more; (2) wait for the target; (3) report what is unacknowledged."""
        self.ends.fetcher.close()
        self.delivery.stop()
        empty = self._drain(self._stop_deadline.expired)
        left = {} if empty else self.book.safe.unacknowledged()
        self._held.tell_of_the_end(left)
        return left

    def _leave_nothing_behind(self) -> None:
        """Purge the queue: the next owner starts at the safe offsets, and need not copy acknowledged records twice."""
        self.ends.fetcher.close()
        self.delivery.stop()
        deadline = Deadline.after(_LAST_TIMEOUT)
        self._drain(lambda: deadline.expired() or self._stopping.is_set())

    def _drain(self, give_up: Callable[[], bool]) -> bool:
        """Wait for what is under way, and report what is safe; return True if nothing is left."""
        while not self._all_settled(_POLL_TIMEOUT) and not give_up():
            self._poll(blocked=True)
            self._put_aside()
        self._poll(blocked=False)
        if settled := self._all_settled(0.0):
            self.delivery.finish()
        self._send_progress(blocked=not settled)
        self.book.send_statistics(last=True)
        return settled

    def _all_settled(self, seconds: float) -> bool:
        """Return True if every record is at the target, or in the quarantine, and committed."""
        return self.delivery.is_over(seconds) and self.refusals.are_settled()
