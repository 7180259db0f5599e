"""What decides how lines look and which are said: option, variable, log4j file, default."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.cli.mirror_maker import configure_logs
from legacy_mm.logs.log_settings import DEBUG, ERROR, INFO, WARN, LogSettings


@pytest.fixture
def named(tmp_path: Path) -> dict[str, str]:
    """An environment that names a log4j file."""
    file = tmp_path / "log4j.properties"
    file.write_text(
        "log4j.rootLogger=INFO, out\n"
        "log4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.SimpleLayout\n"
        "log4j.logger.quiet=ERROR\n"
    )
    return {"KAFKA_LOG4J_OPTS": f"-Dlog4j.configuration=file:{file}"}


def test_without_anything() -> None:
    assert configure_logs([], {}) == LogSettings()


def test_the_file_wins_over_our_default(named: dict[str, str]) -> None:
    assert configure_logs(["--num.streams", "2"], named).level_of("x") == INFO


@pytest.mark.parametrize(
    ("words", "variables", "level"),
    [
        (["--log.level", "DEBUG"], {}, DEBUG),
        ([], {"LEGACY_MM_LOG_LEVEL": "WARN"}, WARN),
        (["-log.level=DEBUG"], {"LEGACY_MM_LOG_LEVEL": "ERROR"}, DEBUG),
    ],
)
def test_an_explicit_level_wins_over_the_file_s_root_but_not_over_its_loggers(
    words: list[str], variables: dict[str, str], level: int, named: dict[str, str]
) -> None:
    settings = configure_logs(words, named | variables)
    assert (settings.level_of("x"), settings.level_of("quiet.y")) == (level, ERROR)


def test_json_is_for_the_console(named: dict[str, str]) -> None:
    settings = configure_logs(["--log.format=json"], named)
    assert [appender.layout.json for appender in settings.appenders_of("x")] == [True]


def test_words_that_cannot_be_read_do_not_stop_the_log_from_being_set_up(named: dict[str, str]) -> None:
    assert configure_logs(["--no.such", "--log.level", "DEBUG"], named).level_of("x") == INFO


def test_what_the_file_asks_for_in_vain_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs([], {"KAFKA_OPTS": "-Dlog4j.configuration=file:/nowhere"})
    (line,) = capsys.readouterr().err.splitlines()
    assert "WARN Could not read the log4j configuration file:/nowhere: No such file or directory" in line
