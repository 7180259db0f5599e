"""The stage between opening and routing where records pass through a handler. Made only where one is configured.

Invariant A: a source batch is one piece, which is complete when all that the handler made of it is acknowledged, or
dropped on purpose. A handler sees each record once: what it made for a partition that must wait is kept.
"""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Any, NamedTuple

from legacy_mm.base.errors import HandlerFailure, HostError
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.dataplane.handler_exit import HandlerExit
from legacy_mm.dataplane.keep_alive import KeepAlive
from legacy_mm.dataplane.plain_stage import Outbound, StageServices
from legacy_mm.dataplane.routes import Route
from legacy_mm.dataplane.send_failure import WITHOUT_TIME, Unsendable, Unsent, date
from legacy_mm.handlers import java_batches
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.batches import BY_KEY, BatchHandler, Handled, MadeRecords, SourceRecords, made_of
from legacy_mm.handlers.java_batches import JavaBatches
from legacy_mm.handlers.loader import load_handler, needs_java
from legacy_mm.handlers.quarantine import quarantine_of
from legacy_mm.logs import events
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.record_batch import assemble
from legacy_mm.protocol.record_set import Arrived, decompress_records
from legacy_mm.protocol.records import measure
from legacy_mm.runtime.channel.frames import TaskConfig
from legacy_mm.runtime.jvm.java_home import compiler_jars, find_java

_YOUNG_OBJECTS = 100_000


class Made(NamedTuple):
    """The records that a source batch became, from an offset on."""

    records: list[MadeRecords]
    """In the order in which they are sent."""
    handled: int
    """The number of source records."""
    next_offset: int
    """One past the last of them."""
    failure: HandlerFailure | None = None
    """Why the record behind these cannot be handled."""
    stopped: bool = False
    """True if a stop came before the rest was handled."""


class _Kept(NamedTuple):
    """The outcome of the records from one offset to before another one."""

    begin: int
    next_offset: int
    made: Made
    reported: dict[int, int]
    """Index in `records` of what holds records that cannot be sent -> the topic's partitions; 0: it cannot be had.

    They are told once, however often the batch is read.
    """


def prepare_handler(settings: HandlerSettings) -> None:
    """Begin what every handler with these settings needs; what fails here fails again, and is told, when it is made."""
    if needs_java(settings):
        with suppress(HandlerFailure, HostError):
            java_batches.start(settings, find_java(), compiler_jars())


def make_handler(config: TaskConfig, exit_: HandlerExit) -> BatchHandler:
    """Make the handler of a copy job; raises HandlerFailure, HostError."""
    # with abort.on.send.failure=false a record for an illegal topic is dropped when it is sent, as by the legacy tool
    legal = config.abort_on_send_failure or config.quarantine.failed
    return load_handler(
        config.handler or HandlerSettings(),
        lambda of: JavaBatches(of, find_java(), compiler_jars(), exit_, legal_topics=legal),
        legal_topics=legal,
    )


