"""An engine dies at a named step of a transaction, and another one goes on: contract 10.1, without Spark and a group.

It dies by an error that nobody handles: nothing is flushed and nothing committed, as after SIGKILL. What its threads
had on their way to a broker may still arrive, as it may then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.holding_proxy import Api, HoldingProxy
from legacy_mm.audit.waiting import wait_until
from legacy_mm.clients.native.bundle_owner import BundleOwner
from legacy_mm.errors import LegacyMMError
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
from legacy_mm.exactly_once.transaction_version import TransactionVersion
from legacy_mm.exactly_once.txn_requests import (
    AddPartitionsToTxn,
    Append,
    ClaimBatch,
    EndTxn,
    InitProducerId,
    PositionsBatch,
    TxnRequest,
)
from tests.fixtures.copying import Start
from tests.fixtures.exactly_once import PATIENCE, CopiedOnce, Engines, formatted, named

pytestmark = pytest.mark.faults
RECORDS = 2_000
TWO = TransactionVersion.TWO
SETTINGS = {"fence": {"transaction_timeout": 6.0}, "stop": {"interval": 2.0}}
"""By the way that leads to a point: a transaction is given up soon, or is open when the stop comes."""


class Died(LegacyMMError):
    """The engine's end."""


class Step(NamedTuple):
    """A step of an owner: `told` an event, which it has not handled; `does` an action next; `did` it."""

    when: str
    what: Any
    session: BundleSession


class Point(NamedTuple):
    """Where an engine dies."""

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
IN_THE_SUITE = {"claim appended", "adoption not committed", "EndTxn not sent", "EndTxn sent"}
CASES = [
    pytest.param(
        version,
        name,
        marks=() if version is TWO and name in IN_THE_SUITE else pytest.mark.slow,
        id=f"version {version:d}, {name}",
    )
    for version in TransactionVersion
    for name in POINTS
    if version is not TWO or not re.search("added|AddPartitions|renewal", name)
]


class Crash:
    """Kills the first engine that comes to its point, once."""

    def __init__(self, point: Point) -> None:
        self.happened = False
        self._fits = point.fits

    def look(self, when: str, what: BundleEvent | BundleAction, owner: BundleOwner) -> None:
        """Raise Died at the point."""
        if not self.happened and self._fits(Step(when, what, owner._session)):
            self.happened = True
            raise Died(f"{when} {what}")


@pytest.fixture
def crash(monkeypatch: pytest.MonkeyPatch, name: str) -> Crash:
    """Watch every owner of this process for the point of this name."""
    crash = Crash(POINTS[name])
    handle, do = BundleOwner._handle, BundleOwner._do

    def watched_handle(owner: BundleOwner, event: BundleEvent) -> None:
        crash.look("told", event, owner)
        handle(owner, event)

    def watched_do(owner: BundleOwner, action: BundleAction) -> None:
        crash.look("does", action, owner)
        do(owner, action)
        crash.look("did", action, owner)

    monkeypatch.setattr(BundleOwner, "_handle", watched_handle)
    monkeypatch.setattr(BundleOwner, "_do", watched_do)
    return crash


@pytest.fixture(scope="module")
def proxy() -> Iterator[HoldingProxy]:
    with HoldingProxy() as made:
        yield made


@pytest.fixture(scope="module")
def version(request: pytest.FixtureRequest) -> TransactionVersion:
    made: TransactionVersion = request.param
    return made


@pytest.fixture(scope="module")
def brokers(version: TransactionVersion, proxy: HoldingProxy, module_clusters: Callable[..., Cluster]) -> Cluster:
    return module_clusters(advertise=proxy.before, format_options=formatted(version))


@pytest.mark.parametrize(("version", "name"), CASES, indirect=["version"])
def test_the_engine_dies(
    source: Any,
    version: TransactionVersion,
    brokers: Cluster,
    proxy: HoldingProxy,
    topic: Callable[..., str],
    start_copying: Start,
    name: str,
    crash: Crash,
) -> None:
    copy, way = CopiedOnce(source, brokers, topic("dies")), POINTS[name].way
    engines = Engines(copy, start_copying, brokers.bootstrap_of(PROXIED), **{"interval": 0.2, **SETTINGS.get(way, {})})
    copy.load(RECORDS)
    first = engines.start("first")
    with copy.writing():
        if way:
            first.wait_reached(RECORDS)
        match way:
            case "doubt":
                proxy.lose_answer(Api.END_TXN, client="^first$")
            case "fence":
                proxy.hold(Api.PRODUCE, client="^first$", containing=named(copy.topic, version), cut=False)
            case "stop":
                before = copy.written()
                wait_until(lambda: copy.written() > before + 4, PATIENCE, "more than markers in an open transaction")
                first.engine.stop(PATIENCE)
        wait_until(first.over, PATIENCE, "its end")
        assert (crash.happened, type(first.error)) == (True, Died)
        second = engines.start("second")
        second.wait_reached(copy.total)
    second.wait_reached(copy.total)
    assert second.stop() == {}, second.error
    assert copy.differences() == []
    if POINTS[name].aborts:
        assert copy.aborted() > 0, "nothing was open, so the test shows nothing"
