"""Refused records for the batches engine: those that the target names, or that stand alone when it halves a batch.

The queue of its partition goes on without it, in order; the piece that it belongs to is complete when the record is in
the quarantine. It waits here until the engine's loop has time to ask for the topic's partitions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from legacy_mm.config.settings import QuarantineSettings
from legacy_mm.dataplane.acks import Part, Piece, Pieces
from legacy_mm.dataplane.refused_records import SetAside
from legacy_mm.dataplane.routes import Router
from legacy_mm.errors import StreamFailure
from legacy_mm.handlers.api import CREATE_TIME, Record, TargetRecord
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.records import partition_of
from legacy_mm.protocol.single_record import SingleRecord

_TOO_LARGE = "it is larger than max.request.size"


class Aside(NamedTuple):
    """A record on its way into the quarantine's topic; it is the `opaque` of its batch."""

    piece: Piece
    record: Record
    reason: str
    target: TargetRecord


class RefusedBatches:
    """The refused batches that are not in the quarantine yet."""

    def __init__(self, settings: QuarantineSettings, router: Router, pieces: Pieces, limit: int) -> None:
        """Create the store; `limit` is the most bytes of a batch (`max.request.size`)."""
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

    def add(self, part: Part, lone: RecordBatch, reason: str) -> None:
        """Add a batch of one record that the target has refused; raise StreamFailure for one that cannot be kept."""
        place, offset = part.piece.partition, part.offsets[0]
        try:
            timestamp, key, value, headers = self._router.single(lone)
        except UnicodeDecodeError as error:
            raise StreamFailure(
                f"the target refuses {place} at offset {offset} ({reason}), and it cannot be set aside as it is: "
                f"it has a header whose name is not UTF-8 ({error})"
            ) from error
        record = Record(*place, offset, CREATE_TIME, timestamp, key, value, headers)
        for target in (targets := self._aside.take(record, reason)):
            self._waiting.append(Aside(part.piece, record, reason, target))
        if not targets:
            self._pieces.acknowledged(part.piece)

    def not_taken(self, aside: Aside, why: str) -> None:
        """Handle a batch that the quarantine topic does not take."""
        self._aside.not_taken(aside.record, aside.reason, why)
        self._pieces.acknowledged(aside.piece)

    def put(
        self,
        partitions: Callable[[str], int | str],
        append: Callable[[TopicPartition, RecordBatch, Aside], bool],
    ) -> None:
        """Give all that waits to the topic or the file.

        `partitions`: how many a topic has, or why that is not known; `append` answers False when there is no time left.
        """
        while self._waiting:
            aside = self._waiting[0]
            target = aside.target
            count = partitions(target.topic)
            batch = self._router.batch_of(SingleRecord(target.timestamp or 0, target.key, target.value, target.headers))
            if isinstance(count, str):
                self.not_taken(aside, count)
            elif len(batch.buffer) > self._limit:
                self.not_taken(aside, _TOO_LARGE)
            else:
                number = aside.record.partition % count if target.key is None else partition_of(target.key, count)
                if not append(TopicPartition(target.topic, number), batch, aside):
                    return
            self._waiting.popleft()
