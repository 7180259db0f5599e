"""What each variable means to this tool, as `explain` prints it."""

from __future__ import annotations

import pytest

from legacy_mm.words.legacy_tool.variables import VARIABLES, meanings


def test_variables_of_other_programs_are_not_shown() -> None:
    assert meanings({"PATH": "/bin", "HOME": "/", "MY_KAFKA_OPTS": "x", "LEGACY": "y"}) == []


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("KAFKA_HEAP_OPTS", "heap of the JVM that drives Spark, at least 512 MB"),
        ("KAFKA_BROKER_OPTS", "read neither by the old scripts nor by this tool"),
        ("LEGACY_MM_ENGINE", "option --engine"),
        ("LEGACY_MM_TOPIC_CREATION", "option --topic.creation"),
        ("LEGACY_MM_SYNC_TOPIC_CONFIGS", "option --sync.topic.configs.enabled"),
        ("LEGACY_MM_NO_SUCH_THING", "no option of ours, ignored"),
    ],
)
def test_one_variable(name: str, meaning: str) -> None:
    assert meanings({name: "x"}) == [(name, "x", meaning)]


def test_an_option_that_is_not_built_is_refused_by_name() -> None:
    ((_, _, meaning),) = meanings({"LEGACY_MM_EXACTLY_ONCE_SOURCE_SUPPORT": "enabled"})
    assert meaning.startswith("refused: ")


def test_a_variable_of_ours_among_the_old_ones_has_its_own_meaning() -> None:
    """`LEGACY_MM_KAFKA_HOME` begins like an option and is none."""
    ((_, _, meaning),) = meanings({"LEGACY_MM_KAFKA_HOME": "/opt/kafka"})
    assert meaning == "the Kafka whose script this tool replaces: its scripts, its jars"


def test_each_variable_is_one_row() -> None:
    rows = {row.name: ("x", row.meaning) for row in VARIABLES}
    assert len(rows) == len(VARIABLES)
    assert {name: tuple(rest) for name, *rest in meanings(dict.fromkeys(rows, "x"))} == rows
