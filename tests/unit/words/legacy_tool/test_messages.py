"""Every wording fits its event: it asks for no field the event's own text does not have."""

from __future__ import annotations

import logging
import re
import string
from typing import Any

import pytest

from legacy_mm.logs.events import Event
from legacy_mm.words.legacy_tool.messages import ASSIGNMENT_WARNING, DEPRECATED, WORDING


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


_TOOL_LINE = re.compile(
    r"(?P<level>[A-Z]+) (?P<text>.*) \((?P<logger>kafka\.tools\.MirrorMaker\$.*|.*ErrorLoggingCallback)\)"
)
WITHOUT_A_ROW = {
    "Initiating consumer",
    "[mirrormaker-thread-0] null",
    "Exiting on send failure, skip committing offsets.",
}
"""Said at debug level about Java's own consumer; differences wake-up-line and commits-at-a-send-failure."""


def test_every_line_of_the_recorded_loop_has_a_row(loop_golden: dict[str, Any]) -> None:
    """Level, logger and words, in 34 driven runs of the old loop."""
    samples = {"stream": 0, "topic": "t", "key_size": "2 bytes", "value_size": "2 bytes", "last_commit": -1}
    worded = {
        (logging.getLevelName(row.level).replace("WARNING", "WARN"), row.logger, row.text.format(**samples, retries=n))
        for row in WORDING.values()
        for n in range(1, 10)
        if fields(row.text) <= {*samples, "retries"}
    }
    recorded = {
        (match["level"], match["logger"], match["text"])
        for scenario in loop_golden["scenarios"]
        for line in scenario["trace"]
        if (match := _TOOL_LINE.fullmatch(line)) and match["text"] not in WITHOUT_A_ROW
    }
    assert len(recorded) > 12
    assert recorded <= worded


@pytest.mark.parametrize("event", WORDING, ids=lambda event: event.name)
def test_fields(event: Event) -> None:
    assert fields(WORDING[event].text) <= fields(event.text)


@pytest.mark.parametrize("event", WORDING, ids=lambda event: event.name)
def test_words_that_only_the_flows_of_a_file_print_blame_no_whole_mirror(event: Event) -> None:
    """There one flow stops, and the others go on."""
    assert "whole mirror" not in event.text


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
