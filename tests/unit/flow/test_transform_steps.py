"""What transforms do to names of topics, and what of that a task is told. With a real Java."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.single_records import handle_records
from legacy_mm.handlers.transforms import Predicate, Transform, written
from legacy_mm.runtime.jvm.gateway import StartJvm

pytestmark = pytest.mark.spark
HEADER = Predicate("h", "HasHeaderKey", {"name": "x"})
BY_DAY = Transform("d", "TimestampRouter", {"topic.format": "${topic}-${timestamp}", "timestamp.format": "yyyyMMdd"})
DROPPED = Transform("f", "Filter")
NOTED = Transform("i", "InsertHeader", {"header": "x", "value.literal": None})


def no_java(*_: object) -> Any:
    raise AssertionError("nobody asks Java")


def router(regex: str, replacement: str, predicate: Predicate | None = None, *, negate: bool = False) -> Transform:
    return Transform("r", "RegexRouter", {"regex": regex, "replacement": replacement}, predicate, negate)


def named(pattern: str) -> Predicate:
    return Predicate("n", "TopicNameMatches", {"pattern": pattern})


def steps(*transforms: Transform, java: Any = no_java) -> TopicSteps:
    return TopicSteps([written(each) for each in transforms], java)


def in_a_task(made: TopicSteps, names: dict[str, str], topic: str) -> list[str]:
    """The topics of what a task makes of a record of this source topic."""
    settings = HandlerSettings(steps=made.behind(names))
    records = [Record(topic, 0, 0, 1, 7, b"k", b"v", ())]
    return [target[0] for target in handle_records(load_handler(settings, no_java), records).targets]


def test_transforms_without_expressions_need_no_java() -> None:
    made = steps(NOTED, Transform("f", "Filter", {}, HEADER), BY_DAY)
    assert made.names(["A.t"]) == {"A.t": "A.t-19700101"}
    assert in_a_task(made, {"t": "A.t"}, "t") == []


@pytest.mark.parametrize(
    ("transforms", "called"),
    [
        ([router(r"A\.(.*)", "$1")], {"A.t": "t", "A.u": "u"}),
        ([router(r"A\.t", "x")], {"A.t": "x", "A.u": "A.u"}),
        ([router(r"A\.(.*)", "$1"), router("t", "z")], {"A.t": "z", "A.u": "u"}),
        ([router(r"A\.(.*)", "$1", HEADER)], {"A.t": "A.t or t", "A.u": "A.u or u"}),
        ([router(r"A\.(.*)", "$1", named(r".*\.t"))], {"A.t": "t", "A.u": "A.u"}),
        ([router(r"A\.(.*)", "$1", named(r".*\.t"), negate=True)], {"A.t": "A.t", "A.u": "u"}),
        ([DROPPED], {}),
        ([Transform("f", "Filter", {}, named("A.t"))], {"A.u": "A.u"}),
        ([Transform("f", "Filter", {}, named("A.t"), True)], {"A.t": "A.t"}),
        ([Transform("f", "Filter", {}, named("t"))], {"A.t": "A.t", "A.u": "A.u"}),
        ([Transform("f", "Filter", {}, HEADER)], {"A.t": "A.t", "A.u": "A.u"}),
        ([router(r"A\.(.*)", "$1"), Transform("f", "Filter", {}, named("t"))], {"A.u": "u"}),
        ([DROPPED, router(r"A\.(.*)", "$1")], {}),
    ],
)
def test_names_at_the_target(java: StartJvm, transforms: list[Transform], called: dict[str, str]) -> None:
    made = steps(*transforms, java=java)
    assert made.names(["A.t", "A.u"]) == called
    for topic in ("t", "u"):
        found = in_a_task(made, {"t": "A.t", "u": "A.u"}, topic)
        assert set(found) <= set(called.get(f"A.{topic}", "").split(" or "))


def test_a_task_sees_the_name_that_the_policy_gives(java: StartJvm) -> None:
    assert in_a_task(steps(router(r"A\.(.*)", "$1-copy"), java=java), {"t": "A.t"}, "t") == ["t-copy"]
    assert in_a_task(steps(router("t", "no"), java=java), {"t": "A.t"}, "t") == ["A.t"]


@pytest.mark.parametrize(
    ("transform", "told"),
    [
        (router(".*", ""), r"the transforms call topic A\.t '' at the target: "),
        (router(".*", "a b"), r"the transforms call topic A\.t 'a b' at the target: "),
        (router("(.*)", "$2"), r"replacement=\$2 is not possible for A\.t: No group 2"),
    ],
)
def test_names_that_no_topic_can_have(java: StartJvm, transform: Transform, told: str) -> None:
    with pytest.raises(HandlerFailure, match=told):
        steps(transform, java=java).exact(["A.t"])


@pytest.mark.parametrize(
    ("transform", "key"),
    [(router("(", "x"), "transforms.r.regex"), (Transform("f", "Filter", {}, named("*")), "predicates.n.pattern")],
)
def test_an_expression_that_java_refuses_is_named_by_its_key(java: StartJvm, transform: Transform, key: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{key}: . is no Java regular expression"):
        steps(transform, java=java)
