"""An engine is killed or frozen at a named step of a transaction: contract 10.1 and 10.2, without Spark and a group.

It is a process of its own. What it had on its way to a broker may still arrive, and does so before anything else that
another owner sends. A frozen one wakes when another owner has copied everything in its place, and claims its bundles
back from that; or when the coordinator has given its transactions up, and nobody else came.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from enum import Enum
from functools import cache, partial
from typing import Any

import pytest

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.holding_proxy import Api, HoldingProxy
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.transactions.txn_requests import TransactionVersion
from tests.faults.crash_points import POINTS, strike, strike_untold
from tests.fixtures.copying import Copying, Start
from tests.fixtures.engine_process import EngineProcess, StartProcess
from tests.fixtures.exactly_once import PATIENCE, BrokersOf, CopiedOnce, Engines, formatted, named

pytestmark = pytest.mark.faults
RECORDS = 2_000
TWO = TransactionVersion.TWO
TIME_OUT = 4.0
SETTINGS = {"fence": {"transaction_timeout": 6.0}, "stop": {"interval": 2.0}}
"""By the way that leads to a point: a transaction is given up soon, or is open when the stop comes."""


class Fate(Enum):
    """What happens to the engine at the point."""

    KILLED = "killed"
    TAKEN_OVER = "frozen, taken over"
    GIVEN_UP = "frozen, given up"


IN_THE_SUITE = {
    ("claim appended", Fate.KILLED),
    ("adoption not committed", Fate.KILLED),
    ("EndTxn not sent", Fate.KILLED),
    ("EndTxn sent", Fate.KILLED),
    ("EndTxn answered with 51", Fate.KILLED),
    ("claim read", Fate.TAKEN_OVER),
    ("EndTxn not sent", Fate.TAKEN_OVER),
    ("positions acknowledged", Fate.GIVEN_UP),
}
CASES = [
    pytest.param(
        version,
        name,
        fate,
        marks=() if version is TWO and (name, fate) in IN_THE_SUITE else pytest.mark.slow,
        id=f"version {version:d}, {name}, {fate.value}",
    )
    for version in TransactionVersion
    for name in POINTS
    if version is not TWO or not re.search("added|AddPartitions|renewal", name)
    for fate in Fate
]


@pytest.fixture(scope="module")
def brokers_of(proxy: HoldingProxy, module_clusters: Callable[..., Cluster]) -> BrokersOf:
    """One for all tests of a version; it looks for overdue transactions each second, not each ten.

    It writes its markers through the proxy, too, and does so again where it has no answer for 3 s.
    """
    properties = {
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        "inter.broker.listener.name": PROXIED,
        "request.timeout.ms": "3000",
    }
    return cache(
        lambda version: module_clusters(
            properties=properties, advertise=proxy.before, format_options=formatted(version)
        )
    )


@pytest.fixture
def brokers(version: TransactionVersion, brokers_of: BrokersOf) -> Cluster:
    return brokers_of(version)


@pytest.fixture
def engines(
    source: Any, brokers: Cluster, topic: Callable[..., str], start_copying: Start, name: str, fate: Fate
) -> Engines:
    """Of a topic with some records."""
    settings: dict[str, Any] = {"interval": 0.2, **SETTINGS.get(POINTS[name].way, {})}
    if fate is Fate.GIVEN_UP:
        settings["transaction_timeout"] = TIME_OUT
    copy = CopiedOnce(source, brokers, topic("dies"))
    copy.load(RECORDS)
    made = Engines(copy, start_copying, brokers.bootstrap_of(PROXIED), **settings)
    if "pairs" in name:
        made.tell_of_pairs()
    return made


def lead(first: EngineProcess, way: str, copy: CopiedOnce, proxy: HoldingProxy, version: TransactionVersion) -> None:
    """Bring the engine onto the way to its point."""
    if way:
        first.wait_reached(RECORDS)
    match way:
        case "doubt":
            proxy.lose_answer(Api.END_TXN, client="^first$")
        case "fence":
            proxy.hold(Api.PRODUCE, client="^first$", containing=named(copy.topic, version), cut=False)
        case "markers":
            proxy.hold(Api.WRITE_TXN_MARKERS, cut=False)
            proxy.lose_answer(Api.END_TXN, client="^first$")
        case "stop":
            before = copy.written()
            wait_until(lambda: copy.written() > before + 4, PATIENCE, "more than markers in an open transaction")
            first.begin_to_stop(PATIENCE)


def give_back(first: EngineProcess, second: Copying, copy: CopiedOnce) -> None:
    """Wake the first, for which the group now counts again, and not for the second any more."""
    second.confirms = False
    first.wake()
    first.wait_reached(copy.total)


@pytest.mark.parametrize(("version", "name", "fate"), CASES)
def test_an_engine_is_killed_or_frozen(
    version: TransactionVersion,
    proxy: HoldingProxy,
    engines: Engines,
    start_process: StartProcess,
    name: str,
    fate: Fate,
) -> None:
    copy, way = engines.copy, POINTS[name].way
    number = signal.SIGKILL if fate is Fate.KILLED else signal.SIGSTOP
    first = engines.start_by(start_process(partial(strike, name, number)), "first")
    last: EngineProcess | Copying = first
    with copy.writing():
        lead(first, way, copy, proxy, version)
        wait_until(first.is_dead if fate is Fate.KILLED else first.is_frozen, PATIENCE, "its end")
        if fate is Fate.GIVEN_UP:
            over = Deadline.after(TIME_OUT)
            wait_until(lambda: over.expired() and not copy.open(), PATIENCE, "the end of its transactions")
            first.wake()
        if fate is not Fate.GIVEN_UP or way == "stop":
            last = second = engines.start("second")
            second.wait_reached(copy.total)
            if fate is Fate.TAKEN_OVER and way != "stop":
                give_back(first, second, copy)
                last = first
            elif fate is Fate.TAKEN_OVER:
                first.wake()
                wait_until(first.over, PATIENCE, "the end of its stop")
    copy.load(RECORDS)
    last.wait_reached(copy.total)
    assert last.stop() == {}
    assert copy.differences() == []
    if POINTS[name].aborts:
        assert copy.aborted() > 0, "nothing was open, so the test shows nothing"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen, taken over"])
def test_at_least_once_doubles(
    source: Any,
    brokers_of: BrokersOf,
    topic: Callable[..., str],
    start_copying: Start,
    start_process: StartProcess,
    number: signal.Signals,
) -> None:
    """The proof that these faults are some: what the first did not tell of is copied again."""
    copy = CopiedOnce(source, brokers_of(TWO), topic("dies"))
    copy.load(RECORDS)
    engines = Engines(copy, start_copying, copy.target.bootstrap, once=False)
    first = engines.start_by(start_process(partial(strike_untold, RECORDS, number)), "first")
    first.wait_reached(RECORDS)
    engines.begin = copy.ended()
    with copy.writing():
        wait_until(first.is_dead if number is signal.SIGKILL else first.is_frozen, PATIENCE, "its end")
        second = engines.start("second")
        second.wait_reached(copy.total)
        if number is signal.SIGSTOP:
            first.wake()
            first.wait_reached(copy.total)
    second.wait_reached(copy.total)
    assert second.stop() == {}
    assert copy.duplicates() > 0
