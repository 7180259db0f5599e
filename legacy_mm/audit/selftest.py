"""The harmless fault scenarios on any clusters: scratch topics, our own processes, the ledger's verdict.

A scenario loads a topic of its own through a mirror of its own group while that mirror is stopped, killed or frozen.
Nothing else on the clusters is touched, and topics and group are removed afterwards.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.ledger_check import KINDS, check
from legacy_mm.audit.ledger_produce import Workload, produce
from legacy_mm.audit.stop_signals import undisturbed
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import HostError

_PARTITIONS = 4
_START_TIMEOUT = 120.0  # independent of the patience with records: a busy host takes a minute
_LOAD_TIMEOUT = 10.0
_STOP_TIMEOUT = 60.0
_REQUEST_TIMEOUT = 30.0
_STOPPED = 128 + signal.SIGTERM
_WORKER = re.compile(r"copies from .*\(worker [^:]*:(\d+)\)")
OWN_CONSUMER_LINES = {"auto.offset.reset": "earliest", "session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"}
"""Lines of the mirror's consumer file besides the user's: a dead process is noticed soon."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """Access to both clusters: librdkafka's properties, and a function that starts a mirror of a topic in a group."""

    source: Mapping[str, Any]
    target: Mapping[str, Any]
    start: Callable[[Path, str, str], ToolProcess]
    """Called with a folder, the topic and the group."""
    records: int
    patience: float
    """Seconds until all records must have arrived."""


class Result(NamedTuple):
    """The result of one scenario."""

    name: str
    expected: str
    counts: Mapping[str, int]
    records: int
    seconds: float
    wrong: Sequence[str]
    """Why it failed; empty: it did not."""


