"""How the driver's beat tells that the whole process stood still."""

from __future__ import annotations

import threading

import pytest

from legacy_mm.runtime.channel import beat as module
from legacy_mm.runtime.channel.beat import Beat


class Rest(threading.Event):
    """A wait that takes as long as a test wants."""

    def __init__(self, clock: list[float], beat: Beat, seconds: float) -> None:
        super().__init__()
        self.woke_meanwhile = 0.0
        self._clock, self._beat, self._seconds = clock, beat, seconds

    def wait(self, timeout: float | None = None) -> bool:
        self._clock[0] += self._seconds
        self.woke_meanwhile = self._beat.woke()
        return self.is_set()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def test_only_a_rest_that_costs_leases_is_a_pause(clock: list[float]) -> None:
    beat = Beat()
    for seconds, woke in ((1.0, float("-inf")), (3.9, float("-inf")), (4.1, 109.0), (1.0, 109.0)):
        assert beat.rest(Rest(clock, beat, seconds)) is False
        assert beat.woke() == pytest.approx(woke)


def test_whoever_wakes_before_the_beat_knows_of_the_pause_too(clock: list[float]) -> None:
    beat = Beat()
    rest = Rest(clock, beat, 60.0)
    rest.set()
    assert beat.rest(rest) is True
    assert rest.woke_meanwhile == 160.0
