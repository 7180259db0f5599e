"""Our own options: command line, then environment variable, then default."""

from __future__ import annotations

import pytest

from legacy_mm.cli.parser import own_options_help, read_own_options
from legacy_mm.config.catalogue import OPTIONS, OwnOptions
from legacy_mm.errors import ConfigurationError


def test_defaults_are_those_of_the_values() -> None:
    assert read_own_options([], {}) == OwnOptions()


def test_environment_and_command_line() -> None:
    environment = {
        "LEGACY_MM_LOG_LEVEL": "INFO",
        "LEGACY_MM_SHUTDOWN_TIMEOUT_MS": "5",
        "LEGACY_MM_SPARK_CONF": "[a=b,c=d]",
    }
    read = read_own_options(["--shutdown.timeout.ms=7"], environment)
    assert (read.log_level, read.shutdown_timeout_ms) == ("INFO", 7)
    assert read.spark_conf == {"a": "b", "c": "d"}


def test_repeated_spark_conf() -> None:
    read = read_own_options(["--spark.conf=a=b=c", "--spark.conf=d=", "--spark.conf= e =f"], {})
    assert read.spark_conf == {"a": "b=c", "d": "", "e": "f"}
    assert "b=c" not in repr(read)


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (["--engine=x"], {}),
        ([], {"LEGACY_MM_ENGINE": "x"}),
        (["--shutdown.timeout.ms=-1"], {}),
        (["--shutdown.timeout.ms="], {}),
        (["--shutdown.timeout.ms=1.5"], {}),
        (["--producer.tuning=both"], {}),
        (["--spark.conf=x"], {}),
        (["--log.level=info"], {}),
        (["--metrics.port=0"], {}),
        (["--metrics.port=65536"], {}),
    ],
)
def test_wrong_values_name_the_option(words: list[str], environment: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=r"^Option --[a-z.]+"):
        read_own_options(words, environment)


def test_help_lists_every_row() -> None:
    text = own_options_help()
    for row in OPTIONS:
        assert f"--{row.name} " in text
        assert row.environment_variable in text
