"""Faults in a random order while nodes of MirrorMaker 2's file copy two flows, and MirrorMaker 2 itself in between.

`LEGACY_MM_SCHEDULE_SEEDS=1,2,3 .venv/bin/python -m pytest tests/faults/test_dedicated_schedule.py -m ""` runs others;
`LEGACY_MM_SCHEDULE_SECONDS` says how long each.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import java_driver, our_driver
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.ledger_check import Verdict, check
from legacy_mm.audit.ledger_produce import Workload, produce
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from tests.fixtures.driver_files import driver_file
from tests.fixtures.offsets import stored_positions

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
SEEDS = [int(text) for text in os.environ.get("LEGACY_MM_SCHEDULE_SEEDS", "1,2").split(",")]
SECONDS = float(os.environ.get("LEGACY_MM_SCHEDULE_SECONDS", "240"))
PATIENCE = 120.0
RATE, PARTITIONS = 200, 4
LEAST_PAUSE, LONGEST_PAUSE = 2.0, 8.0
LONGEST_FREEZE = 20.0
IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"


class Flow:
    """One source, its topic, and what of it may come twice."""

    def __init__(self, alias: str, source: Cluster, target: Cluster) -> None:
        self.alias, self.source, self.target = alias, source, target
        self.ledger = Ledger(f"orders-{alias}")
        self.may_come_twice = 0
        for cluster in (source, target):
            create_topic(cluster.bootstrap, self.ledger.topic, PARTITIONS)

    def positions(self) -> dict[int, int]:
        """Where a node would begin now."""
        return stored_positions(self.target, self.alias, self.ledger.topic)

    def ends(self) -> dict[int, int]:
        return end_offsets(self.source.bootstrap, self.ledger.topic)

    def write(self, over: threading.Event) -> None:
        """Write at a steady rate until told otherwise."""
        while not over.is_set():
            produce(self.ledger, {"bootstrap.servers": self.source.bootstrap}, Workload(RATE, 100, rate=RATE))

    def verdict(self) -> Verdict:
        return check(self.ledger, {"bootstrap.servers": self.target.bootstrap})


class Nodes:
    """Two nodes of ours, or one of MirrorMaker 2."""

    def __init__(self, folder: Path, flows: list[Flow], seed: int) -> None:
        self.done = Counter[str]()
        self.remarks: list[str] = []
        self._folder, self._flows = folder, flows
        self._dice = random.Random(seed)
        self._started = 0
        self._file = driver_file(
            {**{flow.alias: flow.source for flow in flows}, "t": flows[0].target},
            **{f"{flow.alias}->t.enabled": "true" for flow in flows},
            **{f"{flow.alias}->t.topics": flow.ledger.topic for flow in flows},
            **{"replication.policy.class": IDENTITY, "emit.heartbeats.enabled": "false"},
        )
        self.running: list[ToolProcess] = []
        self._start_ours()

    def _new(self, start: Callable[..., ToolProcess]) -> ToolProcess:
        self._started += 1
        self.running.append(start(self._folder / f"node-{self._started}", self._file))
        return self.running[-1]

    def _start_ours(self) -> None:
        for _ in range(2):
            self._new(our_driver)

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        """Let come twice what is at the source after a fault and was not stored before it."""
        before = [flow.positions() for flow in self._flows]
        yield
        for flow, positions in zip(self._flows, before, strict=True):
            flow.may_come_twice += sum(end - positions.get(number, 0) for number, end in flow.ends().items())

    def _end(self, node: ToolProcess) -> None:
        """Stop a node as people do; nothing may come twice for it."""
        node.signal(signal.SIGTERM)
        code = node.wait(PATIENCE)
        if code != 128 + signal.SIGTERM:
            self.remarks.append(f"a node ended with {code}: {node.output()[-2000:]}")
        self.running.remove(node)

    def stop(self) -> None:
        for node in list(self.running):
            self._end(node)

    def kill_all(self) -> None:
        for node in self.running:
            node.kill_tree()

    def _kill(self) -> None:
        node = self._dice.choice(self.running)
        with self._under_way():
            node.tree.pids()
            node.signal(signal.SIGKILL)
            node.wait(PATIENCE)
            wait_until(lambda: node.tree.pids() == [], PATIENCE, "the end of its tasks")
        self.running.remove(node)
        self._new(our_driver)

    def _freeze(self) -> None:
        node = self._dice.choice(self.running)
        with self._under_way():
            self._send(node, signal.SIGSTOP)
        threading.Event().wait(self._dice.uniform(2.0, LONGEST_FREEZE))
        self._send(node, signal.SIGCONT)

    @staticmethod
    def _send(node: ToolProcess, number: signal.Signals) -> None:
        for pid in node.tree.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _restart(self) -> None:
        self._end(self._dice.choice(self.running))
        self._new(our_driver)

    def _give_over(self) -> None:
        """Let MirrorMaker 2 take over, and give back; it may be killed, too."""
        self.stop()
        arrived = self._arrived()
        node = self._new(java_driver)
        wait_until(lambda: self._arrived() > arrived + RATE, PATIENCE, "records of MirrorMaker 2")
        if self._dice.random() < 0.5:
            self.done["MirrorMaker 2 killed"] += 1
            with self._under_way():
                node.kill_tree()
            self.running.remove(node)
        else:
            self._end(node)
        self._start_ours()

    def _arrived(self) -> int:
        return sum(sum(end_offsets(flow.target.bootstrap, flow.ledger.topic).values()) for flow in self._flows)

    def play(self, seconds: float) -> None:
        """Let something happen each 2 to 8 s."""
        faults = {
            "node killed": self._kill,
            "node frozen": self._freeze,
            "node restarted": self._restart,
            "MirrorMaker 2 in between": self._give_over,
        }
        deadline = Deadline.after(seconds)
        while not deadline.expired():
            threading.Event().wait(self._dice.uniform(LEAST_PAUSE, LONGEST_PAUSE))
            what = self._dice.choice(list(faults))
            self.done[what] += 1
            faults[what]()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_schedule(own_clusters: Callable[..., Cluster], tmp_path: Path, seed: int) -> None:
    """Nothing is lost, and nothing comes twice but what was under way at a kill or a freeze."""
    target = own_clusters()
    flows = [Flow(alias, own_clusters(), target) for alias in ("a", "b")]
    over = threading.Event()
    writers = [threading.Thread(target=flow.write, args=[over], daemon=True) for flow in flows]
    nodes = Nodes(tmp_path, flows, seed)
    try:
        for writer in writers:
            writer.start()
        nodes.play(SECONDS)
        over.set()
        for writer in writers:
            writer.join(PATIENCE)
        for flow in flows:
            wait_until(lambda: flow.verdict().count("lost") == 0, PATIENCE, f"all of {flow.alias}")  # noqa: B023
        nodes.stop()
    finally:
        over.set()
        nodes.kill_all()
    verdicts = [flow.verdict() for flow in flows]
    for flow, verdict in zip(flows, verdicts, strict=True):
        print(f"{flow.alias}: {verdict.acknowledged} written, {verdict.count('duplicated')} doubled,", end=" ")
        print(f"{flow.may_come_twice} were under way; {dict(nodes.done)}")
    assert nodes.remarks == []
    for flow, verdict in zip(flows, verdicts, strict=True):
        assert verdict.differences(allow_duplicates=True) == []
        assert verdict.count("duplicated") <= flow.may_come_twice
