"""Words of `legacy-mm connect` and `connect-standalone.sh`."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import UsageError
from legacy_mm.words.mirror_maker_2.connect_line import is_connect, parse, split_call


def test_files_come_first_and_options_of_ours_behind_them() -> None:
    line = parse(["w.properties", "s.properties", "c.json", "--log.level", "DEBUG"])
    assert (line.worker, line.connectors, line.own_words) == (
        "w.properties",
        ("s.properties", "c.json"),
        ("--log.level", "DEBUG"),
    )


@pytest.mark.parametrize("words", [[], ["--distributed"], ["--log.level", "DEBUG", "w", "s"]])
def test_a_worker_is_needed(words: list[str]) -> None:
    with pytest.raises(UsageError, match="name the worker's file"):
        parse(words)


@pytest.mark.parametrize("words", [["--secrets.dir", "/s"], ["--secrets.dir=/s"]])
def test_resources_of_strimzi(words: list[str]) -> None:
    line = parse(["a.yaml", "b.yml", "--log.level", "DEBUG", *words])
    assert (line.resources, line.secrets_dir, line.own_words) == (("a.yaml", "b.yml"), "/s", ("--log.level", "DEBUG"))
    assert parse(["w.properties", "s.json", *words]).secrets_dir == "/s"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["w.properties", "a.yaml"], "name files of Connect, or a.yaml alone"),
        (["a.yaml", "--secrets.dir"], "--secrets.dir needs a folder"),
        (["a.yaml", "--secrets.dir="], "--secrets.dir needs a folder"),
    ],
)
def test_resources_alone(words: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse(words)


@pytest.mark.parametrize(
    "words", [["/opt/kafka/bin/connect-standalone.sh", "w", "s"], ["A=1", "bin/legacy-mm", "connect", "w", "s"]]
)
def test_its_names(words: list[str]) -> None:
    assert is_connect(words)
    assert list(split_call(words)[1]) == ["w", "s"]


def test_a_resource_alone_is_a_line() -> None:
    assert is_connect(["mm2.yaml", "--secrets.dir", "/s"])
    assert split_call(["mm2.yaml"]) == ((), ["mm2.yaml"])


def test_other_commands() -> None:
    assert not is_connect([])
    assert not is_connect(["legacy-mm", "plan", "connect"])
