"""Words of a start that are read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.cli.words_again import start_words
from legacy_mm.logs.log4j_found import Found
from legacy_mm.logs.log_settings import INFO, LoggerSettings, LogSettings


def test_options_and_log_settings_are_those_of_the_files_now(tmp_path: Path) -> None:
    file = tmp_path / "options.properties"
    file.touch()
    found = [Found(problems=("a problem of the start",)), Found(LogSettings({"a": LoggerSettings(INFO)}))]
    words = start_words(["--features.config", str(file)], lambda options: options.on_gap, lambda: found[-1])
    assert words.outcome(words.options()) == "log"
    file.write_text("on.gap = fail\nlog.level = ERROR")
    options = words.options()
    assert words.outcome(options) == "fail"
    assert words.logs(options).levels() == {"a": INFO, "": 40}


def test_a_log4j_file_with_a_new_problem_is_refused() -> None:
    problems = ["a problem of the start"]
    words = start_words([], lambda options: None, lambda: Found(problems=tuple(problems)))
    words.logs(words.options())
    problems.append("Could not read it")
    with pytest.raises(ConfigurationError, match="Could not read it"):
        words.logs(words.options())
