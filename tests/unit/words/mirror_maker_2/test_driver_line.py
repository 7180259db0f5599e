"""Words of `connect-mirror-maker.sh`, as the driver's option library reads them."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import UsageError
from legacy_mm.words.legacy_tool.java_process import MIRROR_MAKER_2
from legacy_mm.words.mirror_maker_2.driver_line import is_driver, parse, split_call


@pytest.mark.parametrize(
    ("words", "file", "clusters", "own"),
    [
        (["mm2.properties"], "mm2.properties", (), ()),
        (["mm2.properties", "--clusters", "A", "B"], "mm2.properties", ("A", "B"), ()),
        (["mm2.properties", "--clusters=A"], "mm2.properties", ("A",), ()),
        (["--clusters", "A", "--metrics.port", "1", "f"], "f", ("A",), ("--metrics.port", "1")),
        (["f", "--log.level=DEBUG"], "f", (), ("--log.level=DEBUG",)),
        (["f", "--clusters", "a,b"], "f", ("a,b",), ()),
    ],
)
def test_words(words: list[str], file: str, clusters: tuple[str, ...], own: tuple[str, ...]) -> None:
    line = parse(words)
    assert (line.file, line.clusters, line.own_words, line.help) == (file, clusters, own, False)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "too few arguments"),
        (["--clusters", "A", "f"], "too few arguments"),
        (["f", "--clusters"], "expected at least one argument"),
        (["f", "g"], "unrecognized arguments: 'g'"),
        (["f", "-x"], "unrecognized arguments: '-x'"),
    ],
)
def test_words_that_it_refuses(words: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse(words)


def test_help() -> None:
    assert parse(["-h"]).help


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["/opt/kafka/bin/connect-mirror-maker.sh", "f"], ["f"]),
        (["A=1", "connect-mirror-maker", "-daemon", "f"], ["f"]),
        (["java", "-cp", "x", MIRROR_MAKER_2, "f"], ["f"]),
    ],
)
def test_the_driver_s_names(words: list[str], arguments: list[str]) -> None:
    assert is_driver(words)
    assert list(split_call(words)[1]) == arguments


def test_another_command() -> None:
    assert not is_driver(["kafka-mirror-maker.sh", "--include", "connect-mirror-maker.shh"])
