"""How long an address is left alone after it failed."""

from __future__ import annotations

from threading import Event

import pytest

from legacy_mm.base import property_names
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.clients.net.reconnects import Reconnects

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
    reconnects = Reconnects(property_names.read_connection(PROPERTIES), waits)
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
        Reconnects(property_names.read_connection(PROPERTIES), waits).turn("host", 1),
    ):
        pytest.fail("it tried")


def test_an_address_that_is_away_for_days_is_still_tried() -> None:
    reconnects = Reconnects(property_names.read_connection(PROPERTIES), Waits())
    for _ in range(2_000):
        fail(reconnects)


def test_who_has_no_time_for_the_pause_does_not_try() -> None:
    waits = Waits()
    reconnects = Reconnects(property_names.read_connection(PROPERTIES), waits)
    fail(reconnects)
    with (
        pytest.raises(ConnectionLost, match=r"host:1 failed 1 times and may only be tried again in 0\.\d+ s"),
        reconnects.turn("host", 1, 0.01),
    ):
        pytest.fail("it tried")
    assert waits.seconds[-1] == 0.01
