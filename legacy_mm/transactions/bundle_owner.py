"""The owner of a bundle at work: a session decides (`transactions/bundle_session.py`), and this does what it decides.

All owners of a process share a `TransactionClient`: one appender, the conversations with coordinators, and the events
that threads put there for the one thread that calls `poll`.

Data is told to a session by the transaction and not by the batch: one `Append` for each target partition stands for all
batches that go there. It counts as answered when the transaction takes no more pieces and the target has all of them.
Queues send a batch again by themselves, always with the same sequence number; what they met becomes a doubt of the
session before the answer does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from legacy_mm.base.clock import epoch_ms, monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import RequestRefused
from legacy_mm.clients.produce.appender import BatchAppender
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
from legacy_mm.transactions.linger import Linger
from legacy_mm.transactions.position_records import PositionsRecord
from legacy_mm.transactions.standstill import Standstill
from legacy_mm.transactions.transactional_queue import TransactionalQueue
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


class BundleWork(Protocol):
    """The work of a bundle's owner beside its transactions. The polling thread calls all but `decide_positions`."""

    def ask_ownership(self) -> None:
        """Find out whether the bundle is ours, then tell the owner `Owned`."""

    def claim(self) -> PositionsRecord:
        """Return the record of a new owner."""

    def decide_positions(self, rows: Iterable[LogRow]) -> tuple[Positions, Positions]:
        """Return the positions in these committed records, and those to adopt. Called on a thread of its own.

        Raise ConnectionLost or ClusterUnreachable where a later try may succeed.
        """

    def position_records(self, positions: Positions) -> Sequence[PositionsRecord]:
        """Return the records that move positions."""

    def fetch_from(self, positions: Positions) -> None:
        """Read the source from these positions on."""

    def committed(self, positions: Positions) -> None:
        """Note that everything below these positions is committed."""

    def discarded(self, discard: Discard) -> None:
        """Throw away all that was read and is not committed."""

    def hold(self, partitions: Collection[TopicPartition], error: int) -> None:
        """Note that the coordinator refuses these target partitions."""

    def over(self, error: int) -> None:
        """Note that the owner does nothing more; 0: it was told to stop."""


class _Records(NamedTuple):
    """All batches of a transaction for a partition."""

    transaction: int


_ADVICE: Mapping[int, str] = {
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "lower exactly.once.transaction.timeout.ms to the target's "
    "transaction.max.timeout.ms at most",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "the mirror needs the right Write on transactional ids that begin "
    "with legacy-mm.",
    ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT: "a topic that it writes to keeps a format without transactions; its "
    "message.format.version must be 0.11.0 or later",
}


def id_refused(bundle: Bundle, error: int) -> RequestRefused:
    """Return why nobody can own a bundle: no later try can succeed."""
    advice = f": {_ADVICE[error]}" if error in _ADVICE else ""
    return RequestRefused(
        f"transactional id {bundle.transactional_id} cannot be used: {error_text.text(error)}{advice}"
    )


class OwnBatch(NamedTuple):
    """A batch of an owner's own records, on its way to the positions topic."""

    owner: BundleOwner
    request: Append


class OwnerServices(Protocol):
    """The things that all owners of a process share."""

    appender: BatchAppender
    coordinators: TxnCoordinators
    transaction_timeout: float
    """Seconds."""
    wake: Callable[[], None]
    """Lets the thread that tends look around; from any thread."""

    def read(self, bundle: Bundle, past: int, work: BundleWork) -> None:
        """Read the bundle's positions until past this offset, and tell the owner; returns at once."""


