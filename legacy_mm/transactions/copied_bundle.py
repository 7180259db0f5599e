"""The source partitions of one bundle, as a copy job copies them, and what is copied but not committed yet.

What the target has acknowledged counts when its transaction is committed: until then it is kept here, and with a
discarded transaction it is forgotten, as if it had never been read. After one that was overdue the next takes half of
it at most, or it would be overdue, too; one that reaches this limit and is committed doubles it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from math import inf
from typing import Any

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import RequestRefused
from legacy_mm.clients.produce.appender import Acknowledged
from legacy_mm.dataplane.acks import Piece
from legacy_mm.dataplane.delivery import CopyParts
from legacy_mm.logs import events
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.runtime.channel.frames import MarkAsked, OwnershipAsked
from legacy_mm.transactions.bundle_claims import BundleClaims
from legacy_mm.transactions.bundle_events import (
    AskOwnership,
    CopyAction,
    Discard,
    FetchFrom,
    HoldPartitions,
    Report,
    Timer,
)
from legacy_mm.transactions.bundle_owner import BundleOwner
from legacy_mm.transactions.bundle_positions import BundlePositions
from legacy_mm.transactions.bundle_reading import BundleReading
from legacy_mm.transactions.transaction_client import TransactionClient
from legacy_mm.transactions.txn_errors import Reaction
from legacy_mm.transactions.txn_requests import Positions


class Uncommitted:
    """The content of a bundle's open transaction so far, and how much one takes."""

    def __init__(self, parts: CopyParts) -> None:
        """Begin with nothing."""
        self.commits = 0
        """Transactions that were committed."""
        self.copied = 0
        """Source records in them."""
        self.records = self.size = 0
        """Records and bytes of batches in the open one."""
        self.pieces: list[Piece] = []
        self.acknowledged: list[Acknowledged] = []
        self._most_size: float = inf
        self._count = parts.count
        self._safe = parts.pieces

    @property
    def is_full(self) -> bool:
        """Return True if the transaction has as many bytes as it takes."""
        return self.size >= self._most_size

    def commit(self) -> None:
        """Count what the transaction brought."""
        if self.is_full:
            self._most_size *= 2
        self.commits += 1
        self.copied += self.records
        acknowledged, pieces = self.acknowledged, self.pieces
        self._clear()
        for each in acknowledged:
            self._count(each)
        for piece in pieces:
            self._safe.acknowledged(piece)

    def give_up(self, *, overdue: bool) -> None:
        """Forget the transaction."""
        if overdue and self.size:
            self._most_size = min(self._most_size, self.size) / 2
        self._clear()

    def _clear(self) -> None:
        self.records = self.size = 0
        self.pieces, self.acknowledged = [], []


