"""The session of one bundle: from its claim to the commit of each transaction. It decides, and does nothing itself.

**Claim.** (1) The driver says that the group's generation holds the bundle. (2) InitProducerId without an expected
epoch, until it is answered: it ends the transaction of the owner before and fences it. (3) A small transaction writes
a claim record into the bundle's partition of the positions topic. (4) Read that partition, read_committed, until past
the claim record. (5) Where a source partition has no position, commit the adopted one. (6) Only now fetch.

**Transaction.** (1) The first piece opens it. (2) AddPartitionsToTxn for the positions partition and those that have
data. (3) Append, only to partitions whose addition was answered. (4) When the interval is over, take no more pieces;
(5) append the positions. (6) Wait until every batch is acknowledged. (7) EndTxn, until it is answered. (8) Only now
report. In transaction version 2 there is no (2), because Append adds its partition, and (7) is answered with the epoch,
perhaps also the producer id, of the next transaction. A claim decides about the version.

**Doubt.** A request without an answer may still be on its way. (1) Send it again, in the same transaction: a batch has
a sequence number, the rest are sets and states. (2) After the commit get a new epoch, by InitProducerId with the
expected one, before anything else; in version 2 the commit has brought it. (3) If it does not settle in time: Fence.

**Fence.** (1) Send nothing more. (2) Throw away all that was read. (3) Claim, which aborts. An owner that was fenced
does the same. Nothing else ever aborts.

Why no record is lost or doubled: the InitProducerIds of one transactional id that succeed have an order. Each is
followed by a reading of the positions, or follows a commit that was confirmed. When it has succeeded, the transactions
of earlier epochs are over in all logs, and no request of an earlier epoch has an effect. Data and positions commit
together. So the positions have one history.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_events import (
    Answered,
    AskOwnership,
    BundleAction,
    BundleEvent,
    Discard,
    End,
    FetchFrom,
    First,
    HoldPartitions,
    Jumped,
    Owned,
    PieceRead,
    PositionsRead,
    ReadPositions,
    Refuse,
    Report,
    Send,
    Timer,
    Unanswered,
)
from legacy_mm.transactions.txn_errors import Reaction, reaction_to
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    Append,
    ClaimBatch,
    EndTxn,
    InitProducerId,
    Positions,
    PositionsBatch,
    ProducerIdAndEpoch,
    TransactionVersion,
    TxnRequest,
    moved,
)


class BundleState(Enum):
    """The place of a session in its sequences."""

    IDLE = "waits until the driver says that the bundle is ours"
    CLAIMING = "InitProducerId is under way"
    READING = "reads the committed positions"
    READY = "owner; no transaction is open"
    OPEN = "the transaction takes pieces"
    CLOSING = "waits until every batch is acknowledged"
    ENDING = "EndTxn is under way"
    RENEWING = "InitProducerId with the expected epoch is under way"
    OVER = "does nothing more"


class Purpose(Enum):
    """The use of a transaction."""

    CLAIM = "the claim record"
    ADOPT = "the first positions"
    COPY = "records and their positions"


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction, until its commit is confirmed."""

    purpose: Purpose
    next: Positions
    """The positions that it commits."""
    added: frozenset[TopicPartition] = frozenset()
    adding: AddPartitionsToTxn | None = None
    """Under way, one at a time: the coordinator writes the whole list each time."""
    unsent: tuple[Append, ...] = ()
    """They wait until their partitions are added."""
    unanswered: tuple[Append, ...] = ()
    claim_offset: int = -1
    new_id: ProducerIdAndEpoch | None = None
    """The commit's answer, if it has another producer id."""
    doubtful: bool = False

    @property
    def is_settled(self) -> bool:
        """Return True if the target has all of it."""
        return not (self.adding or self.unsent or self.unanswered)


Next = tuple["BundleSession", tuple[BundleAction, ...]]


