"""A router's expression in a real Java."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import HandlerFailure, InvalidPattern
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.runtime.jvm.topic_router import TopicRouter

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("expression", "replacement", "topic", "name"),
    [
        (r"A\.(.*)", "$1", "A.t", "t"),
        (r"A\.(.*)", "$1", "B.t", "B.t"),
        ("A", "x", "A.t", "A.t"),
        (r"(?<all>.*)", "${all}-x", "A.t", "A.t-x"),
        ("A|A.t", "b", "A.t", "b.t"),
        (".*", "", "A.t", ""),
        (".*", r"\$1", "A.t", "$1"),
        ("", "x", "A.t", "A.t"),
    ],
)
def test_a_name(java: StartJvm, expression: str, replacement: str, topic: str, name: str) -> None:
    assert TopicRouter(java(), expression, replacement).routed(topic) == name


@pytest.mark.parametrize(
    ("replacement", "said"), [("$2", "No group 2"), ("${n}", "No group with name"), ("x$", "Illegal")]
)
def test_a_replacement_that_java_refuses(java: StartJvm, replacement: str, said: str) -> None:
    router = TopicRouter(java(), "(A.*)", replacement)
    assert router.routed("B") == "B"
    with pytest.raises(HandlerFailure, match=f"replacement=.* is not possible for A.t: {said}"):
        router.routed("A.t")


def test_an_expression_that_java_refuses(java: StartJvm) -> None:
    with pytest.raises(InvalidPattern):
        TopicRouter(java(), "(", "x")
