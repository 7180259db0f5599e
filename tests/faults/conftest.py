"""What the fault tests share: a loaded topic, our tool on it, and counts at both ends."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.holding_proxy import HoldingProxy
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets
from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.ledger_check import Verdict, check
from legacy_mm.audit.ledger_produce import Workload, produce
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults import report

PATIENCE = 90.0
BACKLOG, SIZE = 20_000, 2_000
"""Records that last until something dies, and the bytes of each: to write and to judge them costs by the record."""
PYTHON, JAR, STEPS = report.HANDLERS
WITH_HANDLERS = [report.OURS, *(pytest.param(name, marks=pytest.mark.slow) for name in report.HANDLERS)]
BY_HANDLER = pytest.mark.parametrize("which", WITH_HANDLERS)
BY_TOOL = pytest.mark.parametrize("which", [*WITH_HANDLERS, pytest.param("old", marks=pytest.mark.slow)])
"""Ours without a handler, and with one that passes all records on; and the legacy tool."""
PASSES_ON = """
def handle(record):
    return [record.to(record.topic)]
"""
SEEN = pytest.StashKey[Verdict]()


@pytest.fixture(scope="module")
def proxy() -> Iterator[HoldingProxy]:
    """Stand before the brokers of a module's clusters."""
    with HoldingProxy() as made:
        yield made


@dataclass(frozen=True)
class Scene:
    """One topic that is mirrored by one group from one cluster to another."""

    source: Any
    target: Any
    topic: str
    group: str
    partitions: int
    start_tool: Callable[..., ToolProcess]
    ledger: Ledger
    options: tuple[str, ...] = ()
    """What every process of the tool is given."""
    stash: pytest.Stash = field(default_factory=pytest.Stash)
    """Keeps the last verdict for the report."""

    def load(self, count: int, size: int = 100, **work_settings: Any) -> None:
        """More records at the source, each in the ledger; the keywords are those of `Workload`."""
        work = Workload(count, size, **work_settings)
        refused = produce(self.ledger, {"bootstrap.servers": self.source.bootstrap}, work)
        assert refused == 0

    def mirror(self, *options: str, consumer: Any = None, producer: Any = None, **settings: Any) -> ToolProcess:
        """Start the tool."""
        read = {"bootstrap.servers": self.source.bootstrap, "group.id": self.group, "auto.offset.reset": "earliest"}
        written = {"bootstrap.servers": self.target.bootstrap, **(producer or {})}
        words = ("--whitelist", self.topic, *self.options, *options)
        return self.start_tool(read | (consumer or {}), written, *words, **settings)

    def arrived(self) -> int:
        """Records at the target."""
        return sum(end_offsets(self.target.bootstrap, self.topic).values())

    def committed(self) -> int:
        """Sum of the group's committed offsets."""
        return sum(committed(self.source.bootstrap, self.group, [self.topic]).values())

    def wait_for(self, count: int) -> None:
        """Until the target holds this many records."""
        wait_until(lambda: self.arrived() >= count, PATIENCE, f"{count} records at the target")

    def wait_committed(self, count: int) -> None:
        """Until everything is copied and committed."""
        wait_until(lambda: self.committed() >= count, PATIENCE, f"{count} committed records")

    def verdict(self) -> Verdict:
        """What the ledger says about the target."""
        verdict = check(self.ledger, {"bootstrap.servers": self.target.bootstrap})
        self.stash[SEEN] = verdict
        return verdict

    def differences(self, *, allow_duplicates: bool) -> list[str]:
        """What the ledger finds: lost, altered, misplaced, reordered, or doubled where that is not allowed."""
        verdict = self.verdict()
        misplaced = [f"{verdict.moved} records in the wrong partition"] if verdict.moved else []
        return verdict.differences(allow_duplicates=allow_duplicates) + misplaced


@pytest.fixture
def which() -> str:
    """`old`, the legacy tool; else ours, or ours with a handler. A parameter of this name overrides it."""
    return report.OURS


@pytest.fixture
def start_which(request: pytest.FixtureRequest, which: str) -> Callable[..., ToolProcess]:
    """Starts the tool that is asked for; a module whose subject is no process says `OURS = "our_mirror"`."""
    ours = getattr(request.module, "OURS", "our_tool")
    start: Callable[..., ToolProcess] = request.getfixturevalue("old_tool" if which == "old" else ours)
    return start


@pytest.fixture
def handler_options(request: pytest.FixtureRequest, which: str, tmp_path: Path) -> tuple[str, ...]:
    """The options that choose the handler."""
    if which == PYTHON:
        script = tmp_path / "passes_on.py"
        script.write_text(PASSES_ON)
        return ("--message.handler", str(script))
    if which == JAR:
        jar = request.getfixturevalue("handler_jars")["PassesOn"]
        return ("--message.handler", "PassesOn", "--handler.classpath", str(jar))
    if which == STEPS:
        return ("--handler.step", "filter.topic=.*")
    return ()


@pytest.fixture
def make_scene(
    request: pytest.FixtureRequest,
    topic: Callable[[str], str],
    group: str,
    start_which: Callable[..., ToolProcess],
    handler_options: tuple[str, ...],
) -> Callable[..., Scene]:
    """(source, target, records, partitions) -> a scene with its topic made at both ends and loaded at the source."""

    def make(
        source: Any,
        target: Any,
        records: int,
        partitions: int = 4,
        size: int = 100,
        replication: Any = (1, 1),
        target_partitions: int = 0,
    ) -> Scene:
        name = topic("f")
        stash = request.node.stash
        scene = Scene(source, target, name, group, partitions, start_which, Ledger(name), handler_options, stash)
        counts = (partitions, target_partitions or partitions)
        for cluster, count, copies in zip((source, target), counts, replication, strict=True):
            settings = {"max.message.bytes": "3000000"}
            create_topic(cluster.bootstrap, scene.topic, count, copies, config=settings)
        scene.load(records, size)
        return scene

    return make


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tests with a scenario's number write the table, where that is asked for; those of exactly once are counted."""
    outcome = yield
    if outcome.when == "call":
        report.count(item, outcome.outcome)
        report.record(item, outcome.outcome, item.stash.get(SEEN, None))
    return outcome
