"""The ways in which record batches reach the target: `AtLeastOnce`; `transactional_delivery.py` has `ExactlyOnce`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Protocol

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.clients.native.appender import Acknowledged, BatchAppender
from legacy_mm.clients.native.fetch_buffer import CompletedFetch, Work
from legacy_mm.clients.native.fetcher import Fetcher
from legacy_mm.clients.native.partition_queue import ProducerBatch
from legacy_mm.control_channel.frames import Frame, Started, TaskConfig, TransactionTotals
from legacy_mm.dataplane.acks import Piece, Pieces
from legacy_mm.dataplane.keep_alive import RetryLoop
from legacy_mm.dataplane.waiting_records import WaitingRecords
from legacy_mm.protocol.record_batch import RecordBatch


class Delivery(Protocol):
    """The way of all pieces of a copy job. For the engine's thread, but for `confirmed` and `marked`."""

    records: int
    """Source records that were sent, for good."""
    parts: int
    """The parts of each piece beside its batches that are acknowledged later: 1 for the commit, where there is one."""

    def transactions(self) -> TransactionTotals | None:
        """Return what became of transactions; None where there are none."""

    def begin(self) -> None:
        """Begin to read."""

    def take(self, timeout: float) -> CompletedFetch | None:
        """Return the next record set that may be copied, as `Fetcher.take` does."""

    def may_go_on(self, source: TopicPartition) -> bool:
        """Return False if what is in hand of this partition is read again: a wait for the target came between."""

    def takes(self, targets: Collection[TopicPartition]) -> bool:
        """Return True if batches for these target partitions may be appended."""

    def begin_piece(self, piece: Piece, targets: Iterable[TopicPartition]) -> None:
        """Take a piece, which goes to these target partitions; its batches follow."""

    def append(self, piece: Piece, target: TopicPartition, batch: RecordBatch, opaque: Any) -> bool:
        """Send a batch of a piece; return False if that is too late."""

    def end_piece(self, piece: Piece, records: int, *, complete: bool) -> bool:
        """End a piece of so many source records; it is not complete if a stop came before there was room for it.

        Return False if what was read behind it is read again later.
        """

    def passed(self, source: TopicPartition, end: int) -> None:
        """Note that all of a partition up to this offset was begun; the last of it may hold no records."""

    def acknowledged(self, acknowledged: Acknowledged) -> None:
        """Count what the target has, now or when it is committed."""

    def refused(self, refused: ProducerBatch) -> bool:
        """Handle a batch that was not refused for the sake of its records; return False for any other."""

    def abandon(self, refused: ProducerBatch) -> None:
        """Forget a batch that has failed for good, and what stands behind it: copying ends, so none of it is safe."""

    def tend(self) -> None:
        """Continue with what other threads have brought; raise what no later try can mend."""

    def may_resume(self, offsets: Offsets) -> bool:
        """Return True if these partitions may go on at other offsets now; raise Undecided where they never may."""

    def resumed(self, offsets: Offsets) -> None:
        """Note that these partitions go on at other offsets."""

    def confirmed(self, bundles: Collection[int]) -> None:
        """Note from any thread that the group's generation holds these bundles."""

    def marked(self, partitions: Iterable[TopicPartition]) -> None:
        """Note from any thread that the group's offsets of these partitions come from exactly once."""

    def stop(self) -> None:
        """Finish what was begun, and begin nothing more."""

    def is_over(self, timeout: float) -> bool:
        """Return True if nothing is left to do, or wait a while for news."""

    def finish(self) -> None:
        """Count what is safe now that nothing is left to do, and nothing will be."""

    def close(self) -> None:
        """Close what it has beside the appender."""


class DeliveryServices(Protocol):
    """The engine, as a delivery needs it."""

    def count(self, acknowledged: Acknowledged) -> None:
        """Count a batch that the target has, for good."""

    def forget(self, partition: TopicPartition) -> None:
        """Forget all that was read of a partition, which goes on at another position."""


class AtLeastOnce:
    """A delivery in which everything counts as soon as the target has acknowledged it."""

    parts = 0

    def __init__(
        self,
        config: TaskConfig,
        appender: BatchAppender,
        fetcher: Fetcher,
        engine: DeliveryServices,
        report: Callable[[Frame], None],
        retries: RetryLoop,
        work: Work | None,
        waiting: WaitingRecords,
        pieces: Pieces,
    ) -> None:
        """Take the two ends, and the records that wait; readers may do the `work` themselves."""
        self._waiting = waiting
        self._pieces = pieces
        self.records = 0
        self._config = config
        self._appender = appender
        self._fetcher = fetcher
        self._engine = engine
        self._report = report
        self._retries = retries
        self._work = work

    def transactions(self) -> None:
        """Return None: there are none."""

    def begin(self) -> None:
        """Begin to read at the offsets of the config."""
        config = self._config
        if started := self._retries.ask(lambda: self._fetcher.start(config.offsets), config.api_timeout):
            self._report(started)

    def take(self, timeout: float) -> CompletedFetch | None:
        """Return the next record set."""
        return self._fetcher.take(timeout, self._work)

    def may_go_on(self, source: TopicPartition) -> bool:
        """Return True."""
        return True

    def takes(self, targets: Collection[TopicPartition]) -> bool:
        """Return False if one of these partitions is stuck."""
        return all(map(self._appender.takes, targets))

    def begin_piece(self, piece: Piece, targets: Iterable[TopicPartition]) -> None:
        """Do nothing: a piece needs no preparation."""

    def append(self, piece: Piece, target: TopicPartition, batch: RecordBatch, opaque: Any) -> bool:
        """Send a batch."""
        self._appender.append(target, batch, opaque)
        return True

    def end_piece(self, piece: Piece, records: int, *, complete: bool) -> bool:
        """Count the records that were appended."""
        self.records += records
        if not complete:
            self._pieces.abandon(piece.partition, piece.begin)
        return complete

    def passed(self, source: TopicPartition, end: int) -> None:
        """Do nothing: the group's offset is one past a record."""

    def acknowledged(self, acknowledged: Acknowledged) -> None:
        """Count it."""
        self._waiting.acknowledged(acknowledged.opaque)
        self._engine.count(acknowledged)

    def refused(self, refused: ProducerBatch) -> bool:
        """Return False: the engine knows what to do."""
        return False

    def abandon(self, refused: ProducerBatch) -> None:
        """Forget all that the queue holds."""
        for part in (refused.opaque, *self._appender.abandon(refused.queue)):
            self._pieces.abandon(part.piece.partition, part.first_offset)

    def tend(self) -> None:
        """Report the starts of partitions that had no leader, and send refused records again."""
        self._waiting.tend()
        while started := self._fetcher.take_started():
            self._report(started)

    def may_resume(self, offsets: Offsets) -> bool:
        """Return True."""
        return True

    def resumed(self, offsets: Offsets) -> None:
        """Report where they go on."""
        self._report(Started(offsets))

    def confirmed(self, bundles: Collection[int]) -> None:
        """Do nothing: it never asks."""

    def marked(self, partitions: Iterable[TopicPartition]) -> None:
        """Do nothing: it never asks."""

    def stop(self) -> None:
        """Wait for no refused record; the appender is drained."""
        for refused in self._waiting.give_up():
            self.abandon(refused)

    def is_over(self, timeout: float) -> bool:
        """Return True if the target has everything."""
        return self._appender.wait_empty(timeout)

    def finish(self) -> None:
        """Count what is before the records that were abandoned."""
        self._pieces.all_others_arrived()

    def close(self) -> None:
        """Do nothing."""
