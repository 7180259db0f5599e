"""Pauses grow to the longest one, and stay there however long something fails."""

from __future__ import annotations

import pytest

from legacy_mm.policies import growing_pauses
from legacy_mm.policies.growing_pauses import Reminders, doubled, pause_after


def test_pauses_double_up_to_the_longest() -> None:
    assert [pause_after(repeats) for repeats in range(8)] == [5, 10, 20, 40, 80, 160, 300, 300]
    assert [doubled(0.1, repeats, 1.0) for repeats in range(6)] == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_what_fails_for_a_year_waits_no_longer() -> None:
    """The power of two of its repeats is no number of the machine any more."""
    assert pause_after(100_000) == 300
    assert doubled(0.005, 100_000, 0.1) == 0.1


class Clock:
    now = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(growing_pauses, "monotonic", lambda: made.now)
    return made


def told(found: Reminders, clock: Clock, trouble: str, seconds: int) -> list[int]:
    """The seconds of a trouble that is met in each of them."""
    begin, said = clock.now, []
    for second in range(seconds):
        clock.now = begin + second
        if found.is_due(trouble):
            said.append(second)
    return said


def test_pauses_grow_up_to_five_minutes(clock: Clock) -> None:
    assert told(Reminders(), clock, "gone", 1500) == [0, 5, 15, 35, 75, 155, 315, 615, 915, 1215]


def test_another_trouble_is_told_at_once_and_begins_anew(clock: Clock) -> None:
    found = Reminders()
    assert told(found, clock, "gone", 100) == [0, 5, 15, 35, 75]
    assert told(found, clock, "another", 20) == [0, 5, 15]


def test_what_begins_again_is_told_again(clock: Clock) -> None:
    found = Reminders()
    assert told(found, clock, "gone", 3) == [0]
    found.over()
    assert told(found, clock, "gone", 3) == [0]
