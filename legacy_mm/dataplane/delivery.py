"""The ways in which record batches reach the target: here `AtLeastOnce`; `transactions` has `ExactlyOnce`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import Frame, Started, TransactionTotals
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch, Work
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.produce.appender import Acknowledged, BatchAppender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.dataplane.acks import Piece, Pieces
from legacy_mm.dataplane.keep_alive import RetryLoop
from legacy_mm.dataplane.waiting_records import WaitingRecords
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.runtime.channel.frames import TaskConfig

SendFrame = Callable[[Frame], None]
"""Sends a frame to the driver."""


@dataclass(frozen=True, slots=True)
class CopyParts:
    """The parts of a copy job that a delivery works with."""

    config: TaskConfig
    appender: BatchAppender
    fetcher: Fetcher
    count: Callable[[Acknowledged], None]
    """Counts a batch that the target has, for good."""
    forget: Callable[[TopicPartition], None]
    """Forgets all that was read of a partition, which goes on at another position."""
    report: SendFrame
    pieces: Pieces
    retries: RetryLoop
    waiting: WaitingRecords
    """The records that wait, where the target refuses them."""
    work: Work | None
    """Work on what was read, which readers may do themselves; None: the engine's thread does it."""


class Delivery:
    """The way of all pieces of a copy job to the target. For the engine's thread, but for `confirmed` and `marked`.

    What is not said here does nothing, because not each delivery has it.
    """

    parts = 0
    """The parts of each piece beside its batches that are acknowledged later: 1 for the commit, where there is one."""
    owners = 0
    """The number of owners of transactions that write on one connection."""

    def __init__(self, parts: CopyParts) -> None:
        """Take the parts of a copy job; nothing is asked before `begin`."""

    @property
    def records(self) -> int:
        """The source records that were sent, for good."""
        raise NotImplementedError

    def transactions(self) -> TransactionTotals | None:
        """Return what became of transactions; None where there are none."""
        return None

    def begin(self) -> None:
        """Begin to read."""
        raise NotImplementedError

    def take(self, timeout: float) -> CompletedFetch | None:
        """Return the next record set that may be copied, as `Fetcher.take` does."""
        raise NotImplementedError

    def may_go_on(self, source: TopicPartition) -> bool:
        """Return False if what is in hand of this partition is read again: a wait for the target came between."""
        return True

    def takes(self, targets: Collection[TopicPartition]) -> bool:
        """Return True if batches for these target partitions may be appended."""
        return True

    def begin_piece(self, piece: Piece, targets: Iterable[TopicPartition]) -> None:
        """Take a piece, which goes to these target partitions; its batches follow."""

    def append(self, piece: Piece, target: TopicPartition, batch: RecordBatch, opaque: Any) -> bool:
        """Send a batch of a piece; return False if that is too late."""
        raise NotImplementedError

    def end_piece(self, piece: Piece, records: int, *, complete: bool) -> bool:
        """End a piece of so many source records; it is not complete if a stop came before there was room for it.

        Return False if what was read behind it is read again later.
        """
        raise NotImplementedError

    def passed(self, source: TopicPartition, end: int) -> None:
        """Note that all of a partition up to this offset was begun; the last of it may hold no records."""

    def acknowledged(self, acknowledged: Acknowledged) -> None:
        """Count what the target has, now or when it is committed."""
        raise NotImplementedError

    def refused(self, refused: ProducerBatch) -> bool:
        """Handle a batch that was not refused for the sake of its records; return False for any other."""
        return False

    def abandon(self, refused: ProducerBatch) -> None:
        """Forget a batch that has failed for good, and what stands behind it: copying ends, so none of it is safe."""
        raise NotImplementedError

    def poll(self) -> None:
        """Continue with what other threads have brought; raise what no later try can mend."""
        raise NotImplementedError

    def may_resume(self, offsets: Offsets) -> bool:
        """Return True if these partitions may go on at other offsets now; raise Undecided where they never may."""
        return True

    def resumed(self, offsets: Offsets) -> None:
        """Note that these partitions go on at other offsets."""
        raise NotImplementedError

    def confirmed(self, bundles: Collection[int]) -> None:
        """Note from any thread that the group's generation holds these bundles."""

    def marked(self, partitions: Iterable[TopicPartition]) -> None:
        """Note from any thread that the group's offsets of these partitions come from exactly once."""

    def stop(self) -> None:
        """Finish what was begun, and begin nothing more."""

    def is_over(self, timeout: float) -> bool:
        """Return True if nothing is left to do, or wait a while for news."""
        raise NotImplementedError

    def finish(self) -> None:
        """Count what is safe now that nothing is left to do, and nothing will be."""

    def close(self) -> None:
        """Close what it has beside the appender."""


class AtLeastOnce(Delivery):
    """A delivery in which everything counts as soon as the target has acknowledged it."""

    def __init__(self, parts: CopyParts) -> None:
        """Take the two ends, and the records that wait."""
        super().__init__(parts)
        self._config = parts.config
        self._appender = parts.appender
        self._fetcher = parts.fetcher
        self._count = parts.count
        self._report = parts.report
        self._pieces = parts.pieces
        self._retries = parts.retries
        self._waiting = parts.waiting
        self._work = parts.work
        self._records = 0

    @property
    def records(self) -> int:
        """The records that were appended."""
        return self._records

    def begin(self) -> None:
        """Begin to read at the offsets of the config."""
        config = self._config
        if started := self._retries.ask(lambda: self._fetcher.start(config.offsets), config.api_timeout):
            self._report(started)

    def take(self, timeout: float) -> CompletedFetch | None:
        """Return the next record set."""
        return self._fetcher.take(timeout, self._work)

    def takes(self, targets: Collection[TopicPartition]) -> bool:
        """Return False if one of these partitions is stuck."""
        return all(map(self._appender.takes, targets))

    def append(self, piece: Piece, target: TopicPartition, batch: RecordBatch, opaque: Any) -> bool:
        """Send a batch."""
        self._appender.append(target, batch, opaque)
        return True

    def end_piece(self, piece: Piece, records: int, *, complete: bool) -> bool:
        """Count the records that were appended."""
        self._records += records
        if not complete:
            self._pieces.abandon(piece.partition, piece.begin)
        return complete

    def acknowledged(self, acknowledged: Acknowledged) -> None:
        """Count it."""
        self._waiting.acknowledged(acknowledged.opaque)
        self._count(acknowledged)

    def abandon(self, refused: ProducerBatch) -> None:
        """Forget all that the queue holds."""
        for part in (refused.opaque, *self._appender.abandon(refused.queue)):
            self._pieces.abandon(part.piece.partition, part.first_offset)

    def poll(self) -> None:
        """Report the starts of partitions that had no leader, and send refused records again."""
        self._waiting.poll()
        while started := self._fetcher.take_started():
            self._report(started)

    def resumed(self, offsets: Offsets) -> None:
        """Report where they go on."""
        self._report(Started(offsets))

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
