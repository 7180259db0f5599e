"""What both generations of log4j files share: look-ups, levels, sizes and layouts."""

from __future__ import annotations

import logging

import pytest

from legacy_mm.logs.log4j_found import MESSAGE_ONLY, layout_of, level_named, lookup, size_of, substituted, whole
from legacy_mm.logs.log_settings import Layout

FIND = lookup({"a": "system", "dir": "/logs"}, {"HOME": "/home"}, {"a": "own", "b": "own", "inner": "b"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${a} ${b}", "system own"),
        ("${sys:dir}/${env:HOME}", "/logs//home"),
        ("${gone:-${b}}", "own"),
        ("${${inner}}", "own"),
        ("[${gone}]", "[]"),
        ("no reference }", "no reference }"),
    ],
)
def test_references(text: str, value: str) -> None:
    assert substituted(text, FIND) == value


def test_a_reference_to_itself_ends() -> None:
    assert substituted("${x}", lambda name: "${x}") == "${x}"


@pytest.mark.parametrize(
    ("word", "level"),
    [("warn", logging.WARNING), ("INFO#a.Level", logging.INFO), ("inherited", None), ("", None), ("x", logging.DEBUG)],
)
def test_levels(word: str, level: int | None) -> None:
    assert level_named(word) == level


@pytest.mark.parametrize(("text", "size"), [("10MB", 10 << 20), ("512 kb", 512 << 10), ("7", 7), ("many", 3)])
def test_sizes(text: str, size: int) -> None:
    assert size_of(text, 3) == size


@pytest.mark.parametrize(("text", "number"), [(" 7 ", 7), ("-7", 3), ("x", 3)])
def test_whole_numbers(text: str, number: int) -> None:
    assert whole(text, 3) == number


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("org.apache.log4j.PatternLayout", Layout(MESSAGE_ONLY)),
        ("org.apache.log4j.SimpleLayout", Layout("%p - %m%n")),
        ("JsonTemplateLayout", Layout(json=True)),
        ("com.acme.Layout", None),
    ],
)
def test_layouts(name: str, layout: Layout | None) -> None:
    assert layout_of(name, None) == layout


def test_a_pattern_of_the_user_s() -> None:
    assert layout_of("PatternLayout", "%m") == Layout("%m")