class CopiedBundle:
    """The source partitions of one bundle, which does what their owner hands on. For the engine's thread."""

    def __init__(
        self,
        parts: CopyParts,
        positions: BundlePositions,
        claims: BundleClaims,
        take_acknowledged: Callable[[], None],
    ) -> None:
        """Take the bundle; `take_acknowledged` gives all bundles what the target has of theirs."""
        self.positions = positions
        self.claims = claims
        self.reading = BundleReading(parts, positions)
        self.uncommitted = Uncommitted(parts)
        self._parts = parts
        self._take_acknowledged = take_acknowledged
        self._empty: Piece | None = None  # the last one that brings no records
        self._owner: BundleOwner | None = None

    @property
    def owner(self) -> BundleOwner:
        """The owner at work."""
        assert self._owner is not None, "the bundle has not begun"
        return self._owner

    @property
    def takes_pieces(self) -> bool:
        """Return True if a piece may be given to its transaction."""
        return self.owner.takes_pieces and not self.uncommitted.is_full

    def begin(self, client: TransactionClient, interval: float) -> None:
        """Ask for the bundle; its transactions take pieces for `interval` seconds."""
        self._owner = client.own(self.positions.bundle, self.positions, self.do, interval)

    def begin_piece(self, piece: Piece, targets: Iterable[TopicPartition]) -> None:
        """Take a piece, which goes to these target partitions; its batches follow."""
        if self.owner.begin_piece(piece.partition, piece.next_offset, targets):
            self.uncommitted.pieces.append(piece)
        else:  # it brings no batch
            self._empty = piece
            self._parts.pieces.acknowledged(piece)

    def end_piece(self, records: int, *, complete: bool) -> bool:
        """End the piece; one that is not complete is never committed. Return False if the transaction is full."""
        if not self.owner.end_piece():
            return False
        self.uncommitted.records += records
        if not complete:
            self.owner.give_up()
        elif not self.takes_pieces:
            self.park()
        return complete and self.takes_pieces

    def passed(self, partition: TopicPartition, end: int) -> None:
        """Move the position over control records and holes, too, with the transaction that is open."""
        if self.takes_pieces:
            self.owner.passed(partition, end)

    def jump(self, piece: Piece) -> None:
        """Make the end of a piece without records the position, also where that goes back."""
        self.positions.jump(piece.partition, piece.next_offset)
        self.owner.jump(piece.partition, piece.next_offset)
        self.uncommitted.pieces.append(piece)

    def append(self, piece: Piece, target: TopicPartition, batch: RecordBatch, opaque: Any) -> bool:
        """Send a batch of the piece; return False if the transaction was given up."""
        if not self.owner.has_piece:
            return False
        assert piece is not self._empty, f"{piece.partition} is copied up to {piece.next_offset} already"
        self.uncommitted.size += len(batch.buffer)
        self.owner.append(target, batch, opaque)
        return True

    def park(self) -> None:
        """Let go of what was read, until it takes pieces again."""
        self.reading.park(self.owner.next)

    def poll(self, now: float) -> None:
        """Ask again for the bundle when its time has come, and keep nothing in memory for a bundle that waits."""
        if self.claims.is_due(now):
            self._parts.report(OwnershipAsked([self.claims.number]))
        if self.takes_pieces:
            self.reading.go_on(self.owner.next)
        elif self.owner.commits:
            self.reading.wait(now, self.owner.next)

    # --- what the owner hands on

    def do(self, action: CopyAction) -> None:
        """Do what the owner's session decides, beside its transactions."""
        match action:
            case AskOwnership():
                self.claims.ask()
            case FetchFrom(positions):
                self._fetch_from(positions)
            case Report(positions):
                self.claims.committed()
                self.positions.committed(positions)
                self.uncommitted.commit()
            case Discard():
                self._discard(action)
            case HoldPartitions(partitions, error):
                self._hold(partitions, error)

    def _fetch_from(self, positions: Positions) -> None:
        """Read the source from these positions on, and report where; what the group does not know of is safe, too."""
        self.claims.ended()
        started, safe = self.positions.begin(positions)
        waiting = self.reading.begin(started.offsets)
        self._parts.report(started)
        self._parts.pieces.begin(safe)
        if waiting:
            self._parts.report(MarkAsked({partition: started.offsets[partition] for partition in waiting}))

    def _discard(self, discard: Discard) -> None:
        """Throw away all that was read and is not committed; raise StreamFailure if it happens over and over."""
        self._take_acknowledged()
        self.uncommitted.give_up(overdue=discard.why is Timer.OVERDUE)
        reason = discard.why.value if not discard.error else error_text.text(discard.error)
        events.emit(events.TRANSACTION_GIVEN_UP, bundle=self.claims.number, reason=reason)
        self.reading.give_up()
        self.claims.given_up(reason, fenced=discard.why is Reaction.FENCED)

    def _hold(self, partitions: Collection[TopicPartition], error: int) -> None:
        """Look for the partitions anew; raise StreamFailure where no later try can succeed.

        A new topic is not known to all brokers at once, so one that is missing is asked for several times.
        """
        if error == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            topics = ", ".join(sorted({partition.topic for partition in partitions}))
            raise RequestRefused(f"a transaction cannot write to {topics}: {error_text.text(error)}")
        place, book = self.positions.bundle.positions, self.positions.book
        if place in partitions and self.claims.are_in_vain:
            raise StreamFailure(
                f"positions topic {place.topic} is not there any more ({error_text.text(error)}), so "
                "nobody can say what is copied: bring it back, or stop all mirrors of the group, and legacy-mm "
                f"exactly-once adopt takes {book.offsets} as positions"
            )
        self._parts.appender.cluster.metadata.stale()
