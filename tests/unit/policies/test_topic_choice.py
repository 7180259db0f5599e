"""Which topics are mirrored, and which of them features concern."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.option import split_list
from legacy_mm.policies.topic_choice import FeatureScope, TopicChoice, TopicFilter
from tests.unit.policies.expression import Expression

TOPICS = ("a", "ab", "b", "__x")


@pytest.mark.parametrize(("inverted", "mirrored"), [(False, {"a", "ab"}), (True, {"b"})])
def test_pattern_and_names(inverted: bool, mirrored: set[str]) -> None:
    choice = TopicChoice(Expression("a.*"), inverted=inverted, is_barred=lambda name: name.startswith("__"))
    assert choice.select(TOPICS) == mirrored


def test_lists_come_after_the_pattern() -> None:
    choice = TopicChoice(
        Expression("a.*"), inverted=False, is_barred=lambda name: False, accepted=lambda names: frozenset(names) - {"a"}
    )
    assert choice.select(TOPICS) == {"ab"}


def test_some_are_mirrored_whatever_pattern_and_lists_say_unless_they_are_barred() -> None:
    choice = TopicChoice(
        Expression("a.*"),
        inverted=False,
        is_barred=lambda name: name.startswith("__"),
        accepted=lambda names: frozenset(),
        always=lambda name: name in ("b", "__x"),
    )
    assert choice.select(TOPICS) == {"b"}


def test_without_a_canary_features_concern_every_topic() -> None:
    scope = FeatureScope("", Expression)
    assert "a" in scope


def test_a_canary() -> None:
    scope = FeatureScope("a", Expression)
    assert "a" not in scope
    scope.inspect(TOPICS)
    assert ("a" in scope, "ab" in scope) == (True, False)
    scope.inspect(["b"])
    assert "a" not in scope
    with pytest.raises(ConfigurationError, match=r"feature\.topics: \( is no Java"):
        FeatureScope("(", Expression).inspect(TOPICS)


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
