"""The source partitions of one bundle, as a copy job copies them, and what is copied but not committed yet.

What the target has acknowledged counts when its transaction is committed: until then it is kept here, and with a
discarded transaction it is forgotten, as if it had never been read. After one that was overdue the next takes half of
it at most, or it would be overdue, too; one that reaches this limit and is committed doubles it.

A partition whose group offset exactly once did not commit is read when the driver has committed it anew. Until then a
killed mirror may leave that offset beside a position, so the position names it as adopted; from then on none does.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol

from legacy_mm.base.clock import epoch_ms, monotonic
from legacy_mm.base.errors import StreamFailure, Undecided
from legacy_mm.base.model import (
    EARLIEST,
    LATEST,
    UNDEFINED,
    CommittedOffset,
    Offsets,
    TopicPartition,
    describe_partitions,
)
from legacy_mm.base.reports import Frame, Started
from legacy_mm.base.settings import ExactlyOnceSettings
from legacy_mm.clients.fetch.fetcher import NOWHERE, Fetcher
from legacy_mm.clients.fetch.position_validator import TopicIds
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import RequestRefused
from legacy_mm.clients.produce.appender import Acknowledged, BatchAppender
from legacy_mm.dataplane.acks import Piece, Pieces
from legacy_mm.dataplane.delivery import DeliveryServices
from legacy_mm.logs import events
from legacy_mm.policies.growing_pauses import doubled
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.runtime.channel.frames import MarkAsked, OwnershipAsked, TaskConfig
from legacy_mm.transactions.bundle import BUNDLES, FlowBundles
from legacy_mm.transactions.bundle_events import Discard, Timer
from legacy_mm.transactions.bundle_owner import BundleOwner, LogRow, id_refused
from legacy_mm.transactions.claim_inspection import ClaimInspections
from legacy_mm.transactions.evidence import SourceSide, decide_positions, mark
from legacy_mm.transactions.offset_book import OffsetBook
from legacy_mm.transactions.position_records import (
    Claim,
    PositionsRecord,
    SourcePosition,
    encode_claim,
    encode_position,
    read_bundle,
)
from legacy_mm.transactions.transaction_client import TransactionClient
from legacy_mm.transactions.txn_errors import Reaction
from legacy_mm.transactions.txn_requests import Positions

_MOST_FENCES, _FENCES_INTERVAL = 4, 300.0
_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.1, 5.0
_PARK_TIMEOUT = 0.5
"""Seconds without a piece after which what was read for a bundle is forgotten, and makes room for the others."""


@dataclass(slots=True)
class _Uncommitted:
    """The content of an open transaction so far."""

    records: int = 0
    size: int = 0
    """Bytes of batches."""
    pieces: list[Piece] = field(default_factory=list)
    acknowledged: list[Acknowledged] = field(default_factory=list)


class BundleServices(Protocol):
    """The things that all bundles of a copy job share."""

    records: int
    """Source records that were copied, for good."""
    settings: ExactlyOnceSettings
    config: TaskConfig
    flow: FlowBundles
    appender: BatchAppender
    fetcher: Fetcher
    engine: DeliveryServices
    pieces: Pieces
    inspections: ClaimInspections
    client: TransactionClient
    report: Callable[[Frame], None]

    def acknowledged(self, acknowledged: Acknowledged) -> None:
        """Keep what the target has, for the bundle that sent it."""


class CopiedBundle:
    """The source partitions of one bundle, as `BundleWork` for its owner."""

    def __init__(self, delivery: BundleServices, number: int, partitions: Sequence[TopicPartition]) -> None:
        self.uncommitted = _Uncommitted()
        self.holds = 0  # counts how often what was read was forgotten
        self._epoch = 0
        self._empty: Piece | None = None  # the last one that brings no records
        self._all = delivery
        self._number = number
        self._partitions = partitions
        self._bundle = delivery.flow.bundle(number)
        self._mark = mark(delivery.flow.positions_topic)
        settings = delivery.settings
        self._book = OffsetBook(settings.offsets_topic)
        known = {TopicPartition(*row[:2]): CommittedOffset(*row[2:]) for row in settings.group_offsets}
        self._group = {partition: known[partition] for partition in partitions if partition in known}
        self._adopted = {each: stored.offset for each, stored in self._group.items() if stored.metadata != self._mark}
        self._jumped_from: dict[TopicPartition, int] = {}
        """The group's offset of partitions whose position was set back, until it is as far again."""
        self.marked: deque[TopicPartition] = deque()
        """Partitions whose group offset comes from exactly once now; any thread appends."""
        self._unread: set[TopicPartition] = set()
        """They wait for that."""
        self._epochs: dict[TopicPartition, int] = {}
        """The leader epochs that were stored with the positions."""
        self._lows: dict[TopicPartition, int] = {}
        self._cluster = ""
        self._ids: TopicIds = {}
        self.committed_count = self.claims = 0
        self.claim_seconds = 0.0
        self._ask_at: float | None = None
        self._asked_at = 0.0
        self._fences = 0
        self._fenced: deque[float] = deque(maxlen=_MOST_FENCES)
        self._waits_since: float | None = None
        self._parked = False
        self._most_size: float = inf  # bytes that a transaction takes
        self._owner: BundleOwner | None = None

    @property
    def owner(self) -> BundleOwner:
        """The owner at work."""
        assert self._owner is not None, "the bundle has not begun"
        return self._owner

    @property
    def takes_pieces(self) -> bool:
        """Return True if a piece may be given to its transaction."""
        return self.owner.takes_pieces and self.uncommitted.size < self._most_size

    def begin(self) -> None:
        """Ask for the bundle."""
        self._owner = self._all.client.own(self._bundle, self, self._all.settings.interval)

    def begin_piece(self, piece: Piece, targets: Iterable[TopicPartition]) -> None:
        """Take a piece, which goes to these target partitions; its batches follow."""
        self.owner.busy, self._epoch = True, self.owner.epoch
        if self.owner.piece(piece.partition, piece.next_offset, targets):
            self.uncommitted.pieces.append(piece)
        else:  # it brings no batch
            self._empty = piece
            self._all.pieces.acknowledged(piece)

    def end_piece(self, records: int, *, complete: bool) -> bool:
        """End the piece; one that is not complete is never committed. Return False if the transaction is full."""
        self.owner.busy = False
        if self.owner.epoch != self._epoch:
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
        partition, offset = piece.partition, piece.next_offset
        if offset < (before := self._group_offset(partition)):
            self._jumped_from[partition] = before
        self.owner.jump(partition, offset)
        self.uncommitted.pieces.append(piece)

    def append(self, piece: Piece, target: TopicPartition, batch: RecordBatch, opaque: Any) -> bool:
        """Send a batch of the piece; return False if the transaction was given up."""
        if self.owner.epoch != self._epoch:
            return False
        assert piece is not self._empty, f"{piece.partition} is copied up to {piece.next_offset} already"
        self.uncommitted.size += len(batch.buffer)
        self.owner.append(target, batch, opaque)
        return True

    def stop(self) -> None:
        """Commit what is open, but no half of a piece, and end."""
        if self.owner.busy:
            self.owner.busy = False
            self.owner.give_up()
        self.owner.stop()

    def poll(self, now: float) -> None:
        """Ask again for the bundle when its time has come, and keep nothing in memory for a bundle that waits."""
        if self._ask_at is not None and now >= self._ask_at:
            self._ask_at = None
            self._all.report(OwnershipAsked([self._number]))
        if self.takes_pieces:
            self._waits_since = None
            self._unpark()
            self._read_marked()
        elif self.owner.commits:
            self._waits_since = self._waits_since or now
            if now - self._waits_since > _PARK_TIMEOUT:
                self.park()

    def park(self) -> None:
        """Let go of what was read, until it takes pieces again."""
        if not self._parked:
            self._parked = True
            self.holds += 1
            for partition in self._reading():
                self._all.fetcher.hold(partition, self.owner.next(partition))

    def _unpark(self) -> None:
        if self._parked:
            self._parked = False
            for partition in self._reading():
                self._all.fetcher.release(partition)

    def _reading(self) -> list[TopicPartition]:
        return [partition for partition in self._partitions if partition not in self._unread]

    def _read_marked(self) -> None:
        while self.marked:
            self._adopted.pop(self.marked.popleft(), None)
        if ready := self._unread - self._adopted.keys():
            self._unread -= ready
            self._read({partition: self.owner.next(partition) for partition in ready})

    def _read(self, offsets: Offsets) -> None:
        epochs = {partition: self._epochs[partition] for partition in offsets if partition in self._epochs}
        self._all.fetcher.resume(offsets, self._ids, epochs)

    # --- what the owner asks for, see `BundleWork`

    def ask_ownership(self) -> None:
        """Ask the driver, after a pause that grows with each transaction given up in a row."""
        pause = doubled(_FIRST_BACKOFF, self._fences - 2, _LONGEST_BACKOFF) if self._fences > 1 else 0.0
        self._ask_at = self._asked_at = monotonic() + pause

    def claim(self) -> PositionsRecord:
        """Return the record of this owner."""
        settings = self._all.settings
        host = socket.gethostname()
        return encode_claim(Claim(self._number, BUNDLES, self._source_id(), host, settings.generation, epoch_ms()))

    def decide_positions(self, rows: Iterable[LogRow]) -> tuple[Positions, Positions]:
        """Return the begin of each partition: its position at the target, or what becomes it now."""
        found = read_bundle(self._bundle.positions, BUNDLES, rows).positions
        inspection = self._all.inspections.since(self._asked_at)
        self._cluster, self._ids = inspection.cluster, inspection.topic_ids
        ids = {topic: str(topic_id) for topic, topic_id in inspection.topic_ids.items()}
        side = SourceSide(inspection.cluster, ids, self._group, self._book)
        evidence = decide_positions(self._partitions, found, side, self._all.flow.positions_topic)
        self._epochs = {partition: found[partition].leader_epoch for partition in evidence.positions}
        if inspection.doubt:  # after the evidence: that positions are lost already says more
            raise Undecided(inspection.doubt)
        adopted = evidence.adopted | self._first_offsets(evidence.unset)
        return tuple(sorted(evidence.positions.items())), tuple(sorted(adopted.items()))

    def position_records(self, positions: Positions) -> Sequence[PositionsRecord]:
        """Return the records that move positions."""
        return list(self._position_records(positions))

    def fetch_from(self, positions: Positions) -> None:
        """Read the source from these positions on, and report where; what the group does not know of is safe, too."""
        offsets, lows = dict(positions), self._lows
        self._lows = {}
        safe = {each: offset for each, offset in positions if each not in lows and offset > self._group_offset(each)}
        self.claims += 1
        self.claim_seconds += monotonic() - self._asked_at
        self._note(offsets)
        self._parked, self._waits_since = False, None
        self._unread = offsets.keys() & self._adopted.keys()
        self._read({partition: offset for partition, offset in positions if partition not in self._unread})
        self._all.report(Started(offsets, lows))
        self._all.pieces.begin(safe)
        if self._unread:
            self._all.report(MarkAsked({partition: offsets[partition] for partition in self._unread}))

    def committed(self, positions: Positions) -> None:
        """Count what the transaction brought."""
        done, self.uncommitted = self.uncommitted, _Uncommitted()
        if done.size >= self._most_size:
            self._most_size *= 2
        self._fences = 0
        self._fenced.clear()
        self.committed_count += 1
        self._all.records += done.records
        self._note(dict(positions))
        for acknowledged in done.acknowledged:
            self._all.engine.count(acknowledged)
        for piece in done.pieces:
            self._all.pieces.acknowledged(piece)

    def discarded(self, discard: Discard) -> None:
        """Throw away all that was read and is not committed; raise StreamFailure if it happens over and over."""
        for acknowledged in self._all.appender.take_acknowledged():
            self._all.acknowledged(acknowledged)
        if discard.why is Timer.OVERDUE and self.uncommitted.size:
            self._most_size = min(self._most_size, self.uncommitted.size) / 2
        self.uncommitted = _Uncommitted()
        reason = discard.why.value if not discard.error else error_text.text(discard.error)
        events.emit(events.TRANSACTION_GIVEN_UP, bundle=self._number, reason=reason)
        self.holds += 1
        for partition in self._partitions:
            self._all.fetcher.hold(partition, NOWHERE)
            self._all.engine.forget(partition)
        self._fences += 1
        if discard.why is Reaction.FENCED:
            self._count_fenced(reason)

    def hold(self, partitions: Collection[TopicPartition], error: int) -> None:
        """Look for the partitions anew; raise StreamFailure where no later try can succeed.

        A new topic is not known to all brokers at once, so one that is missing is asked for several times.
        """
        if error == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            topics = ", ".join(sorted({partition.topic for partition in partitions}))
            raise RequestRefused(f"a transaction cannot write to {topics}: {error_text.text(error)}")
        if self._bundle.positions in partitions and self._fences >= _MOST_FENCES:
            raise StreamFailure(
                f"positions topic {self._bundle.positions.topic} is not there any more ({error_text.text(error)}), so "
                "nobody can say what is copied: bring it back, or stop all mirrors of the group, and legacy-mm "
                f"exactly-once adopt takes {self._book.offsets} as positions"
            )
        self._all.appender.cluster.stale()

    def over(self, error: int) -> None:
        """Raise RequestRefused where no later try can succeed."""
        if error:
            raise id_refused(self._bundle, error)

    def _note(self, positions: Offsets) -> None:
        """Note what is committed: a later claim that finds less has lost positions."""
        self._group |= {partition: CommittedOffset(offset, self._mark) for partition, offset in positions.items()}

    def _group_offset(self, partition: TopicPartition) -> int:
        return self._group[partition].offset if partition in self._group else -1

    def _source_id(self) -> str:
        return self._cluster or self._all.fetcher.cluster.cluster_id()

    def _first_offsets(self, unset: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where partitions begin of which nobody knows, as `auto.offset.reset` says.

        Raise Undecided for `none`.
        """
        wanted = {partition: self._all.config.offsets[partition] for partition in unset}
        if undefined := [partition for partition, offset in wanted.items() if offset == UNDEFINED]:
            raise Undecided(
                f"Undefined offset with no reset policy for partitions: {describe_partitions(undefined)}; the target "
                f"has no position of them, and {self._book.name} no offset: legacy-mm exactly-once move sets the "
                "position, or set auto.offset.reset"
            )
        logical = {partition: offset for partition, offset in wanted.items() if offset in (EARLIEST, LATEST)}
        if logical:
            started = self._all.fetcher.find(logical)
            self._lows |= started.lows
            wanted |= started.offsets
        return wanted

    def _position_records(self, positions: Positions) -> Iterator[PositionsRecord]:
        now = epoch_ms()
        for partition, offset in positions:
            epoch, topic_id = self._all.fetcher.epoch_read(partition), str(self._ids.get(partition.topic, ""))
            adopted = self._adopted.get(partition, self._set_back(partition, offset))
            position = SourcePosition(offset, epoch, topic_id, self._cluster, now, adopted)
            yield encode_position(partition, position)

    def _set_back(self, partition: TopicPartition, offset: int) -> int | None:
        """Return the group's offset that may be there still while the position is behind it."""
        if offset >= self._jumped_from.get(partition, offset):
            self._jumped_from.pop(partition, None)
        return self._jumped_from.get(partition)

    def _count_fenced(self, reason: str) -> None:
        now = monotonic()
        self._fenced.append(now)
        if len(self._fenced) == _MOST_FENCES and now - self._fenced[0] < _FENCES_INTERVAL:
            raise StreamFailure(
                f"bundle {self._number} was taken over {_MOST_FENCES} times without a commit in between ({reason}): "
                "another process owns the same partitions; look for a second mirror with this group, and for a clock "
                "or a host that stands still"
            )
