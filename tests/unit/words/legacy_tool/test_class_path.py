"""Class path entries as Java reads them: folders, stars, empty words; and the old Kafka's jars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.settings import JvmSettings
from legacy_mm.words.legacy_tool.class_path import class_path, connect_class_path
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.options.option_catalogue import OwnOptions


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two jars, one in capitals, and a file that is none."""
    monkeypatch.chdir(tmp_path)
    for name in ("b.jar", "a.JAR", "notes.txt"):
        (tmp_path / name).touch()
    return tmp_path


def entries(words: str = "", kafka_home: str = "", **options: Any) -> list[str]:
    environment = Environment(jvm=JvmSettings(class_path=words), kafka_home=kafka_home)
    return list(class_path(environment, OwnOptions(**options)))


def test_nothing_asked_for_is_nothing() -> None:
    assert entries() == []


@pytest.mark.parametrize("star", ["*", "./*"])
def test_a_star_is_the_jars_of_its_folder_and_nothing_else(here: Path, star: str) -> None:
    assert entries(star) == [f"{here}/a.JAR", f"{here}/b.jar"]
    assert entries(f"{here}/*") == [f"{here}/a.JAR", f"{here}/b.jar"]


@pytest.mark.parametrize("word", ["*.jar", "b*", "x/*.jar", "**"])
def test_another_star_is_a_letter_of_a_name(here: Path, word: str) -> None:
    """As in Java, which finds nothing there."""
    assert entries(word) == [f"{here}/{word}"]


def test_words_keep_their_order_and_ours_come_behind(here: Path) -> None:
    assert entries("z.jar:b.jar", handler_classpath="c.jar") == [
        f"{here}/{name}" for name in ("z.jar", "b.jar", "c.jar")
    ]


def test_an_empty_word_is_the_current_folder(here: Path) -> None:
    assert entries("a::b") == [f"{here}/a", str(here), f"{here}/b"]


def test_a_cluster_gets_no_current_folder(here: Path) -> None:
    """All named files travel to its workers."""
    assert entries("a::b", spark_master="spark://one:7077") == [f"{here}/a", f"{here}/b"]


@pytest.mark.parametrize(
    ("jar", "found"), [("kafka_2.13-3.9.1.jar", True), ("kafka_2.12-0.11.jar", True), ("kafka_2.13-4.0.0.jar", False)]
)
def test_the_jars_of_a_kafka_before_4_are_there(here: Path, jar: str, found: bool) -> None:
    libs = here / "kafka" / "libs"
    libs.mkdir(parents=True)
    for name in (jar, "mine.jar"):
        (libs / name).touch()
    assert entries(kafka_home=str(here / "kafka")) == ([f"{libs}/{jar}", f"{libs}/mine.jar"] if found else [])


@pytest.mark.parametrize("jar", ["kafka_2.13-3.9.1.jar", "kafka_2.13-4.0.0.jar"])
def test_transforms_are_looked_for_in_a_kafka_of_any_release(here: Path, jar: str) -> None:
    libs = here / "kafka" / "libs"
    libs.mkdir(parents=True)
    for name in (jar, "mine.jar"):
        (libs / name).touch()
    environment = Environment(jvm=JvmSettings(class_path="b.jar"), kafka_home=str(here / "kafka"))
    found = connect_class_path(environment, OwnOptions())
    assert found == (str(here / "b.jar"), str(libs / jar), str(libs / "mine.jar"))
    assert connect_class_path(Environment(), OwnOptions()) == ()
