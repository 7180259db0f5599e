"""MirrorMaker 2's lists: contract 2.1 and 2.2, and 13.2 (MirrorSourceConfigTest:51-87)."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.option import split_list
from legacy_mm.policies.topic_filter import TopicFilter
from tests.unit.policies.expression import Expression

NAMES = ("", "topic1", "topic2", "topic12", "topic", "other.replica", "a", "b", "ab")


def accepted(include: str, exclude: str = "") -> set[str]:
    return set(TopicFilter(split_list(include), split_list(exclude), Expression).accepted(iter(NAMES)))


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("", ()),
        ("  \t\n", ()),
        ("a", ("a",)),
        (" a ,b\t,\n c ", ("a", "b", "c")),
        ("a|b , c", ("a|b", "c")),
        ("a,", ("a", "")),
        (",", ("", "")),
        ("a{1,2}", ("a{1", "2}")),
        ("a b,\u00a0c", ("a b", "\u00a0c")),
    ],
)
def test_lists_are_split_on_commas(text: str, elements: tuple[str, ...]) -> None:
    assert split_list(text) == elements


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ("topic1", "", {"topic1"}),
        ("topic1, topic2", "", {"topic1", "topic2"}),
        (".*", "", set(NAMES)),
        ("", "", set()),
        ("", "x", set()),
        ("topic.?", "topic2", {"topic", "topic1"}),
        (".*", ".*\\.replica, topic.*", {"", "a", "b", "ab"}),
        ("a|b", "", {"a", "b"}),
        ("a(, b)", "", {"a", "ab"}),
        ("a,", "", {"", "a"}),
    ],
)
def test_which_names_a_filter_accepts(include: str, exclude: str, expected: set[str]) -> None:
    assert accepted(include, exclude) == expected


def test_an_expression_that_java_refuses_is_told_with_its_property() -> None:
    with pytest.raises(ConfigurationError, match=r"^topics: \(, a is no list of Java regular expressions$"):
        TopicFilter(split_list("(, a"), (), Expression)
    with pytest.raises(ConfigurationError, match=r"^topics\.exclude: \[ is"):
        TopicFilter(split_list(".*"), split_list("["), Expression)
