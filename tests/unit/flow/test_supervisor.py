"""Each flow fails and starts again alone; a signal stops all of them, with what was copied committed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import ConfigurationError, EndlessCopy, HostError, StreamFailure, one_line
from legacy_mm.flow import supervisor
from legacy_mm.flow.mirror import Failures, MirrorOrders
from legacy_mm.flow.supervisor import FlowPhase, SupervisedFlow, Supervisor
from legacy_mm.logs.events import FLOW_REFUSED, STOP_OVERDUE
from legacy_mm.metrics.health import Phase
from legacy_mm.policies import growing_pauses

TERM = 15


class FakeMirror:
    """A mirror that runs until it is stopped."""

    def __init__(self, start_error: BaseException | None = None) -> None:
        self.failures = Failures()
        self.orders = MirrorOrders()
        self.started = threading.Event()
        self.stops: list[bool] = []
        self.next: Callable[[], FakeMirror] | None = None
        self._start_error = start_error

    def start(self) -> None:
        self.started.set()
        if self._start_error is not None:
            raise self._start_error

    def successor(self) -> Callable[[], FakeMirror] | None:
        return self.next

    def keep_to_orders(self) -> None:
        """It has no streams."""

    def stopped(self) -> bool:
        return bool(self.stops)

    def stop(self, deadline: Deadline, *, commit: bool) -> None:
        self.stops.append(commit)

    def join(self, deadline: Deadline) -> bool:
        return True

    def uncommitted(self) -> dict[Any, int]:
        return {}


class FakeHost:
    """A host that works until it is told to fail."""

    def __init__(self) -> None:
        self.phase = Phase.STARTING
        self.error: BaseException | None = None
        self.closed = False
        self.looks = 0

    def failure(self) -> BaseException | None:
        self.looks += 1
        return self.error

    def close(self, deadline: Deadline) -> None:
        self.closed = True


class Run:
    """`Supervisor.run` in a thread of its own."""

    def __init__(self, *flows: SupervisedFlow, outlives_flows: bool = False) -> None:
        self.host = FakeHost()
        self.signals = SimpleNamespace(arrived=queue.SimpleQueue(), shutdown_timeout=5.0, limit=lambda code: None)
        self.codes: list[int] = []
        self.supervisor = Supervisor(self.host, self.signals, outlives_flows=outlives_flows)  # type: ignore[arg-type]
        self.keepers = [self.supervisor.add(each) for each in flows]
        self._thread = threading.Thread(
            target=lambda: self.codes.append(self.supervisor.run()),
            daemon=True,  # so that a test that fails ends
        )
        self._thread.start()

    def end(self) -> int:
        self.signals.arrived.put(TERM)
        return self.wait()

    def wait(self) -> int:
        self._thread.join(10)
        return self.codes[0]


@pytest.fixture(autouse=True)
def _short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_pauses, "_FIRST", 0.05)
    monkeypatch.setattr(supervisor, "_LOOK_INTERVAL", 0.02)
    monkeypatch.setattr(supervisor, "_FAILURE_LOOK_INTERVAL", 0.02)


def flow(
    name: str, build: Callable[[], Any], on_change: Callable[[FlowPhase, str], None] = lambda phase, reason: None
) -> SupervisedFlow:
    return SupervisedFlow(name, "MirrorSourceConnector", build, on_change)


def test_a_signal_stops_all_flows_and_commits() -> None:
    mirrors = [FakeMirror(), FakeMirror()]
    run = Run(flow("A->B", lambda: mirrors[0]), flow("B->A", lambda: mirrors[1]))
    assert all(mirror.started.wait(5) for mirror in mirrors)
    assert run.end() == 128 + TERM
    assert [mirror.stops for mirror in mirrors] == [[True], [True]]
    assert run.host.closed
    assert run.host.phase is Phase.STOPPING


def test_a_flow_that_fails_is_built_again_and_the_other_goes_on() -> None:
    healthy, broken, again = FakeMirror(), FakeMirror(), FakeMirror()
    made, changes = iter([broken, again]), list[tuple[FlowPhase, str]]()
    run = Run(flow("A->B", lambda: healthy), flow("B->A", lambda: next(made), lambda *each: changes.append(each)))
    assert broken.started.wait(5)
    broken.failures.failed_outside(StreamFailure("gone"))
    assert again.started.wait(5)
    assert broken.stops == [True], "what it copied is committed, so the next try does not copy it again"
    assert healthy.stops == []
    run.end()
    assert [phase for phase, _ in changes] == [
        FlowPhase.STARTING,
        FlowPhase.RUNNING,
        FlowPhase.FAILED,  # until it runs
        FlowPhase.RUNNING,
        FlowPhase.STOPPED,
    ]
    assert [why.split(":")[0] for _, why in changes if why] == ["gone"]
    assert (healthy.stops, again.stops) == ([True], [True])


def test_a_flow_that_cannot_start_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    started, tries = FakeMirror(), iter([HostError("away"), HostError("away")])

    def build() -> FakeMirror:
        if (error := next(tries, None)) is not None:
            raise error
        return started

    run = Run(flow("A->B", build))
    assert started.started.wait(5)
    run.end()
    failed = [record.getMessage() for record in caplog.records if "starts again" in record.getMessage()]
    assert [text.split(" in ")[1].split(" s,")[0] for text in failed] == ["0.05", "0.1"]
    assert all("A->B" in text and "away" in text for text in failed)


def test_a_fault_of_our_own_is_said_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    started, tries = FakeMirror(), iter([ZeroDivisionError("our fault")])

    def build() -> FakeMirror:
        if (error := next(tries, None)) is not None:
            raise error
        return started

    run = Run(flow("A->B", build))
    assert started.started.wait(5)
    run.end()
    assert [record for record in caplog.records if "our fault" in record.getMessage()]


def test_a_flow_that_can_never_run_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []

    def build() -> FakeMirror:
        tries.append(1)
        raise ConfigurationError("one cluster")

    assert Run(flow("A->B", build)).wait() == 2
    assert tries == [1]
    assert [record for record in caplog.records if "until its configuration is changed" in record.getMessage()]


def test_a_flow_that_would_copy_for_ever_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    made = [mirror := FakeMirror()]
    run = Run(flow("A->B", made.pop))
    assert mirror.started.wait(5)
    mirror.failures.failed_outside(EndlessCopy("records multiply"))
    assert run.wait() == 2
    assert mirror.stops == [True], "what was copied is committed"
    assert [record for record in caplog.records if "is changed: records multiply" in record.getMessage()]


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError(), SystemExit(1)], ids=repr)
def test_a_mirror_that_started_in_part_is_ended_and_built_again(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    healthy, broken, again = FakeMirror(), FakeMirror(error), FakeMirror()
    made = iter([broken, again])
    run = Run(flow("A->B", lambda: healthy), flow("B->A", lambda: next(made)))
    assert again.started.wait(5)
    run.end()
    assert (broken.stops, again.stops, healthy.stops) == ([False], [True], [True])
    assert [
        record
        for record in caplog.records
        if f"starts again in 0.05 s, the other flows go on: {one_line(error)}" in record.getMessage()
    ]


def test_a_failure_that_is_no_error_of_ours_ends_no_flow_in_silence() -> None:
    """Threads end without a word after SystemExit, which code of a user may raise."""
    broken, again = FakeMirror(), FakeMirror()
    made = iter([broken, again])
    run = Run(flow("A->B", lambda: next(made)))
    assert broken.started.wait(5)
    broken.failures.failed_outside(SystemExit(1))
    assert again.started.wait(5)
    run.end()


def test_a_flow_without_a_thread_is_tried_again_and_the_other_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    errors = [RuntimeError("can't start new thread"), MemoryError()]
    start = threading.Thread.start

    def no_thread_at_first(thread: threading.Thread) -> None:
        if thread.name == "flow-A->B" and errors:
            raise errors.pop(0)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", no_thread_at_first)
    late, healthy = FakeMirror(), FakeMirror()
    run = Run(flow("A->B", lambda: late), flow("B->A", lambda: healthy))
    assert healthy.started.wait(5)
    assert late.started.wait(5)
    assert run.end() == 128 + TERM
    assert (late.stops, healthy.stops) == ([True], [True])
    assert [record for record in caplog.records if "can't start new thread" in record.getMessage()]


def test_a_flow_without_a_thread_holds_up_no_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, start = threading.Event(), threading.Thread.start

    def no_thread(thread: threading.Thread) -> None:
        if thread.name == "flow-A->B":
            tried.set()
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    run = Run(flow("A->B", FakeMirror))
    assert tried.wait(5)
    assert run.end() == 128 + TERM


def test_a_file_that_is_missing_for_a_moment_refuses_no_flow_that_has_run(caplog: pytest.LogCaptureFixture) -> None:
    """Its restart and the exchange of its key store meet easily, because it restarts for its old certificate."""
    first, again = FakeMirror(), FakeMirror()
    made: Iterator[FakeMirror | None] = iter([first, None, again])

    def build() -> FakeMirror:
        if (mirror := next(made)) is None:
            raise ConfigurationError("/etc/mm/keys.jks cannot be read: No such file or directory")
        return mirror

    run = Run(flow("A->B", build))
    assert first.started.wait(5)
    first.failures.failed_outside(StreamFailure("certificate expired"))
    assert again.started.wait(5)
    assert run.end() == 128 + TERM
    assert FLOW_REFUSED not in {vars(record).get("event") for record in caplog.records}
    assert [record for record in caplog.records if "keys.jks cannot be read" in record.getMessage()]


def test_changed_key_stores_come_into_use_each_time() -> None:
    """Each mirror stops with a commit for the next one; the flow goes on running, and is not built again."""
    mirrors, changes = [FakeMirror(), FakeMirror(), FakeMirror()], list[FlowPhase]()
    run = Run(flow("A->B", lambda: mirrors[0], lambda phase, _: changes.append(phase)))
    for before, after in pairwise(mirrors):
        assert before.started.wait(5)
        before.next = partial(lambda mirror: mirror, after)
    assert mirrors[2].started.wait(5)
    run.end()
    assert [mirror.stops for mirror in mirrors] == [[True], [True], [True]]
    assert changes == [FlowPhase.STARTING, FlowPhase.RUNNING, FlowPhase.STOPPED]


@pytest.mark.parametrize("error", [HostError("no client"), RuntimeError("can't start new thread")], ids=repr)
def test_a_successor_that_cannot_be_made_is_a_failure_of_its_flow(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    first, again = FakeMirror(), FakeMirror()
    made = iter([first, again])

    def make() -> FakeMirror:
        raise error

    run = Run(flow("A->B", lambda: next(made)))
    assert first.started.wait(5)
    first.next = make
    assert again.started.wait(5)
    run.end()
    assert [record for record in caplog.records if f"the other flows go on: {one_line(error)}" in record.getMessage()]


def test_a_flow_that_waits_for_its_next_try_stops_at_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_pauses, "_FIRST", 3_600.0)
    tried = threading.Event()

    def build() -> FakeMirror:
        tried.set()
        raise HostError("away")

    run = Run(flow("A->B", build))
    assert tried.wait(5)
    assert run.end() == 128 + TERM
    assert STOP_OVERDUE not in {vars(record).get("event") for record in caplog.records}


def test_the_end_of_java_ends_all(caplog: pytest.LogCaptureFixture) -> None:
    mirror = FakeMirror()
    run = Run(flow("A->B", lambda: mirror))
    assert mirror.started.wait(5)
    run.host.error = StreamFailure("the Java process for Spark has ended")
    assert run.wait() == 3
    assert run.host.phase is Phase.FAILED
    said = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert said == ["All flows of this process stop: the Java process for Spark has ended"], "no stream is to blame"


def test_a_changed_flow_takes_the_place_of_the_one_before() -> None:
    before, after, other = FakeMirror(), FakeMirror(), FakeMirror()
    run = Run(flow("A->B", lambda: before), flow("B->A", lambda: other))
    assert before.started.wait(5)
    run.keepers[0].change(flow("A->B", lambda: after))
    assert after.started.wait(5)
    assert before.stops == [True], "what was copied is committed before the next one begins"
    assert other.stops == []
    run.end()
    assert (after.stops, other.stops) == ([True], [True])


def test_a_refused_flow_runs_once_it_is_changed() -> None:
    def refuse() -> FakeMirror:
        raise ConfigurationError("no such key")

    good, other, refusals = FakeMirror(), FakeMirror(), queue.SimpleQueue[str]()
    run = Run(
        flow("A->B", refuse, lambda phase, why: refusals.put(why) if phase is FlowPhase.FAILED else None),
        flow("B->A", lambda: other),
    )
    assert "no such key" in refusals.get(timeout=5)
    run.keepers[0].change(flow("A->B", lambda: good))
    assert good.started.wait(5)
    run.end()


def test_a_flow_that_is_away_is_not_waited_for_once_it_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_pauses, "_FIRST", 60.0)

    def fail() -> FakeMirror:
        raise HostError("away")

    good = FakeMirror()
    run = Run(flow("A->B", fail))
    run.keepers[0].change(flow("A->B", lambda: good))
    assert good.started.wait(5)
    run.end()


def test_a_mirror_that_does_not_stop_for_a_change_is_a_failure_of_the_flow() -> None:
    """Two mirrors of one flow would write the same records."""
    before, after = FakeMirror(), FakeMirror()
    joined = iter([False])
    before.join = lambda deadline: next(joined, True)  # type: ignore[method-assign]
    failures = queue.SimpleQueue[str]()
    run = Run(flow("A->B", lambda: before, lambda phase, why: failures.put(why) if why else None))
    assert before.started.wait(5)
    run.keepers[0].change(flow("A->B", lambda: after))
    assert "not stopped after 5 s for a change" in failures.get(timeout=5)
    assert after.started.wait(5), "once it is gone, the changed flow runs"
    run.end()


def test_a_flow_that_is_added_runs_and_one_that_is_removed_stops() -> None:
    first, second = FakeMirror(), FakeMirror()
    run = Run(flow("A->B", lambda: first))
    assert first.started.wait(5)
    run.supervisor.add(flow("B->A", lambda: second))
    assert second.started.wait(5)
    run.supervisor.remove(run.keepers[0])
    assert run.keepers[0].join(Deadline.after(5))
    assert (first.stops, second.stops) == ([True], [])
    run.end()
    assert second.stops == [True]


def test_who_may_add_a_flow_finds_the_process_although_none_is_left() -> None:
    """Else a worker would end with its last connector."""
    first, second = FakeMirror(), FakeMirror()
    run = Run(flow("A->B", lambda: first), outlives_flows=True)
    assert first.started.wait(5)
    run.supervisor.remove(run.keepers[0])
    seen = run.host.looks
    wait_until(lambda: run.host.looks > seen + 1, 5, "a look without a flow")
    run.supervisor.add(flow("B->A", lambda: second))
    assert second.started.wait(5)
    assert run.end() == 128 + TERM


def test_a_flow_that_is_to_stop_while_it_gives_its_place_away_has_no_successor() -> None:
    before, after, joined = FakeMirror(), FakeMirror(), threading.Event()
    run = Run(flow("A->B", lambda: before))
    keeper = run.keepers[0]

    def join(deadline: Deadline) -> bool:
        keeper.stop(Deadline.after(5))
        joined.set()
        return True

    before.join = join  # type: ignore[method-assign]
    assert before.started.wait(5)
    keeper.change(flow("A->B", lambda: after))
    assert joined.wait(5)
    assert run.end() == 128 + TERM
    assert not after.started.is_set()
