"""Sessions that differ from the product's in one rule. The model must find what each breaks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from legacy_mm.protocol.error_codes import ErrorCode as E
from legacy_mm.transactions.bundle_events import (
    Discard,
    FetchFrom,
    First,
    ReadPositions,
    Report,
    Send,
    Timer,
)
from legacy_mm.transactions.bundle_session import BundleSession, BundleState, Next, Purpose, Transaction
from legacy_mm.transactions.txn_requests import Append, EndTxn, InitProducerId, ProducerIdAndEpoch
from tests.unit.transactions.world import COMMITS, TWO, Faults, Setting


class ReadsBeforeInit(BundleSession):
    """Position read before InitProducerId."""

    def _claim(self) -> Next:
        return replace(self, state=BundleState.READING), (ReadPositions(-1),)

    def _on_positions(self, read) -> Next:
        if self.producer is None:
            early = tuple(sorted(read.positions + read.adopted))
            return BundleSession._claim(replace(self, positions=early))
        return super()._on_positions(replace(read, positions=self.positions))


class ReadsOnce(BundleSession):
    """No reading after a new epoch."""

    def _fence(self, discard: Discard) -> Next:
        session, actions = super()._fence(discard)
        return replace(session, positions=self.positions), actions

    def _after_commit(self) -> Next:
        if self._open().purpose is Purpose.CLAIM and self.positions:
            ready = replace(self, transaction=None, state=BundleState.READY)
            return ready, (FetchFrom(self.positions),)
        return super()._after_commit()


@dataclass(frozen=True, slots=True)
class AbortTxn(EndTxn):
    """EndTxn(abort)."""


COMMITS[AbortTxn] = False


class Aborts(BundleSession):
    """EndTxn(abort) and the same epoch."""

    def _fence(self, discard: Discard) -> Next:
        if discard.why is not Timer.OVERDUE or self._open().purpose is not Purpose.COPY:
            return super()._fence(discard)
        aborting = replace(self, state=BundleState.ENDING, transaction=Transaction(Purpose.COPY, self.positions))
        return aborting, (discard, Send(aborting._end_txn()))

    def _end_txn(self) -> EndTxn:
        wanted = super()._end_txn()
        aborts = self._open().next == self.positions and self._open().purpose is Purpose.COPY
        return AbortTxn(wanted.transactional_id, wanted.producer) if aborts else wanted


class NeverRenews(BundleSession):
    """No RENEWING after doubt."""

    def _renew(self) -> Next:
        return self._after_commit()


class CommitsUnknown(BundleSession):
    """Commit with an unknown batch: one whose answer did not come."""

    def _on_doubt(self, request) -> Next:
        if isinstance(request, Append) and request.partition != self.bundle.positions:
            transaction = self._open()
            left = tuple(each for each in transaction.unanswered if each != request)
            return self._with(replace(transaction, unanswered=left, doubtful=True))._move()
        return super()._on_doubt(request)


class ProducesBeforeAdded(BundleSession):
    """Produce before AddPartitions was answered."""

    def _move(self) -> Next:
        session, actions = super()._move()
        transaction = session._open()
        early = transaction.unsent
        transaction = replace(transaction, unsent=(), unanswered=transaction.unanswered + early)
        return session._with(transaction), (*actions, *map(Send, early))


class ExpectsWhenOpen(BundleSession):
    """Expected epoch on an open transaction."""

    def _fence(self, discard: Discard) -> Next:
        if discard.why is not Timer.OVERDUE:
            return super()._fence(discard)
        request = InitProducerId(self.bundle.transactional_id, self.producer)
        fenced = replace(self, state=BundleState.CLAIMING, transaction=None, renewal=request, positions=())
        return fenced, (discard, Send(request, First.PAUSE))


class ReportsEarly(BundleSession):
    """Report before EndTxn is answered."""

    def _move(self) -> Next:
        session, actions = super()._move()
        transaction = session._open()
        if session.state is BundleState.ENDING and transaction.purpose is Purpose.COPY:
            actions += (Report(transaction.next),)
        return session, actions


class RenewsNoClaim(BundleSession):
    """No RENEWING where the doubt is about the claim."""

    def _renew(self) -> Next:
        return self._after_commit() if self._open().purpose is Purpose.CLAIM else super()._renew()


class RenewsWithoutExpecting(BundleSession):
    """RENEWING without the expected epoch."""

    def _renew(self) -> Next:
        request = InitProducerId(self.bundle.transactional_id, None)
        return replace(self, state=BundleState.RENEWING, renewal=request), (Send(request, First.PAUSE),)


class TakesAnotherId(BundleSession):
    """RENEWING goes on with another producer id."""

    def _on_producer(self, producer) -> Next:
        return super(TakesAnotherId, replace(self, producer=producer))._on_producer(producer)


class KeepsEpoch(BundleSession):
    """The epoch of before EndTxn."""

    def _on_commit(self, producer) -> Next:
        return super()._on_commit(None)


class KeepsId(BundleSession):
    """The producer id of before EndTxn, with the epoch of the new one."""

    def _on_commit(self, producer) -> Next:
        assert self.producer is not None
        return super()._on_commit(producer and ProducerIdAndEpoch(self.producer.producer_id, producer.epoch))


class UsesNewIdAtOnce(BundleSession):
    """A new producer id before the markers of the old one are written."""

    def _is_new(self, producer) -> bool:
        return self.state is not BundleState.ENDING and super()._is_new(producer)


class TakesStateForCommit(BundleSession):
    """INVALID_TXN_STATE as the answer of a commit that is done."""

    def _on_answer(self, answer) -> Next:
        if isinstance(answer.request, EndTxn) and answer.error == E.INVALID_TXN_STATE:
            return self._on_commit(None)
        return super()._on_answer(answer)


MUTANTS = {
    "position read before InitProducerId": Setting(Faults(claims=1), (1,), session=ReadsBeforeInit),
    "no reading after a new epoch": Setting(Faults(doubts=1, overdue=1), (1,), session=ReadsOnce),
    "EndTxn(abort) and the same epoch": Setting(Faults(doubts=1, overdue=1), (1,), session=Aborts),
    "no RENEWING after doubt": Setting(Faults(doubts=1), (1,), session=NeverRenews),
    "commit with an unknown batch": Setting(Faults(doubts=1), (1,), session=CommitsUnknown),
    "Produce before AddPartitions was answered": Setting(Faults(crashes=1), (1,), session=ProducesBeforeAdded),
    "two values of B": Setting(owners=(1, 2)),
    "expected epoch on an open transaction": Setting(Faults(overdue=1), (1,), session=ExpectsWhenOpen),
    "report before EndTxn is answered": Setting(Faults(), (1,), session=ReportsEarly),
    "no RENEWING after a doubtful claim": Setting(Faults(doubts=1), (1,), session=RenewsNoClaim),
    "RENEWING without the expected epoch": Setting(Faults(claims=1, doubts=1), (1,), session=RenewsWithoutExpecting),
    "RENEWING goes on with another producer id": Setting(
        Faults(claims=1, doubts=1, expiries=1), (1,), session=TakesAnotherId
    ),
}

IN_BOTH = (
    "position read before InitProducerId",
    "no reading after a new epoch",
    "commit with an unknown batch",
    "two values of B",
    "expected epoch on an open transaction",
    "report before EndTxn is answered",
)
"""The others break a rule that transaction version 2 does not need: its brokers keep it."""
MUTANTS_2 = {name: replace(MUTANTS[name], level=TWO) for name in IN_BOTH} | {
    "the epoch of before EndTxn": Setting(Faults(), (1,), session=KeepsEpoch, level=TWO),
    "the producer id of before EndTxn": Setting(Faults(), (2,), session=KeepsId, level=TWO, last_epoch=3),
    "a new producer id at once": Setting(Faults(), (2,), session=UsesNewIdAtOnce, level=TWO, last_epoch=3, whole=False),
    "INVALID_TXN_STATE taken for a commit": Setting(Faults(time_outs=1), (1,), session=TakesStateForCommit, level=TWO),
}
