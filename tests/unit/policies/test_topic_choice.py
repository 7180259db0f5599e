"""Which topics are mirrored, and which of them features concern."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.policies.topic_choice import FeatureScope, TopicChoice
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
    scope.look(TOPICS)
    assert ("a" in scope, "ab" in scope) == (True, False)
    scope.look(["b"])
    assert "a" not in scope
    with pytest.raises(ConfigurationError, match=r"feature\.topics: \( is no Java"):
        FeatureScope("(", Expression).look(TOPICS)
