"""The stop under load: any signal, sent in any way, duplicates nothing and gives the old exit status."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, delete_topic, list_topics
from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.ledger_produce import Workload, produce
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from tests.faults.conftest import BACKLOG, BY_TOOL, SIZE, Scene
from tests.faults.report import HANDLERS

pytestmark = [pytest.mark.faults, pytest.mark.spark]
RECORDS, PARTITIONS = 50_000, 4
SMALL_FETCHES = {"max.partition.fetch.bytes": "8000"}
"""Four records at a time: the backlog takes seconds, so a busy machine, too, sends its signal while records flow."""
CODES = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 129}


def to_main(tool: ToolProcess, number: signal.Signals) -> None:
    """As `kill PID`."""
    tool.signal(number)


def to_group(tool: ToolProcess, number: signal.Signals) -> None:
    """As a terminal does, or `kill -- -PGID`."""
    os.killpg(tool.pid, number)


def to_every_process(tool: ToolProcess, number: signal.Signals) -> None:
    """As systemd's `KillMode=control-group`."""
    for pid in tool.tree.pids():
        with suppress(ProcessLookupError):
            os.kill(pid, number)


SENDING = (to_main, to_group, to_every_process)
USUAL = {
    (to_main, signal.SIGTERM),
    (to_main, signal.SIGHUP),
    (to_group, signal.SIGINT),
    (to_every_process, signal.SIGTERM),
}
"""What `kill`, a terminal that closes, Ctrl-C and systemd do."""


def each_signal() -> Iterator[Any]:
    """Every way to send each signal to ours, and one way for ours with handlers and for the legacy tool."""
    for send, number in product(SENDING, CODES):
        marks = () if (send, number) in USUAL else pytest.mark.combination
        yield pytest.param(send, number, "ours", id=f"{send.__name__}-ours-{number.name}", marks=marks)
    for which, number in product((*HANDLERS, "old"), CODES):
        yield pytest.param(to_main, number, which, id=f"to_main-{which}-{number.name}", marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def backlog(source: Any) -> Ledger:
    """A topic that every test of this file copies anew."""
    ledger = Ledger(f"backlog-{uuid.uuid4().hex[:8]}")
    create_topic(source.bootstrap, ledger.topic, PARTITIONS)
    assert produce(ledger, {"bootstrap.servers": source.bootstrap}, Workload(RECORDS, SIZE)) == 0
    return ledger


@pytest.fixture
def scene(
    source: Any,
    target: Any,
    backlog: Ledger,
    group: str,
    start_which: Callable[..., ToolProcess],
    handler_options: tuple[str, ...],
) -> Scene:
    """That topic, a group that has copied nothing of it, and an empty target."""
    if backlog.topic in list_topics(target.bootstrap):
        delete_topic(target.bootstrap, backlog.topic)
    create_topic(target.bootstrap, backlog.topic, PARTITIONS)
    return Scene(source, target, backlog.topic, group, PARTITIONS, start_which, backlog, handler_options)


@pytest.mark.scenario(1)
@pytest.mark.parametrize(("send", "number", "which"), [*each_signal()])
def test_a_signal_under_load(scene: Scene, send: Callable[..., None], number: signal.Signals) -> None:
    tool = scene.mirror(consumer=SMALL_FETCHES)
    scene.wait_for(1)
    send(tool, number)
    assert tool.wait(40) == CODES[number]
    arrived = scene.arrived()
    assert 0 < arrived < RECORDS, "the signal came while records were flowing"
    assert scene.committed() == arrived, "what arrived is committed, so a next run repeats nothing"
    assert tool.tree.pids() == []


def test_under_timeout_it_copies_and_commits(scene: Scene) -> None:
    """GNU timeout signals its whole group when its time is over, and when it is told to end itself."""
    wrapper = scene.start_tool(
        {"bootstrap.servers": scene.source.bootstrap, "group.id": scene.group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": scene.target.bootstrap},
        "--whitelist",
        scene.topic,
        wrapper=("timeout", "--preserve-status", "600s"),
    )
    scene.wait_for(1)
    wrapper.signal(signal.SIGTERM)
    assert wrapper.wait(60) == 143
    assert scene.arrived() > 0
    assert scene.committed() == scene.arrived()


@BY_TOOL
@pytest.mark.scenario(4)
def test_sigkill_leaves_nothing_behind(scene: Scene, tmp_path: Path) -> None:
    """Tasks see the channel close and end; after 2 s no record is accepted, after 5 s no process is left."""
    consumer = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"} | SMALL_FETCHES
    (temporary := tmp_path / "temporary").mkdir()
    tool = scene.mirror(consumer=consumer, environment={"TMPDIR": str(temporary)})
    scene.wait_for(1)
    tool.tree.pids()
    tool.signal(signal.SIGKILL)
    writing = Deadline.after(2)
    tool.wait(5)
    wait_until(writing.expired, 5, "2 s")
    arrived = scene.arrived()
    wait_until(lambda: tool.tree.pids() == [], 3, "the end of every process")
    assert list(temporary.iterdir()) == [], "nor a file"
    assert scene.arrived() == arrived
    assert arrived < RECORDS, "it was killed while records were flowing"
    again = scene.mirror()
    scene.wait_for(arrived + RECORDS)
    again.signal(signal.SIGTERM)
    assert again.wait(40) == 143
    assert scene.arrived() == arrived + RECORDS, "nothing came from the dead"


@pytest.mark.parametrize("streams", [pytest.param(1, marks=pytest.mark.slow), 4])
@pytest.mark.parametrize("frozen", [pytest.param("source", marks=pytest.mark.slow), "target"])
def test_the_stop_ends_when_a_cluster_hangs(
    own_clusters: Callable[..., Any], make_scene: Callable[..., Scene], frozen: str, streams: int
) -> None:
    """The coordinator or the target is suspended, not dead: the deadline holds, and what was not committed is said."""
    clusters = {"source": own_clusters(), "target": own_clusters()}
    scene = make_scene(clusters["source"], clusters["target"], BACKLOG, size=SIZE)
    tool = scene.mirror("--num.streams", str(streams), "--shutdown.timeout.ms", "6000")
    scene.wait_for(1)
    broker = clusters[frozen].brokers[0]
    broker.suspend()
    try:
        tool.signal(signal.SIGTERM)
        assert tool.wait(6 + 2) == 143
        assert f"Not committed before the stop: {scene.topic}-" in tool.output()
    finally:
        broker.resume()
