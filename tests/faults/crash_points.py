"""The steps of a transaction at which an owner dies or freezes: contract 10.1.

A process that watches its owners sends itself a signal there, so nothing of it goes on: no thread, no connection.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from compat.laboratory.holding_proxy import Api
from legacy_mm.base.reports import Frame, Progress
from legacy_mm.clients.net.connection import Connection
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.runtime.channel.frames import Pairs
from legacy_mm.transactions.bundle_events import (
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
from legacy_mm.transactions.bundle_owner import BundleOwner
from legacy_mm.transactions.bundle_session import BundleSession, Purpose
from legacy_mm.transactions.txn_requests import (
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
    """A step of an owner: `told` an event, which it has not handled; `does` an action next; `did` it.

    A copy job `does` and `did` a report to the driver, which is in no session.
    """

    when: str
    what: Any
    session: BundleSession | None


class Point(NamedTuple):
    """A step that has a name."""

    fits: Callable[[Step], bool]
    way: str = ""
    """What leads there: `doubt`, `fence`, `markers` or `stop`; else it is passed while records are copied."""
    aborts: bool = False
    """Records of an open transaction are at the target for certain."""
    leaves: bool = False
    """Not at the step, but when the request that it wants is in the socket, and has no answer yet."""


def sends(kind: type[TxnRequest], purpose: Purpose | None = None) -> Callable[[Step], bool]:
    """It wants such a request to be sent."""
    return lambda step: step.when == "does" and isinstance(step.what, Send) and _is(step, kind, purpose)


def answered(kind: type[TxnRequest], purpose: Purpose | None = None) -> Callable[[Step], bool]:
    """It is answered without an error."""
    return lambda step: isinstance(step.what, Answered) and not step.what.error and _is(step, kind, purpose)


def waits_for_markers(step: Step) -> bool:
    """It hears that the transaction which it has ended is not over yet."""
    what = step.what
    is_answer = step.when == "told" and isinstance(what, Answered) and isinstance(what.request, EndTxn)
    return is_answer and what.error == ErrorCode.CONCURRENT_TRANSACTIONS


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


def progresses(when: str) -> Callable[[Step], bool]:
    """A report of offsets that are copied; one without any tells that the job lives."""
    return lambda step: step.when == when and isinstance(step.what, Progress) and bool(step.what.offsets)


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
    transaction = step.session.transaction if step.session else None
    return transaction.purpose if transaction else None


def stopping(step: Step) -> bool:
    """The owner was told to stop."""
    return step.session is not None and step.session.stopping


POINTS = {
    "InitProducerId not sent": Point(sends(InitProducerId)),
    "InitProducerId sent": Point(sends(InitProducerId), leaves=True),
    "InitProducerId answered": Point(answered(InitProducerId)),
    "claim's partitions added": Point(answered(AddPartitionsToTxn, Purpose.CLAIM)),
    "claim sent": Point(appended("does", ClaimBatch), leaves=True),
    "claim appended": Point(appended("told", ClaimBatch)),
    "claim's EndTxn sent": Point(sends(EndTxn, Purpose.CLAIM), leaves=True),
    "claim committed": Point(answered(EndTxn, Purpose.CLAIM)),
    "claim read": Point(is_a("told", PositionsRead)),
    "adoption not committed": Point(sends(EndTxn, Purpose.ADOPT)),
    "adoption committed": Point(answered(EndTxn, Purpose.ADOPT)),
    "fetch begins": Point(is_a("did", FetchFrom)),
    "AddPartitionsToTxn not sent": Point(sends(AddPartitionsToTxn, Purpose.COPY)),
    "AddPartitionsToTxn sent": Point(sends(AddPartitionsToTxn, Purpose.COPY), leaves=True),
    "AddPartitionsToTxn answered": Point(answered(AddPartitionsToTxn, Purpose.COPY)),
    "records sent": Point(appended("does", None), leaves=True),
    "records acknowledged": Point(appended("told", None), aborts=True),
    "positions not sent": Point(appended("does", PositionsBatch), aborts=True),
    "positions sent": Point(appended("does", PositionsBatch), aborts=True, leaves=True),
    "positions acknowledged": Point(appended("told", PositionsBatch), aborts=True),
    "EndTxn not sent": Point(sends(EndTxn, Purpose.COPY), aborts=True),
    "EndTxn sent": Point(sends(EndTxn, Purpose.COPY), leaves=True),
    "EndTxn answered": Point(answered(EndTxn, Purpose.COPY)),
    "report not made": Point(is_a("does", Report)),
    "report made": Point(is_a("did", Report)),
    "offset pairs not told": Point(is_a("does", Pairs)),
    "offset pairs told": Point(is_a("did", Pairs)),
    "progress not told": Point(progresses("does")),
    "progress told": Point(progresses("did")),
    "EndTxn answered with 51": Point(waits_for_markers, "markers"),
    "doubt": Point(is_a("told", Unanswered), "doubt"),
    "doubt, renewal not sent": Point(both(sends(InitProducerId), renews), "doubt"),
    "doubt, renewal sent": Point(both(sends(InitProducerId), renews), "doubt", leaves=True),
    "doubt, renewal answered": Point(both(answered(InitProducerId), renews), "doubt"),
    "fence begins": Point(is_a("does", Discard), "fence"),
    "fence, all is thrown away": Point(is_a("did", Discard), "fence"),
    "stop, EndTxn sent": Point(both(sends(EndTxn), stopping), "stop", leaves=True),
    "stop, EndTxn answered": Point(both(answered(EndTxn), stopping), "stop"),
    "stop, over": Point(is_a("does", End), "stop"),
}


_APIS: dict[type, Api] = {
    InitProducerId: Api.INIT_PRODUCER_ID,
    AddPartitionsToTxn: Api.ADD_PARTITIONS_TO_TXN,
    Append: Api.PRODUCE,
    EndTxn: Api.END_TXN,
}


class _Watch:
    """Looks for a point in what the owners of this process do, and in what its connections send."""

    def __init__(self, point: Point, number: signal.Signals) -> None:
        self._point, self._number = point, number
        self._happened = False
        self._leaving: tuple[Api, bytes] | None = None

    def inspect(self, when: str, what: BundleEvent | BundleAction | Frame, owner: BundleOwner | None = None) -> None:
        """Send the signal at the point, once."""
        if self._happened or not self._point.fits(Step(when, what, owner._session if owner else None)):
            return
        self._happened = True
        if self._point.leaves and owner is not None:
            name = owner.bundle.transactional_id.encode()
            self._leaving = _APIS[type(what.request)], name  # type: ignore[union-attr]  # it is a Send
        else:
            strike_now(self._number)

    def left(self, api: int, request: bytes) -> None:
        """Send the signal if this is the request that the point waits for; `request` names its transactional id."""
        if self._leaving is None:
            return
        wanted, name = self._leaving
        lengths = len(name).to_bytes(2, "big"), bytes([len(name) + 1])  # of a string, and of a compact one
        if api == wanted and any(length + name in request for length in lengths):
            self._leaving = None
            strike_now(self._number)


def strike_now(number: signal.Signals) -> None:
    """Send this process a signal that it obeys before the caller goes on.

    One to the process may reach the main thread first: until that is awake to freeze all, the caller goes on.
    """
    signal.pthread_kill(threading.get_ident(), number)


def strike(name: str, number: signal.Signals) -> None:
    """Let this process send itself a signal when one of its owners comes to the point of this name."""
    watch = _Watch(POINTS[name], number)
    handle, do, report = BundleOwner._handle, BundleOwner._do, Copying._report

    def watched_handle(owner: BundleOwner, event: BundleEvent) -> None:
        watch.inspect("told", event, owner)
        handle(owner, event)

    def watched_do(owner: BundleOwner, action: BundleAction) -> None:
        watch.inspect("does", action, owner)
        do(owner, action)
        watch.inspect("did", action, owner)

    def watched_report(copying: Copying, frame: Frame) -> None:
        watch.inspect("does", frame)
        report(copying, frame)
        watch.inspect("did", frame)

    patch = pytest.MonkeyPatch()
    patch.setattr(BundleOwner, "_handle", watched_handle)
    patch.setattr(BundleOwner, "_do", watched_do)
    patch.setattr(Copying, "_report", watched_report)
    _watch_connections(watch, patch)


def _watch_connections(watch: _Watch, patch: pytest.MonkeyPatch) -> None:
    """Let the watch see each request that was sent: kafka-python's messages, and those that are bytes."""
    ask, send = Connection._ask, Connection.send

    def watched_ask(connection: Connection, request: Any) -> Any:
        found = ask(connection, request)
        for field in ("transactional_id", "v3_and_below_transactional_id"):
            name = str(getattr(request, field, "")).encode()
            watch.left(request.API_KEY, len(name).to_bytes(2, "big") + name)
        return found

    def watched_send(connection: Connection, api: int, version: int, segments: Any, **more: Any) -> None:
        send(connection, api, version, segments, **more)
        watch.left(api, bytes(segments[0]))

    patch.setattr(Connection, "_ask", watched_ask)
    patch.setattr(Connection, "send", watched_send)


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
