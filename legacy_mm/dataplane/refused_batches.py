"""Records that the target refuses for their own sake, set aside instead of ending the mirror or being lost.

Made only with `--send.on.error quarantine`. Such a record goes to the topic for quarantined ones, where one is named;
what that topic does not take, whatever the reason, goes to the file. Invariant A: its source offset is safe when the
topic has acknowledged it, or when the file is on the disk.

Refused are those that the target names, or that stand alone when a batch is halved. The queue of the partition goes on
without such a record, in order; the piece that it belongs to is complete when the record is in the quarantine. It waits
here until the engine's loop has time to ask for the topic's partitions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Event
from typing import NamedTuple

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import QuarantineSettings
from legacy_mm.clients.net import error_text
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.dataplane.acks import Part, Piece, Pieces
from legacy_mm.dataplane.routes import Placed, Route, Router
from legacy_mm.dataplane.send_failure import REQUEST_REMEDY, WITHOUT_TIME, Unsendable, date, in_our_words, remedy
from legacy_mm.handlers.api import CREATE_TIME, Record, TargetRecord
from legacy_mm.handlers.quarantine import QuarantineFile, quarantine_of
from legacy_mm.logs import events
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.records import partition_of
from legacy_mm.protocol.single_record import SingleRecord

_TOO_LARGE = "it is larger than max.request.size"


class SetAside:
    """Puts refused records away, tells of each in a line, and counts them."""

    def __init__(self, settings: QuarantineSettings) -> None:
        self._settings = settings
        self._first = quarantine_of(settings)
        self._file = QuarantineFile(settings.file)
        self.count = 0

    def take(self, record: Record, reason: str, mended_by: str) -> list[TargetRecord]:
        """Return the records to send to the topic for it; none where it is in the file already."""
        place = TopicPartition(record.topic, record.partition)
        time = WITHOUT_TIME if record.timestamp is None else date(record.timestamp)
        events.emit(events.REFUSED, partition=place, offset=record.offset, time=time, reason=reason, remedy=mended_by)
        self.count += 1
        return self._first.put(record, reason)

    def not_taken(self, record: Record, reason: str, why: str, mended_by: str) -> None:
        """Write a record to the file that the topic does not take."""
        events.emit(
            events.QUARANTINE_REFUSED,
            topic=self._settings.topic,
            partition=TopicPartition(record.topic, record.partition),
            offset=record.offset,
            file=self._settings.file,
            reason=why,
            remedy=mended_by,
        )
        self._file.put(record, reason)


class Aside(NamedTuple):
    """A record on its way into the quarantine's topic; it is the `opaque` of its batch."""

    piece: Piece
    record: Record
    reason: str
    target: TargetRecord

    @property
    def first_offset(self) -> int:
        """Return the record's offset at the source."""
        return self.record.offset


class RefusedBatches:
    """The refused batches that are not in the quarantine yet."""

    def __init__(
        self, settings: QuarantineSettings, router: Router, pieces: Pieces, limit: int, stopping: Event
    ) -> None:
        """Create the store; `limit` is the most bytes of a batch (`max.request.size`)."""
        self._stopping = stopping
        self._without_topic = ""
        self._aside = SetAside(settings)
        self._router = router
        self._pieces = pieces
        self._limit = limit
        self._waiting: deque[Aside] = deque()

    @property
    def count(self) -> int:
        """Records set aside."""
        return self._aside.count

    def is_empty(self) -> bool:
        """Return True if all were given to the topic or the file."""
        return not self._waiting

    def refused(self, refused: ProducerBatch, failed: Placed, why: str) -> None:
        """Add the one record of a batch that the target has refused, with the reason if it gave one for it; raise as
        `add`.
        """
        part = Part(refused.opaque.piece, failed.offsets, None)
        topic = refused.queue.partition.topic
        self.add(part, failed.batch, in_our_words(why or refused.why), remedy(refused.refusal, topic))

    def add(self, part: Part, lone: RecordBatch, reason: str, mended_by: str) -> None:
        """Add a batch of one record that cannot be sent; raise StreamFailure for one that cannot be kept."""
        place, offset = part.piece.partition, part.offsets[0]
        try:
            timestamp, key, value, headers = self._router.single(lone)
        except UnicodeDecodeError as error:
            raise StreamFailure(
                f"the target refuses {place} at offset {offset} ({reason}), and it cannot be set aside as it is: "
                f"it has a header whose name is not UTF-8 ({error})"
            ) from error
        record = Record(*place, offset, CREATE_TIME, timestamp, key, value, headers)
        for target in (targets := self._aside.take(record, reason, mended_by)):
            self._waiting.append(Aside(part.piece, record, reason, target))
        if not targets:
            self._pieces.acknowledged(part.piece)

    def not_taken(self, refused: ProducerBatch) -> None:
        """Handle a batch that the quarantine topic has refused."""
        aside: Aside = refused.opaque
        self._to_file(aside, in_our_words(refused.why), remedy(refused.refusal, aside.target.topic))

    def _to_file(self, aside: Aside, why: str, mended_by: str) -> None:
        self._aside.not_taken(aside.record, aside.reason, why, mended_by)
        self._pieces.acknowledged(aside.piece)

    def add_too_large(self, piece: Piece, route: Route) -> None:
        """Add the records of a route that are larger than any request; raise as `add`."""
        for _, large, offsets in route.too_large:
            reason = error_text.meaning(ErrorCode.MESSAGE_TOO_LARGE)
            self.add(Part(piece, offsets, None), large, reason, REQUEST_REMEDY)

    def put(
        self,
        partitions: Callable[[str, int], int],
        wait: Callable[[], None],
        append: Callable[[TopicPartition, RecordBatch, Aside], bool],
    ) -> None:
        """Give all that waits to the topic or the file.

        `partitions`: how many a topic has, 0 if it is waited for; it raises Unsendable; `wait` waits a moment for it;
        `append` answers False when there is no time left.
        """
        while self._waiting:
            aside = self._waiting[0]
            target = aside.target
            count = self._partitions(target.topic, partitions, wait)
            batch = self._router.batch_of(SingleRecord(target.timestamp or 0, target.key, target.value, target.headers))
            if isinstance(count, str):
                self._to_file(aside, count, f"see that topic {target.topic} can be written")
            elif len(batch.buffer) > self._limit:
                self._to_file(aside, _TOO_LARGE, REQUEST_REMEDY)
            else:
                number = aside.record.partition % count if target.key is None else partition_of(target.key, count)
                if not append(TopicPartition(target.topic, number), batch, aside):
                    return
            self._waiting.popleft()

    def _partitions(self, topic: str, partitions: Callable[[str, int], int], wait: Callable[[], None]) -> int | str:
        """Return the partition count of the quarantine, or the reason why it is unknown; wait once for a missing
        topic.
        """
        while not self._without_topic and not self._stopping.is_set():
            try:
                if count := partitions(topic, 1):
                    return count
            except Unsendable as error:
                self._without_topic = error_text.meaning(error.code)
            wait()
        return self._without_topic or "the mirror stops"
