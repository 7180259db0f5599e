"""The way of batches that the target has refused: halves of them, the quarantine, waiting, or a failure."""

from __future__ import annotations

from collections.abc import Callable

from legacy_mm.base.reports import UNKNOWN
from legacy_mm.clients.net import error_text
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.dataplane.acks import Part
from legacy_mm.dataplane.copy_book import CopyBook
from legacy_mm.dataplane.copy_ends import CopyEnds
from legacy_mm.dataplane.delivery import Delivery
from legacy_mm.dataplane.held_partitions import HeldPartitions
from legacy_mm.dataplane.keep_alive import RetryLoop
from legacy_mm.dataplane.partition_meters import Times
from legacy_mm.dataplane.refused_batches import Aside, RefusedBatches
from legacy_mm.dataplane.routes import Placed
from legacy_mm.dataplane.send_failure import ProducerBroken, SendFailures
from legacy_mm.protocol import error_codes


class Refusals:
    """The way of each refused batch of one copy job. For the engine's thread."""

    def __init__(
        self,
        ends: CopyEnds,
        book: CopyBook,
        held: HeldPartitions,
        retries: RetryLoop,
        failures: SendFailures,
        aside: RefusedBatches | None,
        *,
        may_wait: bool,
    ) -> None:
        """Take the parts of the engine. `aside`: where refused records are set aside, None: nowhere. `may_wait`: a
        refused record waits, and holds its partition up.
        """
        self._ends = ends
        self._book = book
        self._held = held
        self._retries = retries
        self.failures = failures
        self.aside = aside
        self.halving = False
        """True while batches are under way in the place of refused ones: the appender is emptied first."""
        self._may_wait = may_wait

    def deal_with(self, refused: ProducerBatch, delivery: Delivery, report: Callable[[], None]) -> None:
        """Send other batches in its place; what none of them can mend has failed, in the end each record alone.

        `report` is called after each record: there may be thousands of them.
        """
        if delivery.refused(refused):
            return
        topic, number = refused.queue.partition
        if error_codes.needs_new_producer(refused.refusal):
            if not refused.queue.may_start_anew():
                raise ProducerBroken(error_text.text(refused.refusal))
            self._retries.ask(lambda: self._ends.appender.start_anew(refused), at_least_once=True)
            return
        if self.aside is not None and isinstance(refused.opaque, Aside):
            self.aside.not_taken(refused)
            self._drop(refused)
            return
        piece, offsets, *_ = part = refused.opaque
        placed = Placed(number, refused.batch, offsets)
        instead, failed = self._ends.router.replace(placed, refused.refusal, refused.blamed)
        if failed and self._may_wait:
            if self._held.records.add(refused):
                self._book.pieces.cut(piece, offsets[0], self._ends.appender.unacknowledged)
            else:
                delivery.abandon(refused)
            return
        piece.missing += len(instead)
        for each, why in failed:
            if self.aside is not None and error_codes.refuses_the_record(refused.refusal):
                piece.missing += 1
                self.aside.refused(refused, each, why)
            else:
                self.failures.refused(refused, each, why)
                if self.failures.end_copying:  # its piece stays open, so its offset is never safe
                    delivery.abandon(refused)
                    return
            report()
        if instead:
            if error_codes.is_too_large(refused.refusal):
                self._ends.limits.refused(topic, refused.size)
            parts = [(made.batch, part.of(made.offsets, Times.of_batch(made.batch.header))) for made in instead]
            self._ends.appender.replace(refused, parts)
        else:
            self._drop(refused)
        self._book.pieces.acknowledged(piece)

    def _drop(self, refused: ProducerBatch) -> None:
        """Drop the refused batches, also in a stop, so that the batches after them are sent."""
        if refused.may_have_arrived and isinstance(refused.opaque, Part):
            self._book.measures.note(refused.opaque, UNKNOWN)
        self._retries.ask(lambda: self._ends.appender.drop(refused), at_least_once=True)

    @property
    def set_aside(self) -> int:
        """The number of records that were set aside."""
        return 0 if self.aside is None else self.aside.count

    def are_settled(self) -> bool:
        """Return True if every record that was set aside is in the quarantine."""
        return self.aside is None or self.aside.is_empty()
