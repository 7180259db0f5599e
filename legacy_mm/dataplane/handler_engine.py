"""The records engine with a handler between reading and sending. Made only where one is configured.

Invariant A: a source offset counts as sent when all the records that the handler made of it are queued, none where it
was dropped on purpose; from there on barriers prove it as without a handler. What a stop cuts in the middle of a
record's own fan-out is repeated by the next owner.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from legacy_mm.control_channel.frames import UNKNOWN, Frame, Progress, TaskConfig
from legacy_mm.dataplane.handler_exit import HandlerExit
from legacy_mm.dataplane.handler_stage import make_handler, tame_collector
from legacy_mm.dataplane.partition_counts import Move, NamedPartitions
from legacy_mm.dataplane.records_engine import READ_TIMEOUT, RecordsEngine
from legacy_mm.errors import HandlerFailure
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.batches import BY_KEY, BatchHandler
from legacy_mm.handlers.quarantine import quarantine_of
from legacy_mm.handlers.single_records import Answers, handle_records
from legacy_mm.logs import events
from legacy_mm.model import NO_RECORDS, Columns, Offsets, Outgoing, TopicPartition


class HandlerEngine(RecordsEngine):
    """Copies what its handler makes of the records of one task config."""

    def __init__(self, config: TaskConfig, report: Callable[[Frame], None]) -> None:
        """Make the handler; raises HandlerFailure, HostError."""
        super().__init__(config, report)
        self._filtered = self._quarantined = 0
        self._exit = HandlerExit(self._prove_sent, report)
        with self._beat:
            self._handler: BatchHandler = make_handler(config, self._exit)
        quarantine = config.quarantine
        self._quarantine = quarantine_of(quarantine) if quarantine.failed else None
        self._failure: HandlerFailure | None = None
        self._sources = NO_RECORDS
        self._ends: list[int] = []
        self._done = 0
        self._left_open: set[Move] = set()
        self._named = NamedPartitions(self._sender.partitions, config.target.produce.missing_topic_timeout)

    def run(self) -> Offsets:
        """Copy until stopped, as without a handler; a handler that ends the program has its code reported first."""
        unacknowledged = super().run()
        self._exit.wait_for_code()
        return unacknowledged

    def _prove_sent(self) -> None:
        """Report as safe what was sent of earlier batches; only where the engine's own thread never comes back."""
        self._barrier()
        self._send_progress(blocked=False)

    def _tame_collector(self) -> None:
        tame_collector()

    def _copy_some(self) -> None:
        if self._sent == len(self._batch):
            self._raise_failure()
            if self._exit.asked:
                self._exit.report()
                self._stopping.wait(READ_TIMEOUT)
                return
            self._sources, self._sent, self._done = self._read(), 0, 0
            self._measure_read(self._sources)
            with self._beat:
                self._batch, self._ends = self._handle(self._sources)
                self._gate.expect({topic for topic, *_ in self._batch})
            if self._counts is not None and not self._counts.suffice(self._moves(), self._wait_a_moment):
                return
            named = {(topic, number) for topic, _, _, _, number, _ in self._batch if number is not None}
            if not self._named.are_there(named, self._wait_a_moment):
                return
        before = self._sent
        self._sent = self._send(before)
        self._records += self._sent - before
        handled = bisect_right(self._ends, self._sent)
        done = self._sources.part(self._done, handled)
        self._safe.sent(done.next_offsets())
        if self._tally is not None:
            self._tally.sent(done)
        self._done = handled
        self._note_arrived()

    def _send(self, begin: int) -> int:
        if self._refused is None and self._pairs is None and not self._sender.several:
            return self._sender.send_outgoing(self._batch, begin)
        origins = _origins(list(self._sources.rows()), self._ends)
        if self._refused is not None:
            return self._refused.send_outgoing(self._batch, begin, origins)
        return self._sender.send_outgoing(self._batch, begin, origins, are_rows=self._pairs is not None)

    def _delivered(self, row: tuple[Any, ...], at_target: str, offset: int) -> None:
        """Note the pair of a record that is where its topic's copy is; elsewhere its offset says nothing of it."""
        if at_target == self._names[row[0]]:
            super()._delivered(row, at_target, offset)
        elif self._pairs is not None and offset != UNKNOWN:
            self._arrived.append(row)

    def _handle(self, batch: Columns) -> tuple[list[Outgoing], list[int]]:
        """Handle a batch and return its targets and ends, up to the record that ends the mirror, if any."""
        targets: list[Outgoing] = []
        ends: list[int] = []
        total = len(batch)
        while len(ends) < total and self._failure is None and not self._exit.asked_by_script:
            rest = batch.part(len(ends)) if ends else batch
            handled = handle_records(self._handler, rest, self._wish)
            self._filtered += _dropped(handled)
            self._left_open |= self._keeping_partition(rest, handled)
            ends += [end + len(targets) for end in handled.ends] if targets else handled.ends
            targets += handled.targets
            if handled.exit_code is not None:
                self._exit.ask(handled.exit_code)
            elif handled.error is not None:
                record = Record(*next(batch.part(len(ends)).rows()))
                self._failed(record, handled.error, targets, ends)
        if 0 in batch.timestamps:
            for topic, partition, _, kind, time, *_ in batch.rows():
                if time == 0 and kind:
                    self._zero_timestamp(TopicPartition(topic, partition))
        return targets, ends

    def _wish(self, partition: TopicPartition) -> int:
        return partition.partition if partition.topic in self._keeps_partition else BY_KEY

    def _keeping_partition(self, batch: Columns, handled: Answers) -> set[Move]:
        """Return the moves of the records that have the partition of their source."""
        if self._counts is None:
            return set()
        sources = _origins([(topic, number) for topic, number, *_ in batch.rows()], handled.ends)
        moved = zip(sources, handled.targets, strict=True)
        return {
            (topic, number, target[0])
            for (topic, number), target in moved
            if topic in self._keeps_partition and target[4] == number
        }

    def _moves(self) -> set[Move]:
        moves, self._left_open = self._left_open, set()
        return moves

    def _failed(self, record: Record, error: str, targets: list[Outgoing], ends: list[int]) -> None:
        place = TopicPartition(record.topic, record.partition)
        if self._quarantine is None:
            self._failure = HandlerFailure(f"the message handler failed on {place} at offset {record.offset}: {error}")
            return
        events.emit(events.QUARANTINED, partition=place, offset=record.offset, reason=error)
        targets += self._quarantine.put(record, error)
        ends.append(len(targets))
        self._quarantined += 1

    def _raise_failure(self) -> None:
        """Raise the failure: earlier records are flushed, as in the legacy tool, but not reported as safe."""
        if self._failure is not None:
            self._barrier()
            raise self._failure

    def _progress(self, moved: Offsets, *, blocked: bool) -> Progress:
        counted = super()._progress(moved, blocked=blocked)
        return replace(counted, filtered=self._filtered, quarantined=counted.quarantined + self._quarantined)


def _dropped(handled: Answers) -> int:
    """Count the records from which the handler made nothing: the end does not move."""
    return len(handled.ends) - len({*handled.ends} - {0})


def _origins(sources: Sequence[Any], ends: Sequence[int]) -> list[Any]:
    """Return for each target the row of its source."""
    pairs = zip(sources, ends, [0, *ends], strict=False)
    return [source for source, end, begin in pairs for _ in range(begin, end)]
