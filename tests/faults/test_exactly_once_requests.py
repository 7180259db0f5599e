"""Worker, JVM and driver of a mirror are killed while they wait for the answer to a named request: contract 10.1.

The request has not arrived yet, and does so when somebody else goes on; or it has arrived, and only its answer has not.
In a revocation everything is committed at the target, and the source does not know it yet.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.holding_proxy import Api, HeldRequest, HoldingProxy, LostAnswer
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import BUNDLES, FLOW, bundle_of
from legacy_mm.transactions.txn_requests import TransactionVersion
from tests.faults.mirrors import BUSY, Mirrors
from tests.faults.test_crash_points import kill
from tests.faults.test_recovery import spark_jvm, stop
from tests.faults.test_zombies import send
from tests.fixtures.exactly_once import PATIENCE, CopiedOnce, formatted, named

pytestmark = [pytest.mark.faults, pytest.mark.spark]
RECORDS = 4_000
NEVER_MS = "3600000"
ONE, TWO = TransactionVersion


@dataclass(frozen=True)
class Wait:
    """A request that a mirror waits for."""

    api: Api
    of: str = ""
    """`flow` or `bundle`: the first one with this transactional id. `records` or `positions`: it names this topic."""
    renews: bool = False
    """After a doubt: an EndTxn before it has no answer."""
    source: bool = False
    """It goes to the source, and only the driver sends it."""


COORDINATED = (Api.INIT_PRODUCER_ID, Api.ADD_PARTITIONS_TO_TXN, Api.PRODUCE, Api.END_TXN)
WAITS = {
    **{f"flow's {api.name}": Wait(api, "flow") for api in COORDINATED},
    **{f"claim's {api.name}": Wait(api, "bundle") for api in COORDINATED},
    "ADD_PARTITIONS_TO_TXN": Wait(Api.ADD_PARTITIONS_TO_TXN),
    "PRODUCE of records": Wait(Api.PRODUCE, "records"),
    "PRODUCE of positions": Wait(Api.PRODUCE, "positions"),
    "END_TXN": Wait(Api.END_TXN),
    "renewing INIT_PRODUCER_ID": Wait(Api.INIT_PRODUCER_ID, renews=True),
    "OFFSET_COMMIT": Wait(Api.OFFSET_COMMIT, source=True),
}
IN_THE_SUITE = ("END_TXN", "worker", True)
CASES = [
    pytest.param(
        version,
        *case,
        marks=() if version is TWO and case == IN_THE_SUITE else pytest.mark.slow,
        id="-".join((f"version {version:d}", *map(str, case))),
    )
    for version in TransactionVersion
    for name, wait in WAITS.items()
    if version is not TWO or not (wait.renews or wait.api is Api.ADD_PARTITIONS_TO_TXN)
    for killed in ("worker", "jvm", "driver")
    for arrives in (False, True)
    if killed == "driver" or not (wait.source or wait.of == "flow")
    for case in [(name, killed, arrives)]
]
DOUBLING = [("PRODUCE of records", "worker"), ("PRODUCE of records", "driver"), ("OFFSET_COMMIT", "driver")]
"""Waits, and who dies in them, after which at least once doubles records."""
REVOCATIONS = [
    pytest.param(killed, once, arrives, id=f"{killed}, {'exactly' if once else 'at least'} once, arrives {arrives}")
    for killed in ("worker", "jvm", "driver", "all")
    for once, arrives in ((True, False), (True, True), (False, False))
    if once or killed in ("driver", "all")  # else the driver commits once more
]


@pytest.fixture(scope="module")
def proxies() -> Iterator[tuple[HoldingProxy, HoldingProxy]]:
    """Before the source, and before the target."""
    with HoldingProxy() as near, HoldingProxy() as far:
        yield near, far


@pytest.fixture(scope="module")
def clusters_of(
    proxies: tuple[HoldingProxy, HoldingProxy], module_clusters: Callable[..., Cluster]
) -> Callable[[TransactionVersion], list[Cluster]]:
    """Source and target for all tests of a version."""
    return cache(
        lambda version: [
            module_clusters(advertise=proxy.before, format_options=formatted(version)) for proxy in proxies
        ]
    )


@pytest.fixture
def clusters(version: TransactionVersion, clusters_of: Callable[[TransactionVersion], list[Cluster]]) -> list[Cluster]:
    return clusters_of(version)


@pytest.fixture
def once() -> bool:
    """A parameter of this name overrides it."""
    return True


@pytest.fixture
def mirrors(
    proxies: tuple[HoldingProxy, HoldingProxy],
    clusters: list[Cluster],
    topic: Callable[..., str],
    our_tool: Callable[..., Any],
    once: bool,
) -> Iterator[Mirrors]:
    """Of one topic, through the proxies."""
    copy = CopiedOnce(clusters[0], clusters[1], topic("waits"))
    copy.load(RECORDS)
    yield Mirrors(copy, our_tool, *(each.bootstrap_of(PROXIED) for each in clusters), once=once)
    for proxy in proxies:
        proxy.disarm()


def arm(
    proxies: tuple[HoldingProxy, HoldingProxy],
    wait: Wait,
    copy: CopiedOnce,
    version: TransactionVersion,
    *,
    arrives: bool,
) -> Any:
    """Let the mirror wait for it for ever."""
    number = FLOW if wait.of == "flow" else bundle_of(TopicPartition(copy.topic, 0), BUNDLES)
    about = {
        "": b"",
        "records": named(copy.topic, version),
        "positions": named(copy.flow.positions_topic, version),
    }.get(wait.of, copy.flow.bundle(number).transactional_id.encode())
    proxy = proxies[not wait.source]
    act: Callable[..., HeldRequest | LostAnswer] = proxy.lose_answer if arrives else proxy.hold
    return act(wait.api, containing=about, cut=False)


@pytest.mark.parametrize(("version", "name", "killed", "arrives"), CASES)
def test_killed_while_it_waits(
    version: TransactionVersion,
    proxies: tuple[HoldingProxy, HoldingProxy],
    mirrors: Mirrors,
    name: str,
    killed: str,
    arrives: bool,
) -> None:
    kill_while_it_waits(proxies, mirrors, name, killed, version, arrives=arrives)
    assert mirrors.copy.differences() == []


@pytest.mark.slow
@pytest.mark.parametrize(("once", "version"), [(False, TWO)], ids=["at least once"])
@pytest.mark.parametrize("arrives", [False, True])
@pytest.mark.parametrize(("name", "killed"), DOUBLING)
def test_at_least_once_doubles(
    proxies: tuple[HoldingProxy, HoldingProxy], mirrors: Mirrors, name: str, killed: str, arrives: bool
) -> None:
    """The proof that these faults are some."""
    kill_while_it_waits(proxies, mirrors, name, killed, ONE, arrives=arrives)
    assert mirrors.copy.duplicates() > 0


def kill_while_it_waits(
    proxies: tuple[HoldingProxy, HoldingProxy],
    mirrors: Mirrors,
    name: str,
    killed: str,
    version: TransactionVersion,
    *,
    arrives: bool,
) -> None:
    """Let a mirror wait for the answer to a request of this version, kill a part of it, and copy everything."""
    copy, wait = mirrors.copy, WAITS[name]
    early = wait.of in ("flow", "bundle")
    rule = arm(proxies, wait, copy, version, arrives=arrives) if early else None
    tool = mirrors.start()
    if rule is None:
        mirrors.wait_copied()
        if wait.renews:
            proxies[1].lose_answer(Api.END_TXN)
        rule = arm(proxies, wait, copy, version, arrives=arrives)
    with copy.writing():
        wait_until(lambda: rule.applied, PATIENCE, "the request")
        end(killed, tool, mirrors.copying(tool) if killed == "worker" else [])
        if killed != "worker":
            tool = mirrors.start()
        mirrors.wait_committed(copy.total)
        if isinstance(rule, HeldRequest):
            rule.deliver()
    mirrors.wait_copied()
    stop(tool)


def end(killed: str, tool: ToolProcess, copying: list[int]) -> None:
    """Kill a part of a mirror, or all of it at once; `copying` are its copy processes."""
    match killed:
        case "worker":
            send(copying, signal.SIGKILL)
        case "jvm":
            os.kill(spark_jvm(tool), signal.SIGKILL)
            assert tool.wait(PATIENCE) == 255
        case "driver":
            kill(tool)
        case "all":
            send(tool.tree.pids(), signal.SIGKILL)
            tool.wait(PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("version", [TWO], ids=["version 2"])
@pytest.mark.parametrize(("killed", "once", "arrives"), REVOCATIONS)
def test_killed_in_a_revocation(
    version: TransactionVersion,
    proxies: tuple[HoldingProxy, HoldingProxy],
    mirrors: Mirrors,
    killed: str,
    once: bool,
    arrives: bool,
) -> None:
    """Between the last EndTxn and the commit at the source, because another mirror has come."""
    copy, mirrors.commit_ms = mirrors.copy, NEVER_MS
    gives = mirrors.start()
    mirrors.wait_written()
    copied = sum(copy.ends().values())
    copying = mirrors.copying(gives)
    rule = arm(proxies, WAITS["OFFSET_COMMIT"], copy, version, arrives=arrives)
    with copy.writing():
        stays = mirrors.start()
        wait_until(lambda: rule.applied, PATIENCE, "the commit")
        assert copying, "no process copies, so the test shows nothing"
        if not arrives:
            assert mirrors.committed() < copied
        end(killed, gives, copying)
        proxies[0].cut()
        if once:
            mirrors.wait_written()
        else:
            before = copy.written()
            wait_until(lambda: copy.written() > before + BUSY, PATIENCE, "copies of the one that stays")
        if isinstance(rule, HeldRequest):
            rule.deliver()
    mirrors.wait_written()
    stop(stays)
    if killed == "worker":
        stop(gives)
    assert copy.differences() == [] if once else copy.duplicates() > 0
