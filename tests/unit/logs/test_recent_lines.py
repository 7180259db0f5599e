"""The last lines of WARN or worse: how many, in whose words, and what to do."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from legacy_mm.logs import events, root_logger
from legacy_mm.logs.log_settings import LEVELS, LogSettings
from legacy_mm.logs.recent_lines import MOST_LINES, advice
from legacy_mm.words.legacy_tool.messages import WORDING


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    root_logger.configure(LogSettings().with_root_level(LEVELS["INFO"]), WORDING, ["rosebud"])
    root_logger.keep_recent()
    yield
    root_logger.configure(LogSettings(), {})


def test_loud_lines_are_kept_with_what_to_do_the_newest_first() -> None:
    events.emit(events.DUTY_FAILED, duty="topic-configs", reason="no right")
    events.emit(events.SHUTDOWN_STARTED)
    events.emit(events.TOPIC_RECREATED, topic="t", before="a", now="b")
    newest, before = root_logger.recent_lines()
    assert (newest.level, newest.advice) == ("WARN", "Nothing.")
    assert before.text == "[topic-configs] no right; it is tried again"
    assert before.advice.startswith("Look at the rights")
    assert newest.created >= before.created


def test_a_line_in_the_legacy_tool_s_words_has_the_advice_for_either() -> None:
    events.emit(events.STREAM_FAILED, stream=0, reason="it broke")
    (line,) = root_logger.recent_lines()
    assert line.text.startswith("[mirrormaker-thread-0] Mirror maker thread failure due to")
    assert line.advice == "Remove the reason, then restart."


def test_no_more_are_kept_and_none_is_endless() -> None:
    for number in range(MOST_LINES + 5):
        logging.getLogger("x").warning("line %d", number)
    lines = root_logger.recent_lines()
    assert [line.text for line in lines] == [f"line {number}" for number in range(MOST_LINES + 4, 4, -1)]
    assert {line.advice for line in lines} == {""}
    logging.getLogger("x").warning("x" * 1_000_000)
    assert len(root_logger.recent_lines()[0].text) == 2_000


def test_a_secret_is_hidden() -> None:
    events.emit(events.DUTY_FAILED, duty="acls", reason="rosebud is no password")
    assert root_logger.recent_lines()[0].text == "[acls] [hidden] is no password; it is tried again"


def test_nothing_is_kept_unless_it_is_asked_for() -> None:
    root_logger.configure(LogSettings(), {})
    events.emit(events.DUTY_FAILED, duty="acls", reason="x")
    assert root_logger.recent_lines() == []


def test_the_row_that_quotes_most_of_a_line_says_what_to_do() -> None:
    assert advice(events.GAP.text).startswith("See docs/how-to/troubleshoot.md for the way on.")
    assert advice(events.TOPIC_RECREATED.text) == "Nothing."
    assert advice(events.RECORD_WAITS.text).startswith("Mend what the line names, at the target."), "of three rows"
    assert advice("a line that nobody knows") == ""
