"""Our own options: command line, then environment variable, then default."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.option import OptionValue
from legacy_mm.cli.parser import own_options_help, own_values, read_own_options
from legacy_mm.features import flags
from legacy_mm.features.rows import FLAGS
from legacy_mm.words.options.option_catalogue import OPTIONS, OwnOptions
from legacy_mm.words.options.unbuilt import is_unbuilt

CHECKOUT = Path(__file__).parents[3]


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


def test_an_empty_variable_says_nothing() -> None:
    """A compose file makes one of each that is not set."""
    names = [row.environment_variable for row in (*OPTIONS, *(each.option for each in FLAGS))]
    assert read_own_options([], dict.fromkeys(names, "")) == OwnOptions()


@pytest.mark.parametrize(("today", "counts"), [("new", "new"), ("", "older")], ids=["given", "empty"])
def test_an_older_spelling_counts_where_today_s_says_nothing(today: str, counts: str) -> None:
    variables = {"LEGACY_MM_TOPICS_EXCLUDE": today, "LEGACY_MM_TOPICS_BLACKLIST": "older"}
    assert read_own_options([], variables).features == {"topics.exclude": [counts]}


def test_two_dashes_are_a_value() -> None:
    assert read_own_options(["--replication.policy.separator=--"], {}).features == {
        "replication.policy.separator": ["--"]
    }


def test_for_ever_is_24_days() -> None:
    assert read_own_options([f"--shutdown.timeout.ms={2**63 - 1}"], {}).shutdown_timeout_ms == 2**31 - 1


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
        (["--shutdown.timeout.ms=" + 5000 * "1"], {}),
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


@pytest.fixture
def options_file(tmp_path: Path) -> Path:
    file = tmp_path / "options file.properties"
    file.write_bytes(b"log.level: INFO\nshutdown.timeout.ms=1\nspark.conf=a=\\u00e9\nspark.conf=c=\xe9\n")
    return file


def test_precedence(options_file: Path) -> None:
    """Command line, environment, file, default."""
    environment = {"LEGACY_MM_SHUTDOWN_TIMEOUT_MS": "2", "LEGACY_MM_PRODUCER_TUNING": "literal"}
    read = read_own_options([f"--features.config={options_file}", "--producer.tuning=meaning"], environment)
    assert (read.producer_tuning, read.shutdown_timeout_ms, read.log_level) == ("meaning", 2, "INFO")
    assert read.spark_conf == {"a": "é", "c": "é"}
    assert read.on_gap == "log"
    assert read_own_options([], {"LEGACY_MM_FEATURES_CONFIG": str(options_file)}).shutdown_timeout_ms == 1


def test_every_value_has_its_origin(options_file: Path) -> None:
    environment = {"LEGACY_MM_FEATURES_CONFIG": str(options_file), "LEGACY_MM_SHUTDOWN_TIMEOUT_MS": "2"}
    values = own_values(["--spark.master=local[2]"], environment)
    assert [value.option for value in values] == [row.name for row in OPTIONS]
    assert {
        OptionValue("spark.master", "local[2]", "command line"),
        OptionValue("spark.conf", "a=é c=é", f"{options_file}:4"),
        OptionValue("on.gap", "log", "default"),
        OptionValue("shutdown.timeout.ms", "2", "LEGACY_MM_SHUTDOWN_TIMEOUT_MS"),
        OptionValue("log.level", "INFO", f"{options_file}:1"),
        OptionValue("features.config", str(options_file), "LEGACY_MM_FEATURES_CONFIG"),
    } < set(values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("engine=records\n\nfoo=1\n", "line 3: foo is not an option of legacy-mm"),
        ("connector.class=x", "line 1: connector.class is a feature of MirrorMaker 2 or of a Kafka proposal that "),
        ("features.config=other", "line 1: features.config is not an option of legacy-mm"),
    ],
)
def test_a_foreign_key_names_file_and_line(options_file: Path, text: str, words: str) -> None:
    options_file.write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        read_own_options([f"--features.config={options_file}"], {})
    assert str(refused.value).startswith(f"{options_file}, {words}")


def test_a_missing_options_file() -> None:
    with pytest.raises(ConfigurationError, match=r"^Option --features\.config: /no/such: no such file$"):
        read_own_options(["--features.config=/no/such"], {})


def test_a_variable_for_what_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"^LEGACY_MM_CONNECTOR_CLASS: connector\.class is a feature"):
        read_own_options([], {"LEGACY_MM_CONNECTOR_CLASS": "true"})


def test_help_lists_nothing_that_is_not_there() -> None:
    assert not [word for word in own_options_help().split() if is_unbuilt(word.strip("-.,"))]


@pytest.mark.parametrize("file", sorted((CHECKOUT / "samples" / "features").iterdir()), ids=lambda file: file.stem)
def test_the_samples_of_flags_switch_their_step_on(file: Path) -> None:
    given = read_own_options([f"--features.config={file}"], {}).features
    feature = max((row for row in FLAGS if row.name in given), key=lambda row: row.step)
    assert file.stem == f"{feature.step}-{feature.name.removesuffix('.enabled').replace('.', '-')}"
    assert flags.settings(given) != flags.settings({})
