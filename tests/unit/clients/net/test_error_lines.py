"""Errors of a client: a line for each kind and half minute, and never an exception."""

from __future__ import annotations

import pytest

from legacy_mm.clients.net import error_lines
from legacy_mm.clients.net.error_lines import ErrorLines
from legacy_mm.logs import events


def test_one_line_for_each_kind_and_half_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [100.0]
    monkeypatch.setattr(error_lines, "monotonic", lambda: now[0])
    lines = ErrorLines("c-0")
    for text, kind in (("a", "x"), ("b", "x"), ("c", "y")):
        lines.tell(text, kind)
    now[0] += 30
    lines.tell("d", "x")
    assert [vars(line)["fields"] for line in caplog.records] == [{"client": "c-0", "text": text} for text in "acd"]


def test_a_log_that_is_broken_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []

    def broken(*_: object, **fields: object) -> None:
        tried.append(fields["client"])
        raise RuntimeError("no space left on device")

    monkeypatch.setattr(events, "emit", broken)
    ErrorLines("").tell("text")
    assert tried == ["client"]
