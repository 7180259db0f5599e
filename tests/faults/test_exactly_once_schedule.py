"""Faults in a random order while two mirrors copy exactly once: contract 10.4. A seed is the same schedule each time.

`LEGACY_MM_SCHEDULE_SEEDS=1,2,3` and `LEGACY_MM_SCHEDULE_SECONDS=300` run a series:
`.venv/bin/python -m pytest tests/faults/test_exactly_once_schedule.py -m ""`.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.holding_proxy import Api, HoldingProxy
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.clock import Deadline
from tests.faults.mirrors import Mirrors
from tests.faults.test_crash_points import kill
from tests.faults.test_recovery import stop
from tests.faults.test_zombies import send
from tests.fixtures.exactly_once import CopiedOnce

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
SEEDS = [int(text) for text in os.environ.get("LEGACY_MM_SCHEDULE_SEEDS", "1").split(",")]
SECONDS = float(os.environ.get("LEGACY_MM_SCHEDULE_SECONDS", "120"))
REQUESTS = (Api.PRODUCE, Api.ADD_PARTITIONS_TO_TXN, Api.END_TXN, Api.INIT_PRODUCER_ID)
LEAST_PAUSE, LONGEST_PAUSE, LONGEST_FREEZE = 2.0, 10.0, 15.0


class Schedule:
    """Two mirrors, three brokers at the target, and what happens to them."""

    def __init__(self, seed: int, mirrors: Mirrors, target: Cluster, proxy: HoldingProxy) -> None:
        self.done: list[str] = []
        self._dice = random.Random(seed)
        self._mirrors, self._target, self._proxy = mirrors, target, proxy
        self._tools = [mirrors.start(), mirrors.start()]

    def run(self, seconds: float) -> None:
        """Let something happen each 2 to 10 s."""
        faults: list[Callable[[], str]] = [
            self._kill_worker,
            self._kill_mirror,
            self._freeze,
            self._cut,
            self._lose_answer,
            self._hold,
            self._kill_broker,
        ]
        deadline = Deadline.after(seconds)
        while not deadline.expired():
            self.done.append(self._dice.choice(faults)())
            self._pause(LEAST_PAUSE, LONGEST_PAUSE)
        self._proxy.disarm()

    def end(self) -> None:
        """Wait until everything is copied, and stop both."""
        self._revive()
        self._mirrors.wait_copied()
        for tool in self._tools:
            stop(tool)

    def _pause(self, least: float, longest: float) -> None:
        threading.Event().wait(self._dice.uniform(least, longest))

    def _one(self) -> ToolProcess:
        self._revive()
        return self._dice.choice(self._tools)

    def _revive(self) -> None:
        """Start another mirror in the place of one that has ended, as a supervisor does."""
        self._tools = [tool if tool.running() else self._mirrors.start() for tool in self._tools]

    def _kill_worker(self) -> str:
        send(self._mirrors.copying(self._one()), signal.SIGKILL)
        return "worker killed"

    def _kill_mirror(self) -> str:
        kill(self._one())
        self._revive()
        return "mirror killed"

    def _freeze(self) -> str:
        pids = self._one().tree.pids()
        send(pids, signal.SIGSTOP)
        self._pause(1.0, LONGEST_FREEZE)
        send(pids, signal.SIGCONT)
        return "mirror frozen"

    def _cut(self) -> str:
        return f"{self._proxy.cut()} connections cut"

    def _lose_answer(self) -> str:
        api = self._dice.choice(REQUESTS)
        self._proxy.lose_answer(api)
        return f"an answer to {api.name} lost"

    def _hold(self) -> str:
        api = self._dice.choice(REQUESTS)
        self._proxy.hold(api, after=self._dice.uniform(1.0, LONGEST_FREEZE))
        return f"{api.name} held back"

    def _kill_broker(self) -> str:
        broker = self._dice.choice(self._target.brokers)
        broker.kill()
        self._pause(1.0, LONGEST_PAUSE)
        broker.restart()
        self._target.wait_ready()
        return "broker killed"


@pytest.fixture
def proxy() -> Iterator[HoldingProxy]:
    with HoldingProxy() as proxy:
        yield proxy


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_schedule(
    source: Any,
    own_clusters: Callable[..., Cluster],
    proxy: HoldingProxy,
    topic: Callable[..., str],
    our_tool: Callable[..., Any],
    seed: int,
) -> None:
    target = own_clusters(brokers=3, advertise=proxy.before)
    copy = CopiedOnce(source, target, topic("schedule"), replication=3)
    mirrors = Mirrors(copy, our_tool, source.bootstrap, target.bootstrap_of(PROXIED))
    schedule = Schedule(seed, mirrors, target, proxy)
    with copy.writing():
        mirrors.wait_busy()
        schedule.run(SECONDS)
    schedule.end()
    found = copy.differences()
    print(f"seed {seed}: {len(schedule.done)} faults, {copy.total:,} records, {copy.aborted():,} copies given up")
    assert found == [], f"seed {seed}: {schedule.done}"
