"""Each flow fails and starts again alone; a signal stops all of them, with what was copied committed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.clock import Deadline
from legacy_mm.dedicated import supervisor
from legacy_mm.dedicated.supervisor import SupervisedFlow, supervise
from legacy_mm.errors import ConfigurationError, HostError, StreamFailure
from legacy_mm.logs.events import STOP_OVERDUE
from legacy_mm.metrics.health import Phase

TERM = 15


class FakeMirror:
    """A mirror that runs until it is stopped."""

    def __init__(self) -> None:
        self.failures: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
        self.started = threading.Event()
        self.stops: list[bool] = []

    def start(self) -> None:
        self.started.set()

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

    def failure(self) -> BaseException | None:
        return self.error

    def close(self, deadline: Deadline) -> None:
        self.closed = True


class Run:
    """`supervise` in a thread of its own."""

    def __init__(self, *flows: SupervisedFlow) -> None:
        self.host = FakeHost()
        self.signals = SimpleNamespace(arrived=queue.SimpleQueue(), shutdown_timeout=5.0, limit=lambda code: None)
        self.codes: list[int] = []
        self._thread = threading.Thread(target=lambda: self.codes.append(supervise(flows, self.host, self.signals)))  # type: ignore[arg-type]
        self._thread.start()

    def end(self) -> int:
        self.signals.arrived.put(TERM)
        return self.wait()

    def wait(self) -> int:
        self._thread.join(10)
        return self.codes[0]


@pytest.fixture(autouse=True)
def _short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "_FIRST_BACKOFF", 0.05)
    monkeypatch.setattr(supervisor, "_LOOK_INTERVAL", 0.02)
    monkeypatch.setattr(supervisor, "_FAILURE_LOOK_INTERVAL", 0.02)


def flow(
    name: str, build: Callable[[], Any], on_change: Callable[[str], None] = lambda failure: None
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
    made, changes = iter([broken, again]), list[str]()
    run = Run(flow("A->B", lambda: healthy), flow("B->A", lambda: next(made), changes.append))
    assert broken.started.wait(5)
    broken.failures.put(StreamFailure("gone"))
    assert again.started.wait(5)
    assert broken.stops == [False]
    assert healthy.stops == []
    run.end()
    assert [change.split(":")[0] for change in changes] == ["", "gone", ""]
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


def test_a_flow_that_waits_for_its_next_try_stops_at_once(caplog: pytest.LogCaptureFixture) -> None:
    tried = threading.Event()

    def build() -> FakeMirror:
        tried.set()
        raise HostError("away")

    run = Run(flow("A->B", build))
    assert tried.wait(5)
    assert run.end() == 128 + TERM
    assert STOP_OVERDUE not in {vars(record).get("event") for record in caplog.records}


def test_the_end_of_java_ends_all() -> None:
    mirror = FakeMirror()
    run = Run(flow("A->B", lambda: mirror))
    assert mirror.started.wait(5)
    run.host.error = StreamFailure("the Java process for Spark has ended")
    assert run.wait() == 3
    assert run.host.phase is Phase.FAILED
