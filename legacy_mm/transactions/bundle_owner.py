"""The owner of a bundle at work: a session decides (`transactions/bundle_session.py`), and this does what it decides.

It hands on what is not of its transactions, as the same actions: to whoever copies, or changes positions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from legacy_mm.base.clock import epoch_ms, monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import RequestRefused
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.single_record import SingleRecord, batch_of
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_events import (
    Answered,
    AskOwnership,
    BundleAction,
    BundleEvent,
    CopyAction,
    Discard,
    End,
    FetchFrom,
    HoldPartitions,
    Jumped,
    PieceRead,
    ReadPositions,
    Refuse,
    Report,
    Send,
    Timer,
    Unanswered,
)
from legacy_mm.transactions.bundle_session import BundleSession, BundleState
from legacy_mm.transactions.owner_queues import OwnerQueues, Records
from legacy_mm.transactions.position_records import PositionsRecord
from legacy_mm.transactions.standstill import Standstill
from legacy_mm.transactions.txn_coordinators import TxnCoordinators
from legacy_mm.transactions.txn_errors import Reaction, reaction_to
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    Append,
    ClaimBatch,
    EndTxn,
    InitProducerId,
    Positions,
    PositionsBatch,
    TransactionVersion,
)

_MARGIN, _MARGIN_SHARE = 15.0, 4
"""A transaction is given up so many seconds before its time-out, at most this part of it."""

LogRow = tuple[int, bytes | None, bytes | None]
"""Offset, key and value of a record of the positions topic."""


class BundleContents(Protocol):
    """The records that an owner writes into the positions topic and reads there."""

    def claim(self) -> PositionsRecord:
        """Return the record of a new owner."""

    def decide_positions(self, rows: Iterable[LogRow]) -> tuple[Positions, Positions]:
        """Return the positions in these committed records, and those to adopt. Called on a thread of its own.

        Raise ConnectionLost or ClusterUnreachable where a later try may succeed.
        """

    def position_records(self, positions: Positions) -> Sequence[PositionsRecord]:
        """Return the records that move positions."""


_ADVICE: Mapping[int, str] = {
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "lower exactly.once.transaction.timeout.ms to the target's "
    "transaction.max.timeout.ms at most",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "the mirror needs the right Write on transactional ids that begin "
    "with legacy-mm.",
    ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT: "a topic that it writes to keeps a format without transactions; its "
    "message.format.version must be 0.11.0 or later",
}


class OwnBatch(NamedTuple):
    """A batch of an owner's own records, on its way to the positions topic."""

    owner: BundleOwner
    request: Append


class TransactionClock:
    """The age of an owner's open transaction, and what it may become. Moments are `clock.monotonic`."""

    def __init__(self, interval: float, timeout: float) -> None:
        """Let each transaction take pieces for `interval` seconds; `timeout` is the target's, in seconds."""
        self._interval = interval
        self._longest = timeout - min(_MARGIN, timeout / _MARGIN_SHARE)
        self._began = 0.0

    def begin(self) -> None:
        """Count from now on."""
        self._began = monotonic()

    def age(self, now: float) -> float:
        """Return the seconds since its begin."""
        return now - self._began

    def is_due(self, now: float) -> bool:
        """Return True if it takes no more pieces."""
        return self.age(now) >= self._interval

    def is_overdue(self, now: float) -> bool:
        """Return True if it will not be settled before its time-out."""
        return self.age(now) >= self._longest


