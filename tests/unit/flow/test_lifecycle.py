"""Several mirrors in one process: one life, one deadline. Stand-ins for streams write down their calls."""

from __future__ import annotations

import queue
import signal
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, SourceGap, StreamFailure
from legacy_mm.controlplane.stream import Stream
from legacy_mm.flow import lifecycle
from legacy_mm.flow.mirror import Failures, Mirror, Renewal
from legacy_mm.metrics.health import Phase

HOST: Any = SimpleNamespace(
    spark=SimpleNamespace(jvm=SimpleNamespace(pid=0)),
    failure=lambda: None,
    close=lambda deadline: None,
    exits=queue.SimpleQueue(),
)


class StandIn:
    """A stream that writes down its calls."""

    def __init__(self, index: int, calls: list[str], deadlines: set[float], fail: Callable[[], None]) -> None:
        self.index = index
        self._calls, self._deadlines, self._fail = calls, deadlines, fail

    def start(self) -> None:
        self._calls.append(f"start {self.index}")
        self._fail()

    def stop(self, deadline: Deadline, *, commit: bool) -> None:
        self._calls.append(f"stop {self.index}, commit {commit}")
        self._deadlines.add(deadline.at)

    def join(self, _: float) -> None:
        self._calls.append(f"join {self.index}")

    def is_alive(self) -> bool:
        return False

    def uncommitted(self) -> dict[Any, int]:
        return {}


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> dict[int, Callable[[int, None], None]]:
    """What the process would do at a signal, whatever it inherited."""
    installed: dict[int, Callable[[int, None], None]] = {}
    monkeypatch.setattr(signal, "signal", installed.__setitem__)
    monkeypatch.setattr(signal, "getsignal", lambda number: installed.get(number, signal.SIG_DFL))
    return installed


@pytest.fixture
def ended() -> queue.SimpleQueue[int]:
    """The codes with which the process was ended because its time was over."""
    return queue.SimpleQueue()


@pytest.fixture
def signals(handlers: object, ended: queue.SimpleQueue[int]) -> lifecycle.Signals:
    return lifecycle.Signals(30.0, ended.put)


