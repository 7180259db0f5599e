"""A call that takes long is reported as alive, by a thread that is there only as long as calls come."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.dataplane import keep_alive
from legacy_mm.dataplane.keep_alive import KeepAlive
from legacy_mm.errors import ChannelError

SECONDS = 20.0


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep_alive, "BEAT_INTERVAL", 0.01)
    monkeypatch.setattr(keep_alive, "_IDLE_BEATS", 3)


@pytest.fixture
def beating() -> Callable[[], int]:
    """How many threads of this test beat; those of earlier tests may still be there."""
    before = set(threading.enumerate())
    return lambda: sum(thread.name == "beat" for thread in set(threading.enumerate()) - before)


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

    def is_to_run() -> bool:
        entered.set()
        assert go_on.wait(SECONDS)
        return usual()

    usual, entered, go_on = alive._is_to_run, threading.Event(), threading.Event()
    monkeypatch.setattr(alive, "_is_to_run", is_to_run)
    alive._since = 0.0  # as if a call began after the thread had found none
    monkeypatch.setattr(keep_alive, "_IDLE_BEATS", 0)
    assert entered.wait(SECONDS)
    go_on.set()
    assert beats.acquire(timeout=SECONDS)
    alive._since = None


def test_a_channel_that_is_gone_ends_it(beating: Callable[[], int]) -> None:
    def broken() -> None:
        raise ChannelError("gone")

    with KeepAlive(broken):
        wait_until(lambda: beating() == 0, SECONDS, "the end of the thread")
