"""When batches are too small to be moved whole."""

from __future__ import annotations

import pytest

from legacy_mm.dataplane import small_batches
from legacy_mm.dataplane.small_batches import SmallBatches


class Clock:
    now = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(small_batches, "monotonic", lambda: clock.now)
    return clock


def looks(found: SmallBatches, clock: Clock, count: int, records: int, idle: float, read: int = 1) -> list[float]:
    """After batches of so many records, each as many as were `read` together."""
    answers = []
    for _ in range(count):
        for _ in range(100):
            found.copied(read, 1, records)
        found.waited(idle)
        clock.now += 5.0
        answers.append(found.too_small())
    return answers


def test_tiny_batches_that_keep_it_busy_are_too_small_at_the_second_look(clock: Clock) -> None:
    assert looks(SmallBatches(4, 36), clock, 2, records=10, idle=0.5) == [0.0, 10.0]


@pytest.mark.parametrize(("records", "idle"), [(10, 4.0), (200, 0.0), (0, 5.0)], ids=["idle", "large", "nothing"])
def test_all_is_well(clock: Clock, records: int, idle: float) -> None:
    assert looks(SmallBatches(4, 36), clock, 3, records, idle) == [0.0] * 3


@pytest.mark.parametrize(("records", "answer"), [(200, 2.0), (600, 0.0)], ids=["two records each", "six"])
def test_what_is_joined_may_be_smaller(clock: Clock, records: int, answer: float) -> None:
    assert looks(SmallBatches(4, 36), clock, 2, records, 0.0, read=100) == [0.0, answer]


def test_a_pause_between_begins_the_count_anew(clock: Clock) -> None:
    found = SmallBatches(4, 36)
    assert [looks(found, clock, 1, 10, idle) for idle in (0.0, 5.0, 0.0)] == [[0.0]] * 3


def test_a_look_too_early_says_nothing(clock: Clock) -> None:
    found = SmallBatches(4, 36)
    looks(found, clock, 1, 10, 0.0)
    found.copied(1, 1, 1)
    clock.now += 4.0
    assert found.too_small() == 0.0
