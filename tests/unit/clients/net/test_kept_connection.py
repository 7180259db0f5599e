"""A connection for small requests: made at need, made anew once where it is broken, closed when it is idle."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import inf
from threading import Event
from typing import Any

import pytest

from legacy_mm.base.clock import monotonic
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.clients.net.kept_connection import KeptConnection, Reconnects
from tests.fixtures import client_settings


class Answering:
    """A connection that answers as often as it is told to, and then is lost."""

    def __init__(self, answers: int) -> None:
        self.closed = False
        self.patience: list[float] = []
        self._left = answers

    def call(self, request: object, patience: float) -> object:
        """Return the request."""
        self.patience.append(patience)
        if not self._left or self.closed:
            raise ConnectionLost("it closed the connection")
        self._left -= 1
        return request

    def close(self) -> None:
        """End it."""
        self.closed = True


class Made:
    """What was connected to so far."""

    def __init__(self, *answers: int) -> None:
        self.connections: list[Answering] = []
        self._answers = list(answers)

    def __call__(self) -> Any:
        self.connections.append(Answering(self._answers.pop(0)))
        return self.connections[-1]


def test_a_broken_connection_is_made_anew_once() -> None:
    made, kept = Made(2, 1, 0), KeptConnection(Event())
    assert [kept.call(number, made) for number in range(3)] == [0, 1, 2]
    assert len(made.connections) == 2
    with pytest.raises(ConnectionLost):
        kept.call(3, made)
    assert len(made.connections) == 3


def test_only_a_connection_that_was_not_used_since_then_is_closed() -> None:
    made, kept = Made(1, 1), KeptConnection(Event())
    before = monotonic()
    kept.call(0, made)
    closed: list[bool] = []
    for moment in (before, monotonic() + 1):
        kept.close_if_idle(moment)
        closed.append(made.connections[0].closed)
    assert closed == [False, True]
    assert kept.call(1, made) == 1


def test_none_is_left_open_once_all_is_over() -> None:
    over = Event()
    made, kept = Made(5), KeptConnection(over)
    over.set()
    with pytest.raises(ConnectionLost):
        kept.call(0, made)
    assert made.connections[0].closed


def test_a_kept_connection_has_half_of_the_patience() -> None:
    """A firewall may have forgotten it; a fresh one has all of it."""
    made, kept = Made(2, 1), KeptConnection(Event())
    for patience in (inf, 8.0, 4.0):
        kept.call(0, made, patience)
    assert [each.patience for each in made.connections] == [[inf, 4.0, 2.0], [4.0]]


def test_who_waits_for_another_thread_gives_up_when_patience_is_over() -> None:
    kept, begun, goes_on = KeptConnection(Event()), Event(), Event()

    def slow() -> Any:
        begun.set()
        goes_on.wait()
        return Answering(1)

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(kept.call, 0, slow)
        begun.wait()
        with pytest.raises(ConnectionLost, match="an earlier question is still without an answer"):
            kept.call(1, Made(1), 0.01)
        goes_on.set()
        assert first.result() == 0


PROPERTIES = {"reconnect.backoff.ms": "100", "reconnect.backoff.max.ms": "300"}


class Waits(Event):
    """Notes how long it was to wait, and does not."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        return self.is_set()


def fail(reconnects: Reconnects, port: int = 1) -> None:
    with pytest.raises(ConnectionLost), reconnects.turn("host", port):
        raise ConnectionLost("no")


def test_pauses_double_up_to_the_most_and_end_with_success() -> None:
    waits = Waits()
    reconnects = Reconnects(client_settings.read_connection(PROPERTIES), waits)
    for _ in range(4):
        fail(reconnects)
    fail(reconnects, port=2)
    for _ in range(2):
        with reconnects.turn("host", 1):
            pass
    expected = [0.0, 0.1, 0.2, 0.3, 0.0, 0.3, 0.0]
    assert waits.seconds == pytest.approx(expected, rel=0.3)


def test_who_is_closed_does_not_try() -> None:
    waits = Waits()
    waits.set()
    with (
        pytest.raises(ConnectionLost, match="closed here"),
        Reconnects(client_settings.read_connection(PROPERTIES), waits).turn("host", 1),
    ):
        pytest.fail("it tried")


def test_an_address_that_is_away_for_days_is_still_tried() -> None:
    reconnects = Reconnects(client_settings.read_connection(PROPERTIES), Waits())
    for _ in range(2_000):
        fail(reconnects)


def test_who_has_no_time_for_the_pause_does_not_try() -> None:
    waits = Waits()
    reconnects = Reconnects(client_settings.read_connection(PROPERTIES), waits)
    fail(reconnects)
    with (
        pytest.raises(ConnectionLost, match=r"host:1 failed 1 times and may only be tried again in 0\.\d+ s"),
        reconnects.turn("host", 1, 0.01),
    ):
        pytest.fail("it tried")
    assert waits.seconds[-1] == 0.01
