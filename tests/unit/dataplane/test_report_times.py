"""When a copy job reports, and how long its thread waits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from legacy_mm.dataplane import report_times
from legacy_mm.dataplane.report_times import IDLE_INTERVAL, ReportTimes


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(at=100.0)
    monkeypatch.setattr(report_times, "monotonic", lambda: now.at)
    return now


def test_with_work_it_looks_often_and_reports_each_second(clock: SimpleNamespace) -> None:
    times = ReportTimes(1.0, 0.1, lambda: False)
    assert times.due()
    times.sent()
    assert (times.due(), times.pause(), times.soon()) == (False, 0.1, False)
    clock.at += 1.0
    assert times.due()


def test_without_work_it_waits_for_a_later_report(clock: SimpleNamespace) -> None:
    """News bring the usual one back, and the thread has to be woken for it."""
    times = ReportTimes(1.0, 0.1, lambda: True)
    times.sent()
    assert times.pause() == IDLE_INTERVAL
    clock.at += 0.5
    assert times.soon()
    assert times.pause() == 1.0
    clock.at += 9.0
    assert (times.due(), times.pause()) == (True, 0.0)
