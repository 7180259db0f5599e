"""What is said of target topics that cannot be written, and how often."""

from __future__ import annotations

import pytest

from legacy_mm.dataplane.waiting_topics import WaitingTopics


def test_each_is_told_once_and_many_at_once_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 100.0
    monkeypatch.setattr("legacy_mm.base.clock.monotonic", lambda: now)
    caplog.set_level("INFO")
    waiting = WaitingTopics()
    stuck = {f"t{number}": f"t{number}-0: it has no leader" for number in range(100)}
    waiting.note({"a": "UNKNOWN_TOPIC_OR_PARTITION"}, stuck)
    assert not caplog.records, "leaders move, and brokers make topics, in less"
    now += 3.1
    for _ in range(2):
        waiting.note({"a": "UNKNOWN_TOPIC_OR_PARTITION"}, stuck)
    one, many = caplog.messages
    assert one.startswith("Topic a cannot be written at the target (UNKNOWN_TOPIC_OR_PARTITION)")
    assert many.startswith("Topic t0 and 99 more cannot be written at the target (t0-0: it has no leader)")
    caplog.clear()
    for _ in range(2):
        waiting.note({}, {"t0": "t0-0: it has no leader"})
    assert caplog.messages == ["Topic a and 99 more can be written at the target again"]
