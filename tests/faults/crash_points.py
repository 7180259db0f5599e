"""The steps of a transaction at which an owner dies or freezes: contract 10.1.

A process that watches its owners sends itself a signal there, so nothing of it goes on: no thread, no connection.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from legacy_mm.clients.native.bundle_owner import BundleOwner
from legacy_mm.control_channel.frames import Frame, Progress
from legacy_mm.exactly_once.bundle_events import (
    Answered,
    BundleAction,
    BundleEvent,
    Discard,
    End,
    FetchFrom,
    PositionsRead,
    Report,
    Send,
    Unanswered,
)
from legacy_mm.exactly_once.bundle_session import BundleSession, Purpose
from legacy_mm.exactly_once.txn_requests import (
    AddPartitionsToTxn,
    Append,
    ClaimBatch,
    EndTxn,
    InitProducerId,
    PositionsBatch,
    TxnRequest,
)
from tests.fixtures.copying import Copying


class Step(NamedTuple):
    """A step of an owner: `told` an event, which it has not handled; `does` an action next; `did` it."""

    when: str
    what: Any
    session: BundleSession


class Point(NamedTuple):
    """A step that has a name."""

    fits: Callable[[Step], bool]
    way: str = ""
    """What leads there: `doubt`, `fence` or `stop`; else it is passed while records are copied."""
    aborts: bool = False
    """Records of an open transaction are at the target for certain."""


def sends(when: str, kind: type[TxnRequest], purpose: Purpose | None = None) -> Callable[[Step], bool]:
    """Before (`does`) or after (`did`) such a request is sent."""
    return lambda step: step.when == when and isinstance(step.what, Send) and _is(step, kind, purpose)


def answered(kind: type[TxnRequest], purpose: Purpose | None = None) -> Callable[[Step], bool]:
    """It is answered without an error."""
    return lambda step: isinstance(step.what, Answered) and not step.what.error and _is(step, kind, purpose)


def appended(when: str, batch: type | None) -> Callable[[Step], bool]:
    """So with a batch: of the claim, of positions, or (None) of records."""

    def fits(step: Step) -> bool:
        request = getattr(step.what, "request", None)
        own = isinstance(request, Append) and isinstance(request.batch, ClaimBatch | PositionsBatch)
        kind = isinstance(request, Append) and (isinstance(request.batch, batch) if batch else not own)
        return kind and step.when == when and (batch is ClaimBatch or _purpose(step) is Purpose.COPY)

    return fits


def is_a(when: str, kind: type) -> Callable[[Step], bool]:
    """Any such event or action."""
    return lambda step: step.when == when and isinstance(step.what, kind)


def both(*wanted: Callable[[Step], bool]) -> Callable[[Step], bool]:
    """All of these."""
    return lambda step: all(each(step) for each in wanted)


def renews(step: Step) -> bool:
    """It is an InitProducerId with an expected epoch."""
    request = getattr(step.what, "request", None)
    return isinstance(request, InitProducerId) and request.expected is not None


def _is(step: Step, kind: type[TxnRequest], purpose: Purpose | None) -> bool:
    return isinstance(step.what.request, kind) and purpose in (None, _purpose(step))


def _purpose(step: Step) -> Purpose | None:
    return step.session.transaction.purpose if step.session.transaction else None


def stopping(step: Step) -> bool:
    """The owner was told to stop."""
    return step.session.stopping


POINTS = {
    "InitProducerId not sent": Point(sends("does", InitProducerId)),
    "InitProducerId sent": Point(sends("did", InitProducerId)),
    "InitProducerId answered": Point(answered(InitProducerId)),
    "claim's partitions added": Point(answered(AddPartitionsToTxn, Purpose.CLAIM)),
    "claim sent": Point(appended("did", ClaimBatch)),
    "claim appended": Point(appended("told", ClaimBatch)),
    "claim's EndTxn sent": Point(sends("did", EndTxn, Purpose.CLAIM)),
    "claim committed": Point(answered(EndTxn, Purpose.CLAIM)),
    "claim read": Point(is_a("told", PositionsRead)),
    "adoption not committed": Point(sends("does", EndTxn, Purpose.ADOPT)),
    "adoption committed": Point(answered(EndTxn, Purpose.ADOPT)),
    "fetch begins": Point(is_a("did", FetchFrom)),
    "AddPartitionsToTxn not sent": Point(sends("does", AddPartitionsToTxn, Purpose.COPY)),
    "AddPartitionsToTxn sent": Point(sends("did", AddPartitionsToTxn, Purpose.COPY)),
    "AddPartitionsToTxn answered": Point(answered(AddPartitionsToTxn, Purpose.COPY)),
    "records sent": Point(appended("did", None)),
    "records acknowledged": Point(appended("told", None), aborts=True),
    "positions not sent": Point(appended("does", PositionsBatch), aborts=True),
    "positions sent": Point(appended("did", PositionsBatch), aborts=True),
    "positions acknowledged": Point(appended("told", PositionsBatch), aborts=True),
    "EndTxn not sent": Point(sends("does", EndTxn, Purpose.COPY), aborts=True),
    "EndTxn sent": Point(sends("did", EndTxn, Purpose.COPY)),
    "EndTxn answered": Point(answered(EndTxn, Purpose.COPY)),
    "report not made": Point(is_a("does", Report)),
    "report made": Point(is_a("did", Report)),
    "doubt": Point(is_a("told", Unanswered), "doubt"),
    "doubt, renewal not sent": Point(both(sends("does", InitProducerId), renews), "doubt"),
    "doubt, renewal sent": Point(both(sends("did", InitProducerId), renews), "doubt"),
    "doubt, renewal answered": Point(both(answered(InitProducerId), renews), "doubt"),
    "fence begins": Point(is_a("does", Discard), "fence"),
    "fence, all is thrown away": Point(is_a("did", Discard), "fence"),
    "stop, EndTxn sent": Point(both(sends("did", EndTxn), stopping), "stop"),
    "stop, EndTxn answered": Point(both(answered(EndTxn), stopping), "stop"),
    "stop, over": Point(is_a("does", End), "stop"),
}


class _Watch:
    """Looks for a point in what the owners of this process do."""

    def __init__(self, point: Point, number: signal.Signals) -> None:
        self._fits, self._number = point.fits, number
        self._happened = False

    def look(self, when: str, what: BundleEvent | BundleAction, owner: BundleOwner) -> None:
        """Send the signal at the point, once."""
        if not self._happened and self._fits(Step(when, what, owner._session)):
            self._happened = True
            strike_now(self._number)


def strike_now(number: signal.Signals) -> None:
    """Send this process a signal that it obeys before the caller goes on.

    One to the process may reach the main thread first: until that is awake to freeze all, the caller goes on.
    """
    signal.pthread_kill(threading.get_ident(), number)


def strike(name: str, number: signal.Signals) -> None:
    """Let this process send itself a signal when one of its owners comes to the point of this name."""
    watch = _Watch(POINTS[name], number)
    handle, do = BundleOwner._handle, BundleOwner._do

    def watched_handle(owner: BundleOwner, event: BundleEvent) -> None:
        watch.look("told", event, owner)
        handle(owner, event)

    def watched_do(owner: BundleOwner, action: BundleAction) -> None:
        watch.look("does", action, owner)
        do(owner, action)
        watch.look("did", action, owner)

    patch = pytest.MonkeyPatch()
    patch.setattr(BundleOwner, "_handle", watched_handle)
    patch.setattr(BundleOwner, "_do", watched_do)


def strike_untold(count: int, number: signal.Signals) -> None:
    """Let this process send itself a signal, once, before it tells that the target has more than so many offsets."""
    struck: list[int] = []
    report = Copying._report

    def watched(copying: Copying, frame: Frame) -> None:
        if isinstance(frame, Progress) and not struck:
            reached = sum({**copying.safe, **frame.offsets}.values())
            if reached > count:
                struck.append(reached)
                strike_now(number)
        report(copying, frame)

    pytest.MonkeyPatch().setattr(Copying, "_report", watched)