class BundleOwner:
    """One bundle, from its claim to the end of its session."""

    def __init__(self, client: OwnerServices, bundle: Bundle, work: BundleWork, interval: float) -> None:
        self.bundle = bundle
        self.epoch = 0
        """Counts how often all that was read was thrown away."""
        self.doubtful = 0
        """Counts committed transactions of which a request got no answer at first."""
        self.busy = False
        """True while a piece is handed over, which no transaction may end in the middle of."""
        self._client = client
        self._work = work
        self._interval = interval
        timeout = client.transaction_timeout
        self._longest = timeout - min(_MARGIN, timeout / _MARGIN_SHARE)
        self._session, self._first_actions = BundleSession.begin(bundle)
        self._queues: dict[TopicPartition, TransactionalQueue] = {}
        self._data: dict[TopicPartition, Append | None] = {}
        """Target partitions with data in this transaction, and the requests that stand for it once they are sent."""
        self._linger = Linger(client.appender)
        self._standstill = Standstill(bundle)
        self._own: set[Append] = set()
        self._next: dict[TopicPartition, int] = {}
        self._untold: set[TopicPartition] = set()
        self._transactions = 0
        self._began = 0.0
        self._events: deque[BundleEvent] = deque()
        self._handling = False

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
        return 0.0 if self._session.transaction is None else now - self._began

    def begin(self) -> None:
        """Ask for the bundle."""
        for action in self._first_actions:
            self._do(action)

    # --- pieces

    def next(self, partition: TopicPartition) -> int:
        """Return the begin of the next piece of a source partition."""
        return self._next[partition]

    def piece(self, partition: TopicPartition, end: int, targets: Iterable[TopicPartition]) -> bool:
        """Take the records up to `end`, which go to these target partitions; their batches follow.

        Return False if nothing of it is new: then none may follow. A session hears of a piece at once only where the
        transaction begins or reaches another target partition.
        """
        if end <= self._next[partition]:
            return False
        new = [each for each in targets if each not in self._data]
        begins = self._session.transaction is None
        self._next[partition] = end
        self._untold.add(partition)
        if new or begins:
            self._transactions += begins
            self._data |= dict.fromkeys(new)
            self._tell_piece(partition, tuple((each, _Records(self._transactions)) for each in new))
        return True

    def passed(self, partition: TopicPartition, end: int) -> None:
        """Move the end of the last piece to `end`, behind what holds no records, while a transaction is open."""
        if self._session.transaction is not None and end > self._next[partition]:
            self._next[partition] = end
            self._untold.add(partition)

    def jump(self, partition: TopicPartition, offset: int) -> None:
        """Let the next piece of a source partition begin here, before or behind the end of the last one."""
        self._tell_pieces()
        self._transactions += self._session.transaction is None
        self._next[partition] = offset
        self.handle(Jumped(partition, offset))

    def append(self, target: TopicPartition, batch: RecordBatch, opaque: Any) -> None:
        """Add a batch of the last piece, to a partition that was named with it; a little of an open transaction
        lingers.
        """
        self._linger.append(self._queue(target), batch, opaque)
        self._flush_unless_open()

    def stop(self) -> None:
        """Commit what is open, then end."""
        self._tell_pieces()
        self.handle(Timer.STOP)

    def give_up(self) -> None:
        """Give up the transaction: a piece is not complete and never will be."""
        self.handle(Timer.OVERDUE)

    def _tell_piece(self, partition: TopicPartition, batches: tuple[tuple[TopicPartition, _Records], ...]) -> None:
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
        hangs = self._client.coordinators.hangs  # which is told with more
        if self._standstill.is_due(self.state, now) and not hangs(self.bundle.transactional_id):
            self._standstill.tell(self.state)
        if self._session.transaction is None:
            return
        self._linger.poll(now)
        if now - self._began >= self._longest:
            self.handle(Timer.OVERDUE)
        elif not self.busy:
            self._move_on(now)

    def _move_on(self, now: float) -> None:
        if self.state is BundleState.OPEN and now - self._began >= self._interval:
            self._tell_pieces()
            self.handle(Timer.INTERVAL_OVER)
        if self.state is BundleState.CLOSING:
            with self._client.appender.lock:  # else a batch that a sender has in hand is in no place
                settled = [each for each, request in self._data.items() if request and self._queues[each].is_settled]
            for partition in settled:
                if request := self._data.get(partition):
                    self._answered(request, self._queues[partition])
                    self._data[partition] = None  # last: a doubt admits the request once more

    def written(self, request: Append, offset: int) -> None:
        """Note that the target has a batch of our own records, from this offset on (-1: unknown)."""
        if request in self._own:
            self._answered(request, self._queues[request.partition], offset)
            self._own.discard(request)  # last: a doubt admits the request once more

    def refused(self, refused: ProducerBatch) -> bool:
        """Handle a refused batch; return False if it was refused for the sake of its records."""
        code, own = refused.refusal, isinstance(refused.opaque, OwnBatch)
        request = refused.opaque.request if own else self._data.get(refused.queue.partition)
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
            self._client.appender.replace(refused, [(refused.batch, refused.opaque)])
        else:
            self.handle(Answered(request, code, refused=frozenset({refused.queue.partition})))
        return True

    def _answered(self, request: Append, queue_: TransactionalQueue, offset: int = -1) -> None:
        if queue_.doubtful:
            self.handle(Unanswered(request))
        self.handle(Answered(request, offset=offset))

    def _handle(self, event: BundleEvent) -> None:
        before, (self._session, actions) = self._session, self._session.handle(event)
        session = self._session
        if session.transaction is not None and before.transaction is None:
            self._began = monotonic()
        if session.state is BundleState.CLOSING and before.state is not BundleState.CLOSING:
            for each in self._queues.values():
                each.on_settled = self._client.wake
        if before.state is BundleState.ENDING and session.state is not BundleState.ENDING:
            if before.transaction is not None and session.state not in (BundleState.IDLE, BundleState.OVER):
                self.doubtful += before.transaction.doubtful
            self._transaction_over()
        if before.producer and session.producer and session.producer != before.producer:
            for each in self._queues.values():
                each.renewed(session.producer)
        for action in actions:
            self._do(action)
        self._flush_unless_open()

    def _flush_unless_open(self) -> None:
        """Send all that lingers, unless more of it may follow."""
        if self.state is not BundleState.OPEN:
            self._linger.flush()

    def _transaction_over(self) -> None:
        self._data.clear()
        for each in self._queues.values():
            each.transaction_over()

    # --- actions

    def _do(self, action: BundleAction) -> None:
        work, client = self._work, self._client
        match action:
            case Send(Append() as request):
                self._admit(request)
            case Send(InitProducerId() | AddPartitionsToTxn() | EndTxn() as request, first):
                client.coordinators.ask(request, first)
            case AskOwnership():
                work.ask_ownership()
            case ReadPositions(past):
                client.read(self.bundle, past, work)
            case FetchFrom(positions):
                self._next = dict(positions)
                work.fetch_from(positions)
            case Report(positions):
                work.committed(positions)
            case HoldPartitions(partitions, error):
                work.hold(partitions, error)
            case Discard():
                self._discard()
                work.discarded(action)
            case End(error):
                work.over(error)
            case Refuse():
                raise AssertionError("records are refused to the engine, not to the session")

    def _admit(self, request: Append) -> None:
        """Let the batches of a request be sent; again and again changes nothing."""
        queue_ = self._queue(request.partition)
        if isinstance(request.batch, _Records):
            self._data[request.partition] = request
        elif request not in self._own:
            self._own.add(request)
            self._linger.append(queue_, self._batch(request), OwnBatch(self, request))
        queue_.added = True
        self._client.appender.release(queue_)

    def _batch(self, request: Append) -> RecordBatch:
        match request.batch:
            case ClaimBatch():
                records: Sequence[PositionsRecord] = [self._work.claim()]
            case PositionsBatch(positions):
                records = self._work.position_records(positions)
        return batch_of([SingleRecord(epoch_ms(), key, value, ()) for key, value in records], Codec.NONE)

    def _queue(self, partition: TopicPartition) -> TransactionalQueue:
        found = self._queues.get(partition)
        if found is None:
            producer, version = self._session.producer, self._session.version
            assert producer is not None, "no batch before InitProducerId"
            in_flight = self._client.appender.options.in_flight
            found = TransactionalQueue(partition, self.bundle.transactional_id, producer, in_flight, version)
            if self.state is BundleState.CLOSING:
                found.on_settled = self._client.wake
            self._queues[partition] = found
            self._client.appender.follow(found)
        return found

    def _discard(self) -> None:
        self.epoch += 1
        for each in self._queues.values():
            self._client.appender.abandon(each)
        self._linger.forget()
        self._queues.clear()
        self._data.clear()
        self._own.clear()
        self._untold.clear()
