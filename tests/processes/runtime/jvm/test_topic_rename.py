"""A rename of topics by Java's own expressions, in a real Java."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError, InvalidPattern
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.runtime.jvm.topic_router import TopicRename

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("expression", "replacement", "topic", "name"),
    [
        (r"orders\.(.*)", "shop.$1", "orders.eu", "shop.eu"),
        (r"orders\.(.*)", r"shop.\1", "orders.eu", "shop.eu"),
        (r"(?<all>.*)", r"\g<all>-x", "t", "t-x"),
        ("orders", "shop", "orders.eu", None),
    ],
    ids=["Java's group", "Python's", "Python's name", "another topic"],
)
def test_a_name(java: StartJvm, expression: str, replacement: str, topic: str, name: str | None) -> None:
    assert TopicRename(java(), expression, replacement).renamed(topic) == name


def test_the_sample_is_the_name_of_empty_groups(java: StartJvm) -> None:
    assert TopicRename(java(), r"orders\.(.*)", "shop.$1").sample == "shop."


def test_what_java_refuses(java: StartJvm) -> None:
    with pytest.raises(InvalidPattern):
        TopicRename(java(), "(", "x")
    with pytest.raises(ConfigurationError, match=r"\(a\)->\$2 is not possible: No group 2"):
        TopicRename(java(), "(a)", "$2")
