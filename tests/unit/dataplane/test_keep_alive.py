"""A call that takes long is reported as alive, by a thread that is there only as long as calls come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import ChannelError
from legacy_mm.dataplane import keep_alive
from legacy_mm.dataplane.keep_alive import IDLE_INTERVAL, KeepAlive, ReportTimes

SECONDS = 20.0


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep_alive, "BEAT_INTERVAL", 0.01)
    monkeypatch.setattr(keep_alive, "_IDLE_BEATS", 3)


@pytest.fixture
def beating() -> Callable[[], int]:
    """How many threads beat; those of earlier tests have ended."""

    def count() -> int:
        return sum(thread.name == "beat" for thread in threading.enumerate())

    wait_until(lambda: count() == 0, SECONDS, "the end of earlier tests' thread")
    return count


def test_nothing_runs_before_the_first_call(beating: Callable[[], int]) -> None:
    KeepAlive(lambda: None)
    assert beating() == 0


def test_each_long_call_is_reported_and_the_thread_ends_behind_the_last(beating: Callable[[], int]) -> None:
    beats = threading.Semaphore(0)
    alive = KeepAlive(beats.release)
    for _ in range(3):
        with alive:
            assert beats.acquire(timeout=SECONDS)
            assert beating() == 1
        wait_until(lambda: beating() == 0, SECONDS, "the end of the thread")


def test_calls_in_a_row_share_a_thread(beating: Callable[[], int]) -> None:
    alive = KeepAlive(lambda: None)
    for _ in range(100):
        with alive:
            assert beating() == 1


def test_a_call_that_begins_while_the_thread_ends_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    beats = threading.Semaphore(0)
    alive = KeepAlive(beats.release)
    with alive:
        pass

    def is_to_watch() -> bool:
        entered.set()
        assert go_on.wait(SECONDS)
        return usual()

    usual, entered, go_on = alive._is_to_watch, threading.Event(), threading.Event()
    monkeypatch.setattr(alive, "_is_to_watch", is_to_watch)
    alive._since = 0.0  # as if a call began after the thread had found none
    monkeypatch.setattr(keep_alive, "_IDLE_BEATS", 0)
    assert entered.wait(SECONDS)
    go_on.set()
    assert beats.acquire(timeout=SECONDS)
    alive._since = None


def test_one_thread_reports_the_calls_of_all_engines(beating: Callable[[], int]) -> None:
    beats = [threading.Semaphore(0) for _ in range(20)]
    with ExitStack() as calls:
        for each in beats:
            calls.enter_context(KeepAlive(each.release))
        for each in beats:
            assert each.acquire(timeout=SECONDS)
            assert beating() == 1
    wait_until(lambda: beating() == 0, SECONDS, "the end of the thread")


@pytest.mark.parametrize("error", [ChannelError("gone"), RuntimeError("a fault")], ids=["channel", "fault"])
def test_an_engine_that_cannot_report_ends_no_report_of_others(
    beating: Callable[[], int], capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def broken() -> None:
        failed.set()
        raise error

    failed, beats = threading.Event(), threading.Semaphore(0)
    with KeepAlive(broken):
        assert failed.wait(SECONDS)
        with KeepAlive(beats.release):
            for _ in range(3):
                assert beats.acquire(timeout=SECONDS)
        wait_until(lambda: beating() == 0, SECONDS, "the end of the thread, though the broken call lasts")
    assert ("RuntimeError: a fault" in capsys.readouterr().err) is isinstance(error, RuntimeError)


def test_a_call_that_begins_while_its_engine_is_forgotten_is_watched(beating: Callable[[], int]) -> None:
    """Between the thread's last look at it and its removal."""
    beats = threading.Semaphore(0)

    class Late(KeepAlive):
        def poll(self) -> bool:
            goes_on = super().poll()
            if not goes_on and not called.is_set():
                called.set()
                self.__enter__()
            return goes_on

    called = threading.Event()
    alive = Late(beats.release)
    with alive:
        pass
    assert beats.acquire(timeout=SECONDS)
    alive.__exit__()
    wait_until(lambda: beating() == 0, SECONDS, "the end of the thread")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(at=100.0)
    monkeypatch.setattr(keep_alive, "monotonic", lambda: now.at)
    return now


def test_with_work_it_looks_often_and_reports_each_second(clock: SimpleNamespace) -> None:
    times = ReportTimes(1.0, 0.1, lambda: False)
    assert times.due()
    times.sent()
    assert (times.due(), times.pause(), times.soon()) == (False, 0.1, False)
    clock.at += 1.0
    assert times.due()


def test_without_work_it_waits_for_a_later_report(clock: SimpleNamespace) -> None:
    """News bring the usual one back, and the thread has to be woken for it."""
    times = ReportTimes(1.0, 0.1, lambda: True)
    times.sent()
    assert times.pause() == IDLE_INTERVAL
    clock.at += 0.5
    assert times.soon()
    assert times.pause() == 1.0
    clock.at += 9.0
    assert (times.due(), times.pause()) == (True, 0.0)
