"""When records for the target count as stuck."""

from __future__ import annotations

import pytest

from legacy_mm.dataplane.stuck_records import StuckRecords


def test_only_what_does_not_move_for_a_while_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    now, count = 100.0, 5
    monkeypatch.setattr("legacy_mm.clock.monotonic", lambda: now)
    stuck = StuckRecords(lambda: count)
    assert not stuck.are_there()
    now += 2.9
    count = 4
    assert not stuck.are_there()
    now += 2.9
    assert not stuck.are_there()
    now += 0.2
    assert stuck.are_there()
    assert not stuck.are_there(), "the clusters are asked, which takes time: not in each turn"
    now += 3.1
    assert stuck.are_there()
    count = 0
    now += 9.0
    assert not stuck.are_there()