@pytest.fixture
def no_time(signals: lifecycle.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    signals.shutdown_timeout = 0.0
    monkeypatch.setattr(lifecycle, "_OVERDUE_TIMEOUT", 0.0)


def run(
    signals: lifecycle.Signals, failing: int | None = None, error: type[Exception] = StreamFailure
) -> tuple[int, list[str], set[float]]:
    """Exit code, calls and deadlines of two mirrors with a stream each."""
    calls: list[str] = []
    deadlines: set[float] = set()

    def mirror(index: int) -> Mirror:
        failures = Failures()

        def fail() -> None:
            if index == failing:
                failures.failed(index, error("it fails"))

        stream: Any = StandIn(index, calls, deadlines, fail)
        watch: Any = SimpleNamespace(start=lambda: None, stop=lambda: None)
        return Mirror([stream], watch, failures)

    return lifecycle.run([mirror(0), mirror(1)], HOST, signals), calls, deadlines


def test_a_signal_stops_all_side_by_side(signals: lifecycle.Signals) -> None:
    signals.arrived.put(signal.SIGTERM)
    code, calls, deadlines = run(signals)
    assert code == 143
    assert calls == ["start 0", "start 1", "stop 0, commit True", "stop 1, commit True", "join 0", "join 1"]
    assert len(deadlines) == 1
    assert HOST.phase is Phase.STOPPING


def test_a_handler_that_ends_the_program_stops_all_as_a_signal_does(signals: lifecycle.Signals) -> None:
    """Java's code comes behind the order to stop."""
    HOST.exits.put(0)
    HOST.exits.put(7)
    code, calls, _ = run(signals)
    assert code == 7
    assert "stop 0, commit True" in calls
    assert HOST.phase is Phase.STOPPING


def test_a_mirror_with_changed_stores_gives_way_to_its_successor(signals: lifecycle.Signals) -> None:
    """It stops and commits before the other one starts; a signal then ends that one."""
    calls: list[str] = []
    deadlines: set[float] = set()
    watch: Any = SimpleNamespace(
        start=lambda: None, stop=lambda: None, finish=lambda deadline: None, renewed="new keys"
    )

    def mirror(index: int, renewal: Renewal | None, on_start: Callable[[], None]) -> Mirror:
        stream: Any = StandIn(index, calls, deadlines, on_start)
        return Mirror([stream], watch, Failures(), renewal=renewal)

    def successor() -> Mirror:
        return mirror(1, None, lambda: signals.arrived.put(signal.SIGTERM))

    first = mirror(0, Renewal(watch, successor), lambda: None)
    assert lifecycle.run([first], HOST, signals) == 143
    assert calls == ["start 0", "stop 0, commit True", "join 0", "start 1", "stop 1, commit True", "join 1"]


def test_the_streams_of_a_mirror_are_restarted_together_or_one_by_one() -> None:
    streams = [Mock(Stream), Mock(Stream)]
    mirror = Mirror(streams, None, Failures())
    mirror.restart()
    assert [each.restart.call_count for each in streams] == [0, 0], "what has not started needs no restart"
    mirror.start()
    mirror.restart(1)
    mirror.restart(7)
    assert [each.restart.call_count for each in streams] == [0, 1]
    mirror.restart()
    assert [each.restart.call_count for each in streams] == [1, 2]


def test_what_takes_the_place_of_a_paused_mirror_is_paused(signals: lifecycle.Signals) -> None:
    stream = Mock(Stream, index=0)
    stream.is_alive.return_value = False
    stream.pause.side_effect = lambda: signals.arrived.put(signal.SIGTERM)
    stream.uncommitted.return_value = {}
    first, successor = Mirror([], None, Failures()), Mirror([stream], None, Failures())
    first.pause()
    first.replace(lambda: successor, paused=True)
    mirrors = [first]
    assert lifecycle.run(mirrors, HOST, signals) == 143
    assert [call[0] for call in stream.mock_calls if call[0] in ("start", "pause", "resume", "stop")] == [
        "start",
        "pause",
        "stop",
    ]
    assert mirrors == [successor], "who has the list sees who runs"


def test_a_paused_mirror_that_gives_way_stays_paused() -> None:
    """It would copy between the order to stop and its stop."""
    stream = Mock(Stream, index=0)
    mirror = Mirror([stream], None, Failures())
    mirror.start()
    mirror.pause()
    mirror.replace(lambda: Mirror([], None, Failures()), paused=False)
    mirror.keep_to_orders()
    stream.resume.assert_not_called()


def test_what_is_ordered_while_a_mirror_is_replaced_is_done_next(signals: lifecycle.Signals) -> None:
    """The list still has the old mirror then: its flow is stopped, and resumed before it has stopped."""
    made: list[str] = []

    def again() -> Mirror:
        made.append("again")
        signals.arrived.put(signal.SIGTERM)
        return Mirror([], None, Failures())

    def idle() -> Mirror:
        made.append("idle")
        first.replace(again, paused=False)
        return Mirror([], None, Failures())

    first = Mirror([], None, Failures())
    first.replace(idle, paused=False)
    mirrors = [first]
    assert lifecycle.run(mirrors, HOST, signals) == 143
    assert made == ["idle", "again"]
    assert not mirrors[0].gives_way


@pytest.mark.parametrize("pause", [True, False])
def test_a_pause_that_the_old_mirror_is_told_reaches_the_new_one(signals: lifecycle.Signals, pause: bool) -> None:
    """It comes when the new one has started, and is not in the list yet."""
    stream = Mock(Stream, index=0)
    stream.is_alive.return_value = False
    stream.uncommitted.return_value = {}
    first, successor = Mirror([], None, Failures()), Mirror([stream], None, Failures())
    (stream.pause if pause else stream.resume).side_effect = lambda: signals.arrived.put(signal.SIGTERM)
    told = [first.pause if pause else first.resume]
    keep = successor.keep_to_orders

    def late() -> None:
        keep()
        while told:
            told.pop()()

    successor.keep_to_orders = late  # type: ignore[method-assign]
    first.replace(lambda: successor, paused=not pause)
    assert lifecycle.run([first], HOST, signals) == 143
    assert [call[0] for call in stream.mock_calls if call[0] in ("pause", "resume")][-1] == (
        "pause" if pause else "resume"
    )


def test_a_mirror_that_fails_while_it_stops_has_no_successor(signals: lifecycle.Signals) -> None:
    watch: Any = SimpleNamespace(start=lambda: None, stop=lambda: None, finish=lambda deadline: None, renewed=None)

    class Failing(StandIn):
        def stop(self, deadline: Deadline, *, commit: bool) -> None:
            self._fail()

    failures = Failures()

    def fail() -> None:
        if watch.renewed:
            failures.failed(0, StreamFailure("it fails"))
        watch.renewed = "new keys"

    stream: Any = Failing(0, [], set(), fail)

    def successor() -> Mirror:
        raise AssertionError

    mirror = Mirror([stream], watch, failures, renewal=Renewal(watch, successor))
    assert lifecycle.run([mirror], HOST, signals) == 255


def test_a_successor_that_cannot_be_made_ends_the_mirror(signals: lifecycle.Signals) -> None:
    calls: list[str] = []
    watch: Any = SimpleNamespace(start=lambda: None, stop=lambda: None, finish=lambda deadline: None, renewed="new")

    def successor() -> Mirror:
        raise HostError("no client")

    stream: Any = StandIn(0, calls, set(), lambda: None)
    mirror = Mirror([stream], watch, Failures(), renewal=Renewal(watch, successor))
    assert lifecycle.run([mirror], HOST, signals) == HostError.exit_code
    assert calls.count("stop 0, commit True") == 1


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()], ids=repr)
def test_threads_that_cannot_be_made_end_all_in_order(signals: lifecycle.Signals, error: Exception) -> None:
    """What has started is stopped and joined; a stream that never started cannot be."""
    calls: list[str] = []
    watch: Any = SimpleNamespace(start=lambda: calls.append("watch"), stop=lambda: None)
    background: Any = SimpleNamespace(stop=lambda: calls.append("background"))

    def fail() -> None:
        raise error

    streams: list[Any] = [StandIn(0, calls, set(), lambda: None), StandIn(1, calls, set(), fail)]
    assert lifecycle.run([Mirror(streams, watch, Failures(), [background])], HOST, signals) == 255
    assert calls == ["start 0", "start 1", "stop 0, commit False", "join 0"]


