"""A deadline bounds the sum of the calls that share it."""

from __future__ import annotations

import pytest

from legacy_mm.base import clock
from legacy_mm.base.clock import Deadline


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: found[0])
    return found


def test_what_is_left_shrinks_and_is_never_negative(now: list[float]) -> None:
    deadline = Deadline.after(5.0)
    assert (deadline.remaining(), deadline.expired()) == (5.0, False)
    now[0] = 105.0
    assert (deadline.remaining(), deadline.expired()) == (0.0, True)
    now[0] = 200.0
    assert deadline.remaining() == 0.0


@pytest.mark.usefixtures("now")
def test_the_sooner_of_two() -> None:
    deadline = Deadline.after(5.0)
    assert deadline.sooner_of(9.0) == deadline
    assert deadline.sooner_of(1.0).remaining() == 1.0
