"""Every wording fits its event: it asks for no field the event's own text does not have."""

from __future__ import annotations

import string
from typing import Any

import pytest

from legacy_mm.compat.messages import ASSIGNMENT_WARNING, DEPRECATED, WORDING
from legacy_mm.events import Event


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("event", WORDING, ids=lambda event: event.name)
def test_fields(event: Event) -> None:
    assert fields(WORDING[event].text) <= fields(event.text)


def test_start_lines_are_the_recorded_ones(cli_golden: dict[str, Any]) -> None:
    (case,) = (case for case in cli_golden["cases"] if case["id"] == "sigterm-default-log")
    first, second = case["stderr"].splitlines()[:2]
    assert first == f"[TS] WARN {DEPRECATED.text} ({DEPRECATED.logger})"
    assert second == ASSIGNMENT_WARNING


@pytest.mark.parametrize("name", ["sigterm-info-log", "include-invalid-regex-star"])
def test_lines_are_the_recorded_ones(cli_golden: dict[str, Any], name: str) -> None:
    (case,) = (case for case in cli_golden["cases"] if case["id"] == name)
    recorded = case["stderr"]
    wanted = {
        "sigterm-info-log": [
            "starting",
            "stream-started",
            "shutdown-started",
            "stream-stopped",
            "shutdown-finished",
        ],
        "include-invalid-regex-star": ["pattern-invalid", "stream-failed", "stream-exited"],
    }[name]
    by_name = {event.name: wording for event, wording in WORDING.items()}
    for event in wanted:
        wording = by_name[event]
        text = wording.text.format(stream=0, pattern="*", reason="")
        assert f"{text} ({wording.logger})" in recorded