class Stage:
    """One scenario's topic, group, ledger and processes."""

    def __init__(self, clusters: Clusters, folder: Path) -> None:
        self.name = f"legacy_mm-selftest-{uuid.uuid4().hex[:8]}"
        self.ledger = Ledger(self.name)
        self._clusters = clusters
        self._folder = folder
        self._tools: list[ToolProcess] = []
        self._loading: threading.Thread | None = None
        self._refused: int | None = None

    def mirror(self) -> ToolProcess:
        """Start one more process of the group, and wait until it copies."""
        folder = self._folder / f"{self.name}-{len(self._tools)}"
        tool = self._clusters.start(folder, self.name, self.name)
        self._tools.append(tool)
        tool.wait_for_output("copies from", _START_TIMEOUT)
        return tool

    def load(self) -> None:
        """Begin to write, over some seconds."""
        work = Workload(self._clusters.records, rate=self._clusters.records / _LOAD_TIMEOUT)
        self._loading = threading.Thread(target=self._produce, args=(work,), daemon=True)
        self._loading.start()
        wait_until(lambda: self.ledger.acknowledged >= work.records // 3, self._clusters.patience, "records to flow")

    def wait_for_all(self) -> None:
        """Wait until all is written and nothing is missing at the target; after the patience the verdict decides."""
        assert self._loading is not None
        self._loading.join(self._clusters.patience)
        if self._refused is None:
            raise HostError(f"the source did not take all records within {self._clusters.patience:g} s")
        if self._refused:
            raise HostError(f"the source refused {self._refused} records")
        with contextlib.suppress(TimeoutError):
            wait_until(
                lambda: not check(self.ledger, self._clusters.target).count("lost"),
                self._clusters.patience,
                "all records at the target",
            )

    def stop(self, tool: ToolProcess) -> None:
        """Stop cleanly; raises HostError for another exit status."""
        code = tool.stop(_STOP_TIMEOUT)
        if code != _STOPPED:
            raise HostError(f"a clean stop ended with {code}, not {_STOPPED}")

    @contextlib.contextmanager
    def set_up(self) -> Iterator[None]:
        """Create the topics; delete them afterwards."""
        admins = [AdminClient(dict(side)) for side in (self._clusters.source, self._clusters.target)]
        try:
            for admin in admins:
                _answers(admin.create_topics([NewTopic(self.name, _PARTITIONS)], request_timeout=_REQUEST_TIMEOUT))
            yield
        finally:
            with undisturbed():
                self._clean_up(admins)

    def _clean_up(self, admins: Sequence[AdminClient]) -> None:
        for tool in self._tools:
            tool.kill_tree()
        if self._loading is not None:  # a broker may recreate a topic for a client that still writes to it
            self._loading.join(_REQUEST_TIMEOUT)
        for admin in admins:
            with contextlib.suppress(KafkaException):
                _answers(admin.delete_topics([self.name], request_timeout=_REQUEST_TIMEOUT))
        with contextlib.suppress(KafkaException):
            _answers(admins[0].delete_consumer_groups([self.name], request_timeout=_REQUEST_TIMEOUT))

    def _produce(self, work: Workload) -> None:
        self._refused = produce(self.ledger, self._clusters.source, work)


def copied(stage: Stage) -> None:
    """Mirror under load, then a clean stop."""
    tool = stage.mirror()
    stage.load()
    stage.wait_for_all()
    stage.stop(tool)


def stopped(stage: Stage) -> None:
    """Stop the mirror with SIGTERM under load, and start it again."""
    tool = stage.mirror()
    stage.load()
    stage.stop(tool)
    again = stage.mirror()
    stage.wait_for_all()
    stage.stop(again)


def killed(stage: Stage) -> None:
    """Kill the mirror with SIGKILL under load, and start it again."""
    tool = stage.mirror()
    stage.load()
    tool.kill_tree()
    again = stage.mirror()
    stage.wait_for_all()
    stage.stop(again)


def worker_killed(stage: Stage) -> None:
    """Kill the process that copies with SIGKILL."""
    _to_worker(stage, signal.SIGKILL)


def worker_frozen(stage: Stage) -> None:
    """Suspend the process that copies with SIGSTOP."""
    _to_worker(stage, signal.SIGSTOP)


def handed_over(stage: Stage) -> None:
    """Let a second process join under load, and the first one leave."""
    first = stage.mirror()
    stage.load()
    second = stage.mirror()
    stage.stop(first)
    stage.wait_for_all()
    stage.stop(second)


EXACTLY, AT_LEAST = "all records, each once", "all records, some perhaps twice"
SCENARIOS: Mapping[str, tuple[Callable[[Stage], None], str]] = {
    "copy": (copied, EXACTLY),
    "stop": (stopped, EXACTLY),
    "kill": (killed, AT_LEAST),
    "kill-worker": (worker_killed, AT_LEAST),
    "freeze-worker": (worker_frozen, AT_LEAST),
    "hand-over": (handed_over, EXACTLY),
}


def run(name: str, clusters: Clusters, folder: Path) -> Result:
    """Run one scenario and judge it; raises HostError or a Kafka error if it could not be run."""
    act, expected = SCENARIOS[name]
    stage = Stage(clusters, folder)
    begin = time.monotonic()
    with stage.set_up():
        wrong = []
        try:
            act(stage)
        except (HostError, AssertionError, TimeoutError) as error:
            wrong.append(str(error))
        verdict = check(stage.ledger, clusters.target)
    wrong += verdict.differences(allow_duplicates=expected == AT_LEAST)
    counts: dict[str, int] = {kind: verdict.count(kind) for kind in KINDS}
    return Result(name, expected, counts, verdict.acknowledged, time.monotonic() - begin, wrong)


def _to_worker(stage: Stage, number: signal.Signals) -> None:
    tool = stage.mirror()
    stage.load()
    worker = _WORKER.findall(tool.output())[-1]
    os.kill(int(worker), number)
    wait_until(lambda: _WORKER.findall(tool.output())[-1] != worker, _STOP_TIMEOUT, "another worker")
    stage.wait_for_all()
    stage.stop(tool)


def _answers(futures: Mapping[str, Any]) -> None:
    for future in futures.values():
        future.result()
