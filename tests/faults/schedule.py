"""Faults in a random order, for mirrors and the cluster that they copy to. A seed is the same schedule each time.

Brokers are not all killed at once: Kafka 4.3 then commits a transaction in some partitions and aborts it in others. A
coordinator that comes back sends markers for a decision that no other replica of `__transaction_state` has, and loses
its partition to one of those.
"""

from __future__ import annotations

import random
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable

from compat.laboratory.broker import Broker
from compat.laboratory.cluster import Cluster
from compat.laboratory.holding_proxy import Api, HoldingProxy
from compat.laboratory.zookeeper import ZooKeeperCluster
from legacy_mm.audit.cluster_access import leader, list_topics
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from tests.faults.mirrors import Mirrors
from tests.faults.test_crash_points import kill
from tests.faults.test_zombies import send
from tests.fixtures.exactly_once import PATIENCE

REQUESTS = (Api.PRODUCE, Api.ADD_PARTITIONS_TO_TXN, Api.END_TXN, Api.INIT_PRODUCER_ID)
LEAST_PAUSE, LONGEST_PAUSE = 2.0, 10.0
LONGEST_HOLD, LONGEST_BROKERS_AWAY = 20.0, 20.0
SESSION = 10.0
"""The session's time-out, and the transaction's."""
LONGEST_FREEZE = 25.0
QUIET_SECONDS = 240.0
LAST_LINES = 10
TRANSACTION_STATE = "__transaction_state"


class Schedule:
    """Two mirrors, three brokers at the target, and what happens to them."""

    def __init__(self, seed: int, mirrors: Mirrors, target: Cluster | ZooKeeperCluster, proxy: HoldingProxy) -> None:
        """Start the mirrors."""
        self.done = Counter[str]()
        """Faults, by their kind."""
        self.endings = Counter[str]()
        """Mirrors that ended by themselves, by the reason that they told."""
        self._dice = random.Random(seed)
        self._mirrors, self._target, self._proxy = mirrors, target, proxy
        self._tools = [mirrors.start(), mirrors.start()]

    def run(self, seconds: float) -> None:
        """Let something happen each 2 to 10 s."""
        faults: dict[str, Callable[[], object]] = {
            "worker killed": lambda: send(self._mirrors.copying(self._one()), signal.SIGKILL),
            "mirror killed": self._kill_mirror,
            "mirror's JVM killed": self._kill_jvm,
            "mirror stopped": self._stop_mirror,
            "mirror frozen": lambda: self._freeze(1.0, SESSION),
            "mirror frozen beyond its session": lambda: self._freeze(SESSION, LONGEST_FREEZE),
            "connections cut": self._proxy.cut,
            "request lost": lambda: self._proxy.lose(self._request()),
            "answer lost": lambda: self._proxy.lose_answer(self._request()),
            "request held back": lambda: self._hold(cut=True),
            "request held back, its connection silent": lambda: self._hold(cut=False),
            "broker killed": lambda: self._kill(self._dice.choice(self._target.brokers)),
            "leader killed": lambda: self._kill(self._leader()),
            "coordinator killed": lambda: self._kill(self._leader(TRANSACTION_STATE)),
            "all brokers frozen": lambda: self._freeze_brokers(self._target.brokers, LONGEST_BROKERS_AWAY),
            "broker frozen": lambda: self._freeze_brokers([self._dice.choice(self._target.brokers)], LONGEST_PAUSE),
        }
        deadline = Deadline.after(seconds)
        while not deadline.expired():
            kind = self._dice.choice(list(faults))
            faults[kind]()
            self.done[kind] += 1
            self._pause(LEAST_PAUSE, LONGEST_PAUSE)
        self._proxy.disarm()

    def end(self) -> None:
        """Wait until everything is copied, and stop both."""
        self._copy_rest()
        if self._mirrors.must_start_anew():
            self._tools = [self._mirrors.start(), self._mirrors.start()]
            self._copy_rest()

    def _copy_rest(self) -> None:
        wanted = self._mirrors.last_offsets()

        def copied() -> bool:
            self._revive()
            return self._mirrors.reached(wanted)

        try:
            wait_until(copied, QUIET_SECONDS, f"the commit of {wanted}")
        except TimeoutError as error:
            said = [line for tool in self._tools for line in tool.output().splitlines()[-LAST_LINES:]]
            for tool in self._tools:
                tool.signal(signal.SIGQUIT)  # its output has the stacks of its threads then
            still = f"these stand still: {self._mirrors.missing(wanted)}; their mirrors said last:"
            raise AssertionError("\n".join([still, *said])) from error
        for tool in self._tools:
            self._mirrors.stop(tool)

    def _pause(self, least: float, longest: float) -> None:
        threading.Event().wait(self._dice.uniform(least, longest))

    def _request(self) -> Api:
        return self._dice.choice(REQUESTS)

    def _one(self) -> ToolProcess:
        self._revive()
        return self._dice.choice(self._tools)

    def _revive(self) -> None:
        """Start another mirror in the place of one that has ended, as a supervisor does."""
        for number, tool in enumerate(self._tools):
            if not tool.running():
                self.endings[told_reason(tool)] += 1
                self._tools[number] = self._mirrors.start()

    def _replace(self, tool: ToolProcess) -> None:
        self._tools[self._tools.index(tool)] = self._mirrors.start()

    def _kill_mirror(self) -> None:
        tool = self._one()
        kill(tool)
        self._replace(tool)

    def _kill_jvm(self) -> None:
        tool = self._one()
        if pids := self._mirrors.jvms(tool):
            send(pids, signal.SIGKILL)
            tool.wait(PATIENCE)
            self._replace(tool)

    def _stop_mirror(self) -> None:
        tool = self._one()
        self._mirrors.stop(tool)
        self._replace(tool)

    def _freeze(self, least: float, longest: float) -> None:
        pids = self._one().tree.pids()
        send(pids, signal.SIGSTOP)
        self._pause(least, longest)
        send(pids, signal.SIGCONT)

    def _hold(self, *, cut: bool) -> None:
        self._proxy.hold(self._request(), after=self._dice.uniform(1.0, LONGEST_HOLD), cut=cut)

    def _leader(self, topic: str = "") -> Broker:
        """Return the broker that leads a partition: of this topic, else of positions or records."""
        copies = self._mirrors.copies
        name = topic or self._dice.choice([copies[0].flow.positions_topic, *(each.topic for each in copies)])
        counts = list_topics(self._target.bootstrap)
        if name not in counts:  # without transactions
            name = copies[0].topic
        number = self._dice.randrange(counts[name])
        node = leader(self._target.bootstrap, name, number)
        return next((each for each in self._target.brokers if each.node == node), self._target.brokers[0])

    def _kill(self, broker: Broker) -> None:
        broker.kill()
        self._pause(1.0, LONGEST_PAUSE)
        broker.restart()
        self._target.wait_ready()

    def _freeze_brokers(self, brokers: list[Broker], longest: float) -> None:
        for broker in brokers:
            broker.suspend()
        self._pause(1.0, longest)
        for broker in brokers:
            broker.resume()
        self._target.wait_ready()


def told_reason(tool: ToolProcess) -> str:
    """Return what a mirror that has ended says about it: the text below its first ERROR line; else its exit code."""
    lines = iter(tool.output().splitlines())
    for line in lines:
        if re.match(r"\[.*\] (ERROR|FATAL) ", line):
            return re.sub(r"\d+", "N", next(lines, ""))
    return f"exit code {tool.wait(PATIENCE)}"