def test_background_work_that_started_in_part_is_ended(signals: lifecycle.Signals) -> None:
    calls: list[str] = []

    def background(name: str, error: Exception | None = None) -> Any:
        def start() -> None:
            if error is not None:
                raise error

        stop, finish = (partial(calls.append, f"{what} {name}") for what in ("stop", "finish"))
        return SimpleNamespace(start=start, stop=stop, finish=lambda _: finish())

    work = [background("first"), background("second", RuntimeError("can't start new thread")), background("third")]
    watch: Any = SimpleNamespace(start=lambda: None, stop=lambda: None)
    assert lifecycle.run([Mirror([], watch, Failures(), work)], HOST, signals) == 255
    assert calls == ["stop first", "stop second", "finish first", "finish second"]


@pytest.mark.parametrize("failing", [0, 1])
@pytest.mark.parametrize("kind", [StreamFailure, SourceGap, RuntimeError])
def test_a_failure_of_any_ends_all(signals: lifecycle.Signals, failing: int, kind: type[Exception]) -> None:
    """What they copied is committed, unless the fault is ours."""
    code, calls, _ = run(signals, failing, kind)
    assert code == 255
    commit = kind is not RuntimeError
    assert calls[2:4] == [f"stop 0, commit {commit}", f"stop 1, commit {commit}"]
    assert HOST.phase is Phase.FAILED


@pytest.mark.usefixtures("signals", "no_time")
def test_a_signal_ends_a_start_that_hangs(
    handlers: dict[int, Callable[[int, None], None]], ended: queue.SimpleQueue[int]
) -> None:
    """No mirror ever runs."""
    handlers[signal.SIGHUP](signal.SIGHUP, None)
    handlers[signal.SIGTERM](signal.SIGTERM, None)
    assert ended.get(timeout=10) == 129


@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize("code", [143, 255])
def test_a_stop_that_hangs_is_ended(
    code: int,
    signals: lifecycle.Signals,
    handlers: dict[int, Callable[[int, None], None]],
    ended: queue.SimpleQueue[int],
) -> None:
    """The main thread comes no further; here it does once the process would be gone."""
    watch: Any = SimpleNamespace(start=lambda: None, stop=lambda: None)
    seen: list[int] = []

    class Hanging(StandIn):
        def stop(self, deadline: Deadline, *, commit: bool) -> None:
            seen.append(ended.get(timeout=10))

    failures = Failures()

    def begin() -> None:
        if code == 143:
            handlers[signal.SIGTERM](signal.SIGTERM, None)
        else:
            failures.failed(0, StreamFailure("it fails"))

    stream: Any = Hanging(0, [], set(), begin)
    assert lifecycle.run([Mirror([stream], watch, failures)], HOST, signals) == code
    assert seen == [code]
