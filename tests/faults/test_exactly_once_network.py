"""Requests of transactions that are lost, unanswered or late, at real brokers, with the engine that sends them.

`late`: the owner has long sent it again, and goes on, when it arrives. `late_to_another`: somebody else has claimed the
bundle by then. `late_from_the_dead`: its sender waited for the answer, and died. `silent`: as `late`, but no connection
breaks; the answer just does not come in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.holding_proxy import Api, HeldRequest, HoldingProxy, RequestRule
from legacy_mm.audit.waiting import wait_until
from legacy_mm.transactions import bundle_owner
from legacy_mm.transactions.txn_requests import TransactionVersion
from tests.fixtures.copying import Start
from tests.fixtures.exactly_once import PATIENCE, BrokersOf, CopiedOnce, Engines, formatted, named
from tests.unit.transactions.mutants import NeverRenews

pytestmark = pytest.mark.faults
RECORDS = 2_000
INTERVAL = 0.2
ONE, TWO = TransactionVersion
FAULTS = ["lost", "unanswered", "late", "silent", "late_to_another", "late_from_the_dead"]


@dataclass(frozen=True)
class Moment:
    """A request in the life of an engine."""

    api: Api
    claims: bool = False
    """The first such request of a claim; else while records are copied."""
    about: str = ""
    """`data` or `positions`: it names this topic."""
    renews: bool = False
    """After a doubt: an EndTxn before it has no answer."""


MOMENTS = {
    "claim, InitProducerId": Moment(Api.INIT_PRODUCER_ID, claims=True),
    "claim, AddPartitionsToTxn": Moment(Api.ADD_PARTITIONS_TO_TXN, claims=True),
    "claim, Produce": Moment(Api.PRODUCE, claims=True),
    "claim, EndTxn": Moment(Api.END_TXN, claims=True),
    "AddPartitionsToTxn": Moment(Api.ADD_PARTITIONS_TO_TXN),
    "Produce of records": Moment(Api.PRODUCE, about="data"),
    "Produce of positions": Moment(Api.PRODUCE, about="positions"),
    "EndTxn": Moment(Api.END_TXN),
    "renewal, InitProducerId": Moment(Api.INIT_PRODUCER_ID, renews=True),
}
IN_THE_SUITE = {
    ("EndTxn", "late"),
    ("Produce of records", "late_to_another"),
    ("claim, InitProducerId", "late_from_the_dead"),
}
CASES = [
    pytest.param(
        version,
        name,
        fault,
        marks=() if version is TWO and (name, fault) in IN_THE_SUITE else pytest.mark.slow,
        id=f"version {version:d}, {name}: {fault}",
    )
    for version in TransactionVersion
    for name, moment in MOMENTS.items()
    if version is not TWO or not (moment.renews or moment.api is Api.ADD_PARTITIONS_TO_TXN)
    for fault in FAULTS
]


@pytest.fixture(scope="module")
def brokers_of(proxy: HoldingProxy, module_clusters: Callable[..., Cluster]) -> BrokersOf:
    """Three for all tests of a version, each behind the proxy."""
    return cache(lambda version: module_clusters(brokers=3, advertise=proxy.before, format_options=formatted(version)))


@pytest.fixture
def brokers(version: TransactionVersion, brokers_of: BrokersOf) -> Cluster:
    return brokers_of(version)


@pytest.fixture
def make_engines(
    source: Any, brokers: Cluster, proxy: HoldingProxy, topic: Callable[..., str], start_copying: Start
) -> Iterator[Callable[..., Engines]]:
    """Make the topics: `make_engines(partitions=4, interval=0.2, once=True)`."""

    def make(partitions: int = 4, interval: float = INTERVAL, *, once: bool = True) -> Engines:
        copy = CopiedOnce(source, brokers, topic("once"), partitions, replication=3)
        return Engines(copy, start_copying, brokers.bootstrap_of(PROXIED), once=once, interval=interval)

    yield make
    proxy.disarm()


def arm(proxy: HoldingProxy, moment: Moment, fault: str, copy: CopiedOnce, version: TransactionVersion) -> RequestRule:
    """Let it happen to the next such request of the first engine."""
    topic = {"data": copy.topic, "positions": copy.flow.positions_topic}.get(moment.about)
    about = b"" if topic is None else named(topic, version)
    words: dict[str, Any] = {"client": "^first$", "containing": about}
    match fault:
        case "lost":
            return proxy.lose(moment.api, **words)
        case "unanswered":
            return proxy.lose_answer(moment.api, **words)
    return proxy.hold(moment.api, cut=fault in ("late", "late_to_another"), **words)


@pytest.mark.parametrize(("version", "name", "fault"), CASES)
def test_a_request_is_lost_or_late(
    version: TransactionVersion, proxy: HoldingProxy, make_engines: Callable[..., Engines], name: str, fault: str
) -> None:
    moment, engines = MOMENTS[name], make_engines()
    copy = engines.copy
    copy.load(RECORDS)
    rules: list[RequestRule] = []
    if moment.claims:
        rules.append(arm(proxy, moment, fault, copy, version))
    impatient = {"request.timeout.ms": "2000"} if fault == "silent" else {}
    last = first = engines.start("first", **impatient)
    if not moment.claims:
        first.wait_reached(RECORDS)
        if moment.renews:
            rules.append(proxy.lose_answer(Api.END_TXN, client="^first$"))
        rules.append(arm(proxy, moment, fault, copy, version))
    with copy.writing():
        wait_until(lambda: all(rule.applied for rule in rules) or first.over(), PATIENCE, "the request")
        if fault == "late_from_the_dead":
            first.engine.purge()
        if fault in ("late_to_another", "late_from_the_dead"):
            first.confirms = False
            last = engines.start("second")
        last.wait_reached(copy.total)
        if isinstance(rules[-1], HeldRequest):
            rules[-1].deliver()
        last.wait_reached(copy.total)
    copy.load(RECORDS)
    last.wait_reached(copy.total)
    assert last.stop() == {}, last.error
    assert copy.differences() == []
    assert [rule.applied for rule in rules] == [1] * len(rules)


@pytest.mark.slow
@pytest.mark.parametrize("version", [TWO], ids=["version 2"])  # of the brokers
@pytest.mark.parametrize("fault", ["late_to_another", "late_from_the_dead"])
def test_at_least_once_doubles(proxy: HoldingProxy, make_engines: Callable[..., Engines], fault: str) -> None:
    """The proof that these faults are some; the others an idempotent producer survives without transactions, too."""
    engines = make_engines(once=False)
    copy = engines.copy
    copy.load(RECORDS)
    first = engines.start("first")
    first.wait_reached(RECORDS)
    engines.begin = copy.ended()
    late = proxy.hold(Api.PRODUCE, client="^first$", containing=named(copy.topic, ONE), cut=fault == "late_to_another")
    with copy.writing():
        wait_until(lambda: late.applied, PATIENCE, "the request")
        if fault == "late_from_the_dead":
            first.engine.purge()
        second = engines.start("second")
        second.wait_reached(copy.total)
        late.deliver()
    second.wait_reached(copy.total)
    assert second.stop() == {}
    assert copy.duplicates() > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "renews"),
    [(ONE, True), (ONE, False), (TWO, True)],
    ids=["product", "without the renewal", "version 2"],
)
def test_a_late_end_meets_an_open_transaction(
    proxy: HoldingProxy, make_engines: Callable[..., Engines], monkeypatch: pytest.MonkeyPatch, renews: bool
) -> None:
    """The proof that the brokers show it: a session that does not renew its epoch after a doubt doubles records."""
    if not renews:
        monkeypatch.setattr(bundle_owner, "BundleSession", NeverRenews)
    engines = make_engines(partitions=1, interval=5.0)
    copy = engines.copy
    copy.load(RECORDS)
    first = engines.start("first")
    first.wait_reached(RECORDS)
    late = proxy.hold(Api.END_TXN, client="^first$")
    copy.load(RECORDS)
    wait_until(lambda: late.applied, PATIENCE, "the request")
    first.wait_reached(2 * RECORDS)
    before = copy.written()
    copy.load(RECORDS)
    wait_until(lambda: copy.written() >= before + RECORDS, PATIENCE, "records in the next transaction")
    late.deliver()
    copy.load(RECORDS)
    first.wait_reached(4 * RECORDS)
    assert first.stop() == {}
    assert bool(copy.duplicates()) != renews
    assert (copy.differences() == []) == renews
