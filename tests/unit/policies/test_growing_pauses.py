"""Pauses grow to the longest one, and stay there however long something fails."""

from __future__ import annotations

from legacy_mm.policies.growing_pauses import doubled, pause_after


def test_pauses_double_up_to_the_longest() -> None:
    assert [pause_after(repeats) for repeats in range(8)] == [5, 10, 20, 40, 80, 160, 300, 300]
    assert [doubled(0.1, repeats, 1.0) for repeats in range(6)] == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_what_fails_for_a_year_waits_no_longer() -> None:
    """The power of two of its repeats is no number of the machine any more."""
    assert pause_after(100_000) == 300
    assert doubled(0.005, 100_000, 0.1) == 0.1
