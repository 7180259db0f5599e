"""The interface between a copy task and a handler: the records of a source batch in, records for target topics out.

Both cross it as the wire has them, so that a handler in Java makes no Python object of a record, and one in Python none
but those that it sees. A record that was made keeps the offset of the record of which it was made, so several may have
the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.errors import HandlerFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.handlers.api import CREATE_TIME, LOG_APPEND_TIME, NO_TIMESTAMP, Record, TargetRecord
from legacy_mm.policies.topic_letters import why_no_topic
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.record_batch import Header
from legacy_mm.protocol.records import NO_WISHES, batch_records, survey

BY_KEY = -1
"""The wish of a record whose key decides its partition."""
_PART_RECORDS = 1_000


def kind_of_times(header: Header) -> int:
    """Return the kind of the timestamps of the records, as in `Record`.

    Where a later broker took a record without one, Java calls the time, -1, the producer's. A broker's batch has a
    leader epoch; one that was made of the messages of an old broker has none.
    """
    if header.has_append_time:
        return LOG_APPEND_TIME
    return CREATE_TIME if header.has_time or header.leader_epoch >= 0 else NO_TIMESTAMP


class SourceRecords(NamedTuple):
    """Decompressed records of one partition, of which a handler sees those from offset `begin` on."""

    place: TopicPartition
    header: Header
    data: memoryview
    begin: int
    wish: int = BY_KEY
    """The target partition of records for which the handler names none."""
    kind: int = CREATE_TIME
    """The kind of their timestamps, as in `Record`."""

    @classmethod
    def of(cls, place: TopicPartition, header: Header, data: memoryview, begin: int, wish: int) -> SourceRecords:
        """Return the records of a batch; raise CorruptRecords unless they are sound."""
        survey(header, data, 0, 0)
        return cls(place, header, data, begin, wish, kind_of_times(header))

    @property
    def base_timestamp(self) -> int:
        """Return the time from which the deltas of the records count; the time of all of them if the broker set it."""
        return self.header.max_timestamp if self.header.has_append_time else self.header.base_timestamp

    def rows(self, most: int = _PART_RECORDS) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the records as tuples with the fields of `Record`, up to `most` at a time."""
        (topic, partition), header, data, begin, _, kind = self
        walked, at = batch_records(header, data, repeats=True), 0
        while at < len(data):
            skipped = (begin - header.base_offset, header.base_offset)
            rows, at = kernels.read_rows(walked, at, most, *skipped, topic, partition, kind, Record)
            if rows:
                yield rows


class MadeRecords(NamedTuple):
    """Records that a handler made for one topic, in their order, with the offsets of their source."""

    topic: str
    header: Header
    data: memoryview
    wishes: memoryview = NO_WISHES
    """The partition of each, or BY_KEY: 64-bit integers; none: all are by key."""

    @classmethod
    def of(
        cls,
        topic: str,
        source: Header,
        data: memoryview,
        counted: tuple[int, int, int],
        wishes: memoryview | array[int] | None,
    ) -> MadeRecords:
        """Return records made of those of a batch; `counted`: their number, the base and the last of their times."""
        header = Header.new(*counted)._replace(
            base_offset=source.base_offset, last_offset_delta=source.last_offset_delta
        )
        return cls(topic, header, data, NO_WISHES if wishes is None else memoryview(wishes))


class Handled(NamedTuple):
    """The result for source records, up to the first one on which the handler failed."""

    made: Sequence[MadeRecords]
    records: int
    """The handled source records."""
    dropped: int
    """Source records of which nothing was made."""
    next_offset: int
    """The offset of the first record that is not handled."""
    error: str | None = None
    """Why that one could not be handled."""
    exit_code: int | None = None
    """With which code the handler ended the program at that one; None: it did not."""
    tolerated: bool = False
    """True if that one may be left out for its error (`errors.tolerance` of Connect)."""
    stopped: bool = False
    """True if that one was to be tried again, and a stop came before."""


class BatchHandler(Protocol):
    """A handler of whole batches. It raises HandlerFailure, never an error of user code."""

    def handle(self, source: SourceRecords) -> Handled:
        """Handle these records, which are sound, in their order."""