def tame_collector() -> None:
    """Reduce garbage collections: user code may make cycles, but the records alone would start it every few hundred."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)


class HandlerStage:
    """The handler of one copy job, and what became of its records."""

    def __init__(
        self,
        engine: StageServices,
        beat: KeepAlive,
        exit_: HandlerExit,
    ) -> None:
        """Make the handler; raises HandlerFailure, HostError."""
        config = engine.config
        self._engine = engine
        self._beat = beat
        self._exit = exit_
        with beat:
            self._handler = make_handler(config, exit_)
        quarantine = config.quarantine
        self._quarantine = quarantine_of(quarantine) if quarantine.failed else None
        self._keeps_partition = frozenset(config.keeps_partition)
        self._measures = config.pairs or config.receipts
        self._last: dict[TopicPartition, _Kept] = {}
        self._kept: dict[TopicPartition, _Kept] = {}
        self._filtered = self._quarantined = 0
        tame_collector()

    def outbound(self, source: TopicPartition, arrived: Arrived, begin: int) -> Outbound | None:
        """Return what is to be sent of a batch, as `BatchStage` says; the handler may have ended the program."""
        batch, codec = arrived
        header, data = batch.header, decompress_records(batch, self._engine.router.decompress)
        wish = source.partition if source.topic in self._keeps_partition else BY_KEY
        records = SourceRecords.of(source, header, data, max(begin, header.base_offset), wish)
        kept = self._kept_or_made(records)
        made, count = kept.made, self._engine.at_source(source.topic)
        if made.stopped and made.next_offset == records.begin:
            return None
        routes = []
        for number, each in enumerate(made.records):
            partitions = self._partitions_of(number, records, kept, count)
            if partitions == 0:
                self.waits(source)
                return None
            if partitions is not None:
                routes.append((each.topic, self._route(number, records, kept, count, partitions, codec)))
        contents = measure(header, data, begin) if self._measures else None
        return Outbound(routes, made.handled, made.next_offset, contents, made.failure)

    def waits(self, source: TopicPartition) -> None:
        """Keep what was made of the last batch until it is read again: a handler sees a record once."""
        self._kept[source] = self._last[source]

    def forget(self, partition: TopicPartition) -> None:
        """Forget what was made for a partition, which resumes at another position."""
        self._kept.pop(partition, None)

    def counts(self) -> tuple[int, int]:
        """Return the numbers of records that were dropped on purpose, and set aside because the handler failed."""
        return self._filtered, self._quarantined

    def stop(self) -> None:
        """End a wait of the handler before another try; from any thread, returns at once."""
        if isinstance(self._handler, JavaBatches):
            self._handler.stop()

    def close(self) -> None:
        """Let the handler give back what it holds, and Java end."""
        self._exit.engine_is_done()
        if isinstance(self._handler, JavaBatches):
            with self._beat:
                self._handler.close()

    def _kept_or_made(self, records: SourceRecords) -> _Kept:
        place, begin, end = records.place, records.begin, records.header.next_offset
        kept = self._kept.pop(place, None)
        if kept is None or (kept.begin, kept.next_offset) != (begin, end):
            with self._beat:
                kept = _Kept(begin, end, self._handle(records), {})
        self._last = {place: kept}
        return kept

    def _partitions_of(self, number: int, source: SourceRecords, kept: _Kept, count: int) -> int | None:
        """Return the partitions of the topic of some made records; None if they cannot be sent, 0 if they must wait."""
        made = kept.made.records[number]
        if kept.reported.get(number) == 0:
            return None
        keeps = source.wish != BY_KEY and source.wish in made.wishes
        least = max(count, source.wish + 1) if keeps else 1
        try:
            return self._partitions(source, made, least, waits_for_wishes=number not in kept.reported)
        except Unsendable as error:
            offsets = range(source.begin, kept.made.next_offset)
            self._engine.fail(Unsent(source.place, offsets, made.topic, assemble(made.header, made.data)), error.code)
            kept.reported[number] = 0
            return None

    def _route(
        self, number: int, source: SourceRecords, kept: _Kept, count: int, partitions: int, codec: Codec
    ) -> Route:
        """Return the way of some made records, without those for a partition that the topic lacks."""
        made = kept.made.records[number]
        placed, too_large = self._engine.router.route_made(made, source.place.partition, count, partitions, codec)
        lost = [each for each in placed if each.partition == partitions]
        if lost and number not in kept.reported:
            reason = f"the handler names a partition that the topic lacks: it has {partitions}"
            for each in lost:
                unsent = Unsent(source.place, each.offsets, made.topic, each.batch)
                self._engine.fail(unsent, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
            kept.reported[number] = partitions
        there = [each for each in placed if each.partition < partitions]
        return Route(there, too_large, sum(each.batch.header.records for each in (*there, *too_large)), 0)

    def _partitions(self, source: SourceRecords, made: MadeRecords, least: int, *, waits_for_wishes: bool) -> int:
        """Return the partitions of a made topic, 0 if the source's partition waits for it; raise Unsendable.

        A partition that the handler names and that stays away makes only its own records unsendable.
        """
        wanted = max(made.wishes, default=BY_KEY) + 1
        partitions = self._engine.at_target(made.topic, least)
        if waits_for_wishes and partitions and wanted > partitions:
            least = wanted
            try:
                partitions = self._engine.at_target(made.topic, least, named=True)
            except Unsendable:
                return partitions
        if not partitions:
            self._engine.held.hold(source.place, source.begin, made.topic, least)
        return partitions

    def _handle(self, source: SourceRecords) -> Made:
        records: list[MadeRecords] = []
        handled, begin = 0, source.begin
        while begin < source.header.next_offset:
            result = self._handler.handle(source._replace(begin=begin))
            records += result.made
            handled += result.records
            begin = result.next_offset
            self._filtered += result.dropped
            if result.exit_code is not None:
                self._exit.ask(result.exit_code)
                break
            if result.stopped:
                return Made(records, handled, begin, stopped=True)
            if result.tolerated:
                time, reason = _date_of(source, begin), str(result.error)
                events.emit(events.TOLERATED, partition=source.place, offset=begin, time=time, reason=reason)
                handled, begin = handled + 1, begin + 1
                self._filtered += 1
            elif result.error is not None:
                if (failure := self._failed(source, result, records)) is not None:
                    return Made(records, handled, begin, failure)
                handled, begin = handled + 1, begin + 1
        return Made(records, handled, begin)

    def _failed(self, source: SourceRecords, result: Handled, records: list[MadeRecords]) -> HandlerFailure | None:
        """Set the record aside on which the handler failed, or return the failure."""
        place, offset, error = source.place, result.next_offset, str(result.error)
        if self._quarantine is None:
            handler = self._engine.config.handler
            who = "transforms" if handler is not None and handler.of_connect else "message handler"
            failure = HandlerFailure(f"the {who} failed on {place} at offset {offset}: {error}")
            failure.timestamp = _time_of(source, offset)
            return failure
        time = _date_of(source, offset)
        events.emit(events.QUARANTINED, partition=place, offset=offset, time=time, reason=error)
        row = _row(source, offset)
        writers: dict[str, kernels.RecordWriter] = {}
        targets = self._quarantine.put(Record(*row), error)
        header = source.header
        times = (source.base_timestamp, row[4])
        kernels.write_targets(targets, [len(targets)], [row], header.base_offset, *times, BY_KEY, writers)
        records += made_of(writers, header)
        self._quarantined += 1
        return None


def _row(source: SourceRecords, offset: int) -> tuple[Any, ...]:
    """Return the record at this offset; raise UnicodeDecodeError for a header's name that is no text."""
    return next(source._replace(begin=offset).rows(1))[0]


def _time_of(source: SourceRecords, offset: int) -> int | None:
    """Return the time of a record in milliseconds; None if it has none that can be read."""
    with suppress(UnicodeDecodeError):
        return _row(source, offset)[4] if source.header.has_time else None
    return None


def _date_of(source: SourceRecords, offset: int) -> str:
    timestamp = _time_of(source, offset)
    return WITHOUT_TIME if timestamp is None else date(timestamp)
