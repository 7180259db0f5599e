"""When entries that match nothing are told."""

from __future__ import annotations

import logging

import pytest

from legacy_mm.controlplane import unmatched_entries as module
from legacy_mm.controlplane.unmatched_entries import UnmatchedEntries


class Bench:
    """Entries that match nothing, and a clock that is turned by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, shared: bool = False) -> None:
        self.now, self.left = 1_000.0, ["odrers", "pay.*"]
        self.looks = 0
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.entries = UnmatchedEntries(self._find, shared=shared)

    def _find(self, mirrored: frozenset[str]) -> list[str]:
        self.looks += 1
        return self.left

    def look(self, seconds: float) -> None:
        """Another look after so long."""
        self.now += seconds
        self.entries.look(frozenset())


def test_they_are_told_once_after_a_minute(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(monkeypatch)
    assert bench.entries.due_in() == float("inf"), "nothing is known before the first look"
    bench.look(0)
    assert (bench.entries.due_in(), caplog.messages) == (60.0, [])
    bench.look(59)
    bench.left = ["pay.*"]
    bench.look(2)
    bench.look(100)
    assert [message.partition(":")[0] for message in caplog.messages] == ["Nothing is copied for pay.*"]
    assert (bench.entries.due_in(), bench.looks) == (float("inf"), 3)


def test_all_that_match_are_never_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    bench.left = []
    bench.look(0)
    bench.look(100)
    assert (bench.entries.due_in(), bench.looks) == (float("inf"), 1)


def test_flows_that_share_their_entries_warn_of_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    bench = Bench(monkeypatch, shared=True)
    bench.look(0)
    bench.look(61)
    assert [line.levelname for line in caplog.records] == ["INFO"]