@dataclass(frozen=True, slots=True)
class BundleSession:
    """A value: `handle` returns the next one, and what to do."""

    bundle: Bundle
    state: BundleState = BundleState.IDLE
    producer: ProducerIdAndEpoch | None = None
    version: TransactionVersion = TransactionVersion.ONE
    """The target spoke it at the last claim."""
    positions: Positions = ()
    """The committed ones, as far as this owner knows."""
    transaction: Transaction | None = None
    renewal: InitProducerId | None = None
    """Under way: the claim's, or that after a doubt."""
    stopping: bool = False

    @classmethod
    def begin(cls, bundle: Bundle) -> Next:
        """Return a new session, which asks for its bundle."""
        return cls(bundle), (AskOwnership(),)

    @property
    def takes_pieces(self) -> bool:
        """Return True if a piece may be given to it."""
        return self.state in (BundleState.READY, BundleState.OPEN) and not self.stopping

    @property
    def commits(self) -> bool:
        """Return True while a transaction with records takes no more pieces and is not over."""
        copying = self.transaction is not None and self.transaction.purpose is Purpose.COPY
        return copying and self.state in (BundleState.CLOSING, BundleState.ENDING, BundleState.RENEWING)

    @property
    def next(self) -> Positions:
        """The begin of the next piece of each source partition."""
        return self.transaction.next if self.transaction else self.positions

    def handle(self, event: BundleEvent) -> Next:
        """Return the session after the event, and what to do. What comes too late changes nothing."""
        match event:
            case Answered() if self._waits_for(event.request):
                return self._on_answer(event)
            case Unanswered(request) if self._waits_for(request):
                return self._on_doubt(request)
            case Owned() if self.state is BundleState.IDLE:
                return self._claim()
            case PositionsRead() if self.state is BundleState.READING:
                return self._on_positions(event)
            case PieceRead() if self.takes_pieces:
                return self._on_piece(event)
            case Jumped() if self.takes_pieces:
                return self._moved(event.partition, event.offset), ()
            case Timer.INTERVAL_OVER if self.state is BundleState.OPEN:
                return self._close()
            case Timer.OVERDUE if self.transaction:
                return self._fence(Discard(Timer.OVERDUE))
            case Timer.STOP if self.state is not BundleState.OVER:
                return self._stop()
        return self, ()

    def _waits_for(self, request: TxnRequest) -> bool:
        transaction = self.transaction
        match request:
            case InitProducerId():
                return request == self.renewal
            case AddPartitionsToTxn():
                return transaction is not None and request == transaction.adding
            case Append():
                return transaction is not None and request in transaction.unanswered
            case EndTxn():
                return self.state is BundleState.ENDING and request == self._end_txn()

    # Claim

    def _claim(self) -> Next:
        request = InitProducerId(self.bundle.transactional_id, None)
        return replace(self, state=BundleState.CLAIMING, renewal=request), (Send(request, First.FIND_COORDINATOR),)

    def _on_producer(self, producer: ProducerIdAndEpoch | None) -> Next:
        """Use a new epoch. A renewal that gives another producer id is worth nothing: the coordinator forgets an
        id that is idle for a week, and with it a later owner.
        """
        if self._is_new(producer):
            return self._fence(Discard(Reaction.FENCED))
        owner = replace(self, producer=producer, renewal=None)
        if self.state is BundleState.CLAIMING:
            return owner._begin(Purpose.CLAIM, owner.positions)._append(self.bundle.positions, ClaimBatch())
        return owner._after_commit()

    def _on_positions(self, read: PositionsRead) -> Next:
        known = replace(self, positions=read.positions)
        if read.adopted:
            positions = tuple(sorted({**dict(read.positions), **dict(read.adopted)}.items()))
            adopting = known._begin(Purpose.ADOPT, positions)
            return adopting._append(self.bundle.positions, PositionsBatch(read.adopted))
        return replace(known, state=BundleState.READY), (FetchFrom(read.positions),)

    # Transaction

    def _begin(self, purpose: Purpose, positions: Positions) -> BundleSession:
        state = BundleState.OPEN if purpose is Purpose.COPY else BundleState.CLOSING
        return replace(self, state=state, transaction=Transaction(purpose, positions))

    def _on_piece(self, piece: PieceRead) -> Next:
        assert dict(self.next)[piece.partition] == piece.begin < piece.end, "a piece begins at the position"
        return self._moved(piece.partition, piece.end)._append_all(piece.batches)

    def _moved(self, partition: TopicPartition, offset: int) -> BundleSession:
        session = self if self.transaction else self._begin(Purpose.COPY, self.positions)
        transaction = session._open()
        return session._with(replace(transaction, next=moved(transaction.next, partition, offset)))

    def _close(self) -> Next:
        """Take no more pieces, and append where the source partitions that took part stand now."""
        before = dict(self.positions)
        changed = tuple(each for each in self._open().next if before[each[0]] != each[1])
        return replace(self, state=BundleState.CLOSING)._append(self.bundle.positions, PositionsBatch(changed))

    def _append(self, partition: TopicPartition, batch: ClaimBatch | PositionsBatch) -> Next:
        return self._append_all(((partition, batch),))

    def _append_all(self, batches: tuple[tuple[TopicPartition, object], ...]) -> Next:
        assert self.producer is not None, "no batch before InitProducerId"
        name, producer = self.bundle.transactional_id, self.producer
        appends = tuple(Append(name, producer, partition, batch, self.version) for partition, batch in batches)
        transaction = self._open()
        return self._with(replace(transaction, unsent=transaction.unsent + appends))._move()

    def _move(self) -> Next:
        """Send what may be sent: batches for added partitions, the addition of others, the end."""
        transaction = self._open()
        ready = tuple(filter(self._may_be_sent, transaction.unsent))
        actions: tuple[BundleAction, ...] = tuple(map(Send, ready))
        left = tuple(each for each in transaction.unsent if not self._may_be_sent(each))
        adding = transaction.adding
        if left and not adding:
            assert self.producer is not None
            wanted = {each.partition for each in left} | ({self.bundle.positions} - transaction.added)
            adding = AddPartitionsToTxn(self.bundle.transactional_id, self.producer, frozenset(wanted))
            actions += (Send(adding),)
        transaction = replace(transaction, unsent=left, unanswered=transaction.unanswered + ready, adding=adding)
        if self.state is BundleState.CLOSING and transaction.is_settled:
            return replace(self._with(transaction), state=BundleState.ENDING), (*actions, Send(self._end_txn()))
        return self._with(transaction), actions

    def _may_be_sent(self, request: Append) -> bool:
        return self.version.adds_partitions or request.partition in self._open().added

    def _on_commit(self, producer: ProducerIdAndEpoch | None) -> Next:
        """Report, and go on with the epoch that the commit brought.

        Where it brought none, renew it if a copy of a request may still come and this owner goes on. A new producer id
        counts when all markers are written, and only then the same question has the same answer.
        """
        transaction = self._open()
        if self._is_new(producer) and producer != transaction.new_id:
            return self._with(replace(transaction, new_id=producer)), (Send(self._end_txn(), First.PAUSE),)
        session = replace(self, positions=transaction.next, producer=producer or self.producer)
        report: tuple[BundleAction, ...] = (Report(transaction.next),) if transaction.purpose is Purpose.COPY else ()
        renews = transaction.doubtful and producer is None and not self.stopping
        session, actions = session._renew() if renews else session._after_commit()
        return session, (*report, *actions)

    def _renew(self) -> Next:
        request = InitProducerId(self.bundle.transactional_id, self.producer)
        return replace(self, state=BundleState.RENEWING, renewal=request), (Send(request, First.PAUSE),)

    def _after_commit(self) -> Next:
        transaction = self._open()
        ended = replace(self, transaction=None)
        if self.stopping:
            return replace(ended, state=BundleState.OVER), (End(),)
        if transaction.purpose is Purpose.CLAIM:
            return replace(ended, state=BundleState.READING), (ReadPositions(transaction.claim_offset),)
        ready = replace(ended, state=BundleState.READY)
        return ready, (FetchFrom(self.positions),) if transaction.purpose is Purpose.ADOPT else ()

    # Answers, and none

    def _on_answer(self, answer: Answered) -> Next:
        request, error = answer.request, answer.error
        match reaction_to(request, error):
            case Reaction.GO_ON:
                return self._on_done(answer)
            case Reaction.AGAIN:
                return self, (Send(request, First.PAUSE),)
            case Reaction.FIND_COORDINATOR:
                return self, (Send(request, First.FIND_COORDINATOR),)
            case Reaction.REFUSED:
                return self, (Refuse(request, error),)
            case Reaction.END:
                return replace(self, state=BundleState.OVER, transaction=None, renewal=None), (End(error),)
            case Reaction.UNWRITABLE:
                session, actions = self._fence(Discard(Reaction.UNWRITABLE, error))
                return session, (HoldPartitions(answer.refused, error), *actions)
            case reaction:
                return self._fence(Discard(reaction, error))

    def _on_done(self, answer: Answered) -> Next:
        match answer.request:
            case InitProducerId(_, expected):
                speaks = self.version if expected else answer.version
                return replace(self, version=speaks)._on_producer(answer.producer)
            case EndTxn():
                return self._on_commit(answer.producer)
            case AddPartitionsToTxn() as request:
                transaction = self._open()
                added = transaction.added | request.partitions
                return self._with(replace(transaction, added=added, adding=None))._move()
            case Append() as request:
                return self._on_appended(request, answer)

    def _on_appended(self, request: Append, answer: Answered) -> Next:
        transaction = self._open()
        left = tuple(each for each in transaction.unanswered if each != request)
        transaction = replace(transaction, unanswered=left)
        if isinstance(request.batch, ClaimBatch):
            if answer.offset < 0:  # until where to read is not known
                return self._fence(Discard(Reaction.FENCE, answer.error))
            transaction = replace(transaction, claim_offset=answer.offset)
        return self._with(transaction)._move()

    def _on_doubt(self, request: TxnRequest) -> Next:
        """Send it again. Only a late InitProducerId does no harm: it fences, and that is noticed."""
        session = self
        if not isinstance(request, InitProducerId):
            session = self._with(replace(self._open(), doubtful=True))
        first = First.PAUSE if isinstance(request, Append) else First.FIND_COORDINATOR
        return session, (Send(request, first),)

    # The ends

    def _fence(self, discard: Discard) -> Next:
        """Give up the epoch with everything that hangs on it. The positions are read anew by the next claim."""
        fresh = replace(self, state=BundleState.IDLE, producer=None, positions=(), transaction=None, renewal=None)
        if self.stopping:
            return replace(fresh, state=BundleState.OVER), (discard, End())
        return fresh, (discard, AskOwnership())

    def _stop(self) -> Next:
        """Commit what is open; before the first transaction, just end."""
        copying = self.transaction is not None and self.transaction.purpose is Purpose.COPY
        if not copying:
            return replace(self, state=BundleState.OVER, transaction=None, renewal=None), (End(),)
        session = replace(self, stopping=True)
        return session._close() if self.state is BundleState.OPEN else (session, ())

    def _is_new(self, producer: ProducerIdAndEpoch | None) -> bool:
        """Return True for another producer id than this owner has."""
        return bool(self.producer and producer and self.producer.producer_id != producer.producer_id)

    def _open(self) -> Transaction:
        assert self.transaction is not None, "no transaction is open"
        return self.transaction

    def _with(self, transaction: Transaction) -> BundleSession:
        return replace(self, transaction=transaction)

    def _end_txn(self) -> EndTxn:
        assert self.producer is not None
        return EndTxn(self.bundle.transactional_id, self.producer, self.version)
