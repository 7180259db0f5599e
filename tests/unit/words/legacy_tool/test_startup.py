"""How a release says that there is no mirror."""

from __future__ import annotations

import logging

import pytest

from legacy_mm.base.errors import ConfigurationError, InvalidPattern, StreamFailure, UsageError
from legacy_mm.words.legacy_tool.releases import grammar_of
from legacy_mm.words.legacy_tool.startup import PlainRefusal, report, report_nothing_to_do

OLDEST, NEWEST = grammar_of("0.8.2.2"), grammar_of("3.9.1")


def test_words_that_cannot_be_are_on_stderr_with_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(UsageError("no such option"), NEWEST) == UsageError("x").exit_code
    out, err = capsys.readouterr()
    assert (out, err.startswith("no such option\n"), "--consumer.config" in err) == ("", True, True)


def test_a_plain_refusal_is_printed_by_old_releases_and_logged_by_new_ones(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    report(PlainRefusal("both lists"), OLDEST)
    assert capsys.readouterr().out == "both lists\n"
    assert caplog.messages == []
    report(PlainRefusal("both lists"), NEWEST)
    assert capsys.readouterr().out == ""
    assert [(each.levelno, each.getMessage()) for each in caplog.records] == [(logging.ERROR, "both lists")]


def test_an_error_of_the_start_is_java_s_where_the_tool_catches_none(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    report(ConfigurationError("java.lang.X: y"), OLDEST)
    assert capsys.readouterr().err == 'Exception in thread "main" java.lang.X: y\n'
    report(ConfigurationError("java.lang.X: y"), NEWEST)
    assert [vars(each)["detail"] for each in caplog.records] == ["java.lang.X: y"]


@pytest.mark.parametrize(("grammar", "level"), [(OLDEST, logging.CRITICAL), (NEWEST, logging.ERROR)])
def test_an_error_of_a_thread_is_logged_as_the_first_one_would(
    grammar: object, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert report(StreamFailure("no luck"), grammar) == 255  # type: ignore[arg-type]
    assert [each.levelno for each in caplog.records] == [level] * 2
    assert all(each.getMessage().startswith("[mirrormaker-thread-0] ") for each in caplog.records)
    assert vars(caplog.records[0])["detail"] == "no luck"


def test_what_may_help_comes_last(caplog: pytest.LogCaptureFixture) -> None:
    error = InvalidPattern("( is not a valid regex")
    error.add_note("close it")
    report(error, NEWEST)
    assert caplog.messages[0] == "( is not a valid regex"
    assert caplog.messages[-1] == "close it"


def test_where_no_stream_starts_the_hook_says_so(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    report_nothing_to_do()
    assert caplog.messages
    assert {each.levelno for each in caplog.records} == {logging.INFO}