class PythonBatches:
    """Gives each record of a batch to a Python handler."""

    def __init__(self, handle: Callable[[Record], Sequence[TargetRecord]], *, legal_topics: bool = False) -> None:
        """Take the user's function; `legal_topics`: a name that no topic can have is an error of its record."""
        self._handle = handle
        self._known: set[str] | None = set() if legal_topics else None

    def handle(self, source: SourceRecords) -> Handled:
        """Call the user's code once for each record."""
        writers: dict[str, kernels.RecordWriter] = {}
        header, next_offset, now = source.header, source.begin, epoch_ms()
        handled = dropped = 0
        for rows in source.rows():
            targets, ends, error, code = self._call(rows)
            try:
                if self._known is not None and (named := {target[0] for target in targets} - self._known):
                    targets, ends, error = _legally_named(targets, ends, error, named)
                    self._known |= {target[0] for target in targets}
                times = (source.base_timestamp, now)
                kernels.write_targets(targets, ends, rows, header.base_offset, *times, source.wish, writers)
            except (TypeError, ValueError, OverflowError) as flaw:
                raise HandlerFailure(f"the message handler made a record that cannot be sent: {flaw}") from flaw
            handled += len(ends)
            dropped += len(ends) - len({*ends} - {0})
            if len(ends) < len(rows):
                return Handled(made_of(writers, header), handled, dropped, rows[len(ends)][2], error, code)
            next_offset = rows[-1][2] + 1
        next_offset = max(next_offset, header.next_offset)
        return Handled(made_of(writers, header), handled, dropped, next_offset)

    def _call(self, rows: Sequence[tuple[Any, ...]]) -> tuple[list[TargetRecord], list[int], str | None, int | None]:
        """Return the targets, for each handled record their number up to and including its own, and what came then."""
        targets: list[Any] = []
        ends: list[int] = []
        try:
            kernels.handle_rows(self._handle, rows, targets, ends)
        except SystemExit as ending:
            return targets[: ends[-1] if ends else 0], ends, None, _exit_code(ending)
        except Exception as error:  # noqa: BLE001 - user code may raise anything
            return *_cut(targets, ends, len(ends)), f"{type(error).__name__}: {error}", None
        for place, target in enumerate(targets) if {*map(type, targets)} - {TargetRecord} else ():
            if not isinstance(target, TargetRecord):
                answer = f"handle answered {type(target).__name__}, not TargetRecord"
                return *_cut(targets, ends, _source(ends, place)), answer, None
        return targets, ends, None, None


def _legally_named(
    targets: list[TargetRecord], ends: list[int], error: str | None, named: set[str]
) -> tuple[list[TargetRecord], list[int], str | None]:
    """Cut the result before the first record that got an illegal topic name."""
    illegal = {name: why for name in named if (why := why_no_topic(name))}
    for place, target in enumerate(targets) if illegal else ():
        if target[0] in illegal:
            return *_cut(targets, ends, _source(ends, place)), f"topic {target[0]!r}: {illegal[target[0]]}"
    return targets, ends, error


def _source(ends: Sequence[int], place: int) -> int:
    """Return the number of the record of which a target was made."""
    return next(number for number, end in enumerate(ends) if end > place)


def _cut(targets: list[TargetRecord], ends: list[int], handled: int) -> tuple[list[TargetRecord], list[int]]:
    """Cut the result to the first `handled` records."""
    kept = ends[:handled]
    return targets[: kept[-1] if kept else 0], kept


def _exit_code(end: SystemExit) -> int:
    """Return what Python itself would exit with."""
    if end.code is None:
        return 0
    return end.code if isinstance(end.code, int) else 1


def made_of(writers: dict[str, kernels.RecordWriter], source: Header) -> list[MadeRecords]:
    """Return what was written for each topic of records of a batch."""
    return [
        MadeRecords.of(
            topic,
            source,
            writer.memory[: writer.size],
            (writer.count, writer.base_timestamp, writer.max_timestamp),
            array("q", writer.wishes) if max(writer.wishes) > BY_KEY else None,
        )
        for topic, writer in writers.items()
    ]