class BundleOwner:
    """One bundle, from its claim to the end of its session. For one thread."""

    def __init__(
        self,
        bundle: Bundle,
        contents: BundleContents,
        hand_on: Callable[[ReadPositions | CopyAction], None],
        queues: OwnerQueues,
        coordinators: TxnCoordinators,
        clock: TransactionClock,
    ) -> None:
        """Take what it works with; `hand_on` is told each action that is not for these, while it is due."""
        self.epoch = 0
        """Counts how often all that was read was thrown away."""
        self.doubtful = 0
        """Counts committed transactions of which a request got no answer at first."""
        self.has_piece = False
        """True while a piece is handed over, which no transaction may end in the middle of; False once it is given up.
        """
        self._contents = contents
        self._hand_on = hand_on
        self._queues = queues
        self._coordinators = coordinators
        self._clock = clock
        self._session = BundleSession(bundle)
        self._standstill = Standstill(bundle)
        self._next: dict[TopicPartition, int] = {}
        self._untold: set[TopicPartition] = set()
        self._events: deque[BundleEvent] = deque()
        self._handling = False

    @property
    def bundle(self) -> Bundle:
        """The bundle."""
        return self._session.bundle

    @property
    def state(self) -> BundleState:
        """The place in the session's sequences."""
        return self._session.state

    @property
    def version(self) -> TransactionVersion:
        """The version of transactions since its last claim."""
        return self._session.version

    @property
    def is_over(self) -> bool:
        """Return True if it does nothing more."""
        return self._session.state is BundleState.OVER

    @property
    def takes_pieces(self) -> bool:
        """Return True if a piece may be given to it."""
        return self._session.takes_pieces

    @property
    def commits(self) -> bool:
        """Return True while a transaction with records takes no more pieces and is not over."""
        return self._session.commits

    def open_seconds(self, now: float) -> float:
        """Return the age of the open transaction; 0: none is open."""
        return 0.0 if self._session.transaction is None else self._clock.age(now)

    def begin(self) -> None:
        """Ask for the bundle."""
        self._session, actions = BundleSession.begin(self.bundle)
        for action in actions:
            self._do(action)

    # --- pieces

    def next(self, partition: TopicPartition) -> int:
        """Return the begin of the next piece of a source partition."""
        return self._next[partition]

    def begin_piece(self, partition: TopicPartition, end: int, targets: Iterable[TopicPartition]) -> bool:
        """Take the records up to `end`, which go to these target partitions; their batches follow, then `end_piece`.

        Return False if nothing of it is new: then no batch may follow. A session hears of a piece at once only where
        the transaction begins or reaches another target partition.
        """
        self.has_piece = True
        if end <= self._next[partition]:
            return False
        new = self._queues.reach(targets)
        self._next[partition] = end
        self._untold.add(partition)
        if new or self._session.transaction is None:
            self._tell_piece(partition, new)
        return True

    def append(self, target: TopicPartition, batch: RecordBatch, opaque: Any) -> None:
        """Add a batch of the piece, to a partition that was named with it; a little of an open transaction lingers."""
        self._queues.append(self._session, target, batch, opaque)
        self._flush_unless_open()

    def end_piece(self) -> bool:
        """End the piece; return False if its transaction was given up."""
        had_piece, self.has_piece = self.has_piece, False
        return had_piece

    def passed(self, partition: TopicPartition, end: int) -> None:
        """Move the end of the last piece to `end`, behind what holds no records, while a transaction is open."""
        if self._session.transaction is not None and end > self._next[partition]:
            self._next[partition] = end
            self._untold.add(partition)

    def jump(self, partition: TopicPartition, offset: int) -> None:
        """Let the next piece of a source partition begin here, before or behind the end of the last one."""
        self._tell_pieces()
        self._next[partition] = offset
        self.handle(Jumped(partition, offset))

    def stop(self) -> None:
        """Commit what is open, but no half of a piece, then end."""
        if self.end_piece():
            self.give_up()
        self._tell_pieces()
        self.handle(Timer.STOP)

    def give_up(self) -> None:
        """Give up the transaction: a piece is not complete and never will be."""
        self.handle(Timer.OVERDUE)

    def _tell_piece(self, partition: TopicPartition, batches: tuple[tuple[TopicPartition, Records], ...]) -> None:
        begin = dict(self._session.next)[partition]
        self._untold.discard(partition)
        self.handle(PieceRead(partition, begin, self._next[partition], batches))

    def _tell_pieces(self) -> None:
        for partition in sorted(self._untold):
            self._tell_piece(partition, ())

    # --- events

    def handle(self, event: BundleEvent) -> None:
        """Let the session decide about an event, and do what it wants."""
        self._events.append(event)
        if self._handling:
            return
        self._handling = True
        try:
            while self._events:
                self._handle(self._events.popleft())
        finally:
            self._handling = False

    def poll(self, now: float) -> None:
        """Look at the clock, and at the queues of a transaction that takes no more pieces."""
        hangs = self._coordinators.hangs  # which is told with more
        if self._standstill.is_due(self.state, now) and not hangs(self.bundle.transactional_id):
            self._standstill.tell(self.state)
        if self._session.transaction is None:
            return
        self._queues.poll(now)
        if self._clock.is_overdue(now):
            self.handle(Timer.OVERDUE)
        elif not self.has_piece:
            self._move_on(now)

    def _move_on(self, now: float) -> None:
        if self.state is BundleState.OPEN and self._clock.is_due(now):
            self._tell_pieces()
            self.handle(Timer.INTERVAL_OVER)
        if self.state is BundleState.CLOSING:
            for request in self._queues.settled():
                self.written(request)

    def written(self, request: Append, offset: int = -1) -> None:
        """Note that the target has all of a request, in the log from this offset on (-1: unknown)."""
        if self._queues.waits_for(request):
            if self._queues.is_doubtful(request):
                self.handle(Unanswered(request))
            self.handle(Answered(request, offset=offset))
            self._queues.answered(request)  # last: a doubt admits the request once more

    def refused(self, refused: ProducerBatch) -> bool:
        """Handle a refused batch; return False if it was refused for the sake of its records."""
        code, own = refused.refusal, isinstance(refused.opaque, OwnBatch)
        request = refused.opaque.request if own else self._queues.data(refused.queue.partition)
        if request is None:
            return False
        reaction = reaction_to(request, code)
        if reaction is Reaction.REFUSED:
            if own:
                raise RequestRefused(f"{refused.queue.partition} does not take positions: {error_text.text(code)}")
            if refused.doubtful:  # the target may have it: a batch in its place would be taken for it
                self.give_up()
            return refused.doubtful
        if reaction in (Reaction.AGAIN, Reaction.FIND_COORDINATOR):
            self._queues.send_again(refused)
        else:
            self.handle(Answered(request, code, refused=frozenset({refused.queue.partition})))
        return True

    def _handle(self, event: BundleEvent) -> None:
        before, (self._session, actions) = self._session, self._session.handle(event)
        session = self._session
        if session.transaction is not None and before.transaction is None:
            self._clock.begin()
        goes_on = session.state not in (BundleState.ENDING, BundleState.IDLE, BundleState.OVER)
        if before.state is BundleState.ENDING and before.transaction is not None and goes_on:
            self.doubtful += before.transaction.doubtful
        self._queues.step(before, session)
        for action in actions:
            self._do(action)
        self._flush_unless_open()

    def _flush_unless_open(self) -> None:
        """Send all that lingers, unless more of it may follow."""
        if self.state is not BundleState.OPEN:
            self._queues.flush()

    # --- actions

    def _do(self, action: BundleAction) -> None:
        match action:
            case Send(Append() as request):
                self._admit(request)
            case Send(InitProducerId() | AddPartitionsToTxn() | EndTxn() as request, first):
                self._coordinators.ask(request, first)
            case FetchFrom(positions):
                self._next = dict(positions)
                self._hand_on(action)
            case Discard():
                self._discard()
                self._hand_on(action)
            case AskOwnership() | ReadPositions() | Report() | HoldPartitions():
                self._hand_on(action)
            case End(error):
                if error:
                    raise self._unusable(error)
            case Refuse():
                raise AssertionError("records are refused to the engine, not to the session")

    def _admit(self, request: Append) -> None:
        if not isinstance(request.batch, Records) and not self._queues.waits_for(request):
            self._queues.append(self._session, request.partition, self._batch(request), OwnBatch(self, request))
        self._queues.admit(self._session, request)

    def _batch(self, request: Append) -> RecordBatch:
        match request.batch:
            case ClaimBatch():
                records: Sequence[PositionsRecord] = [self._contents.claim()]
            case PositionsBatch(positions):
                records = self._contents.position_records(positions)
        return batch_of([SingleRecord(epoch_ms(), key, value, ()) for key, value in records], Codec.NONE)

    def _discard(self) -> None:
        self.epoch += 1
        self.has_piece = False
        self._queues.discard()
        self._untold.clear()

    def _unusable(self, error: int) -> RequestRefused:
        """Return why nobody can own the bundle: no later try can succeed."""
        advice = f": {_ADVICE[error]}" if error in _ADVICE else ""
        return RequestRefused(
            f"transactional id {self.bundle.transactional_id} cannot be used: {error_text.text(error)}{advice}"
        )
