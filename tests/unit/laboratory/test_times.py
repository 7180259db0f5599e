"""A test file that takes twice its recorded time is named, on a fast machine and on a slow one."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fixtures.times import Times, doubled

RECORDED = {"a.py": 10.0, "b.py": 20.0, "c.py": 30.0, "short.py": 0.5}


@pytest.mark.parametrize("pace", [0.5, 1.0, 3.0])
def test_only_what_doubled_is_named(pace: float) -> None:
    now = {file: seconds * pace for file, seconds in RECORDED.items()}
    assert doubled(now, RECORDED) == []
    now["b.py"] *= 2.5
    expected = f"took {50 * pace:.0f} s, and {20 * pace:.0f} s were expected: b.py"
    assert doubled(now, RECORDED) == [expected]


def test_seconds_more_of_a_short_file_say_nothing() -> None:
    assert doubled(RECORDED | {"short.py": 4.0}, RECORDED) == []


def test_a_file_without_a_record_is_not_compared() -> None:
    assert doubled({"new.py": 100.0}, RECORDED) == []


def test_phases_are_summed_by_folder() -> None:
    times = Times()
    for when in ("setup", "call", "call"):
        report: Any = SimpleNamespace(nodeid="tests/brokers/test_a.py::test_b[c]", when=when, duration=2.0)
        times.add_report(report)
    assert times.phases == {"brokers setup": 2.0, "brokers call": 4.0}
    assert times.files == {"tests/brokers/test_a.py": 6.0}


def test_a_wait_within_a_wait_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times()
    clock = iter([10.0, 14.0])
    inner = times.timed("condition", lambda: "answer")
    outer = times.timed("start of a cluster", inner)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert outer() == "answer"
    assert times.waits == {"start of a cluster": 4.0}
