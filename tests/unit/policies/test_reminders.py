"""What lasts is told once, then at growing pauses, by a clock that the test moves."""

from __future__ import annotations

import pytest

from legacy_mm.policies import reminders
from legacy_mm.policies.reminders import Reminders


class Clock:
    now = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(reminders, "monotonic", lambda: made.now)
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
