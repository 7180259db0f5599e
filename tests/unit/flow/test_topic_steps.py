"""`rename.map` and `filter.topic` in Java's dialect, and what becomes of names in a row of steps. With a real Java."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.flow.plugins import ready_handler
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.single_records import handle_records
from legacy_mm.runtime.jvm.gateway import StartJvm

pytestmark = pytest.mark.spark


def no_java(*_: object) -> Any:
    raise AssertionError("nobody asks Java")


def in_a_task(steps: list[str], topic: str) -> list[str]:
    """The topics of what a task makes of a record, by steps that know no expression any more."""
    made = load_handler(HandlerSettings(steps=steps), no_java)
    records = [Record(topic, 0, 0, 1, 7, b"k", b"v", ())]
    return [target[0] for target in handle_records(made, records).targets]


@pytest.mark.parametrize(
    ("text", "topic", "name"),
    [
        (r"orders\.(.*)->shop.$1", "orders.eu", "shop.eu"),
        (r"orders\.(.*)->shop.\1", "orders.eu", "shop.eu"),
        (r"(?<area>\p{Alpha}+)-(\d{1,3})->$2.${area}", "eu-12", "12.eu"),
        (r"(?<area>[a-z]+)-.*->\g<area>", "eu-12", "eu"),
        (r"[a-z]{1,3},x{2,}->rest,logs->all", "logs", "all"),
        (r"a{1,3}->short,logs{0,1}->$0-all", "log", "log-all"),
        (r"[a-z&&[^x]]+->${0}.n".replace("${0}", "$0"), "abc", "abc.n"),
        (r"\Qa.b\E->c", "a.b", "c"),
        (r"\Qa.b\E->c", "axb", "axb"),
        (r"a|ab->$0.x", "ab", "ab.x"),
        (r"(?i)ORDERS->o", "orders", "o"),
        (r"(a)(b)?->$1.$2x", "a", "a.x"),
        (r"a++b->c", "aab", "c"),
        (r"(?>a|ab)c->d", "ac", "d"),
        (r"order->x", "orders", "orders"),
        (r".*->one,.*->two", "t", "one"),
        (r"(x)1->$11", "x1", "x1"),
    ],
)
def test_rename_map_is_javas(java: StartJvm, text: str, topic: str, name: str) -> None:
    steps = TopicSteps([f"rename.map={text}"], java)
    assert steps.names([topic, "other"])[topic] == name
    assert in_a_task(steps.exact([topic, "other-topic"]), topic) == [name]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("rename.map=*->x", r"--handler.step rename.map: \* is no Java regular expression .*: \.\* was probably meant"),
        ("rename.map=a->b,(->c", r"rename.map: \( is no Java regular expression \(Unclosed group\)"),
        ("rename.map=(a)->$2", "rename.map: .*No group 2"),
        ("rename.map=a->$1", "rename.map: .*No group 1"),
        ("rename.map=a->${gone}", r"rename.map: .*No group with name \{gone\}"),
        ("rename.map=a->b$", "rename.map: a->b.* is not possible: Illegal group reference"),
        ("rename.map=a->b c", "rename.map: 'b c' is not legal in the name of a topic"),
        ("rename.map=(a)->$1/x", "rename.map: '/x' is not legal in the name of a topic"),
        ("rename.map=a", "rename.map: 'a' is no list of pattern->topic"),
        ("rename.prefix=a/", "rename.prefix: 'a/' is not legal in the name of a topic"),
        ('rename.suffix="x"', "rename.suffix: '\"x\"' is not legal in the name of a topic"),
        ("filter.topic=*", r"filter.topic: \* is no Java regular expression .*: \.\* was probably meant"),
        ("filter.key=(", "--handler.step filter.key: .*no regular expression"),
        ("rename", "--handler.step rename: choose from"),
    ],
)
def test_mistakes_are_told_at_the_start(java: StartJvm, step: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        ready_handler(HandlerSettings(steps=[step]), java)


def test_each_step_sees_the_name_that_the_one_before_made(java: StartJvm) -> None:
    line = ["rename.prefix=a.", "filter.topic=a\\.[^x].*", "keep.partition", "rename.map=a\\.(.+)->$1.b"]
    steps = TopicSteps(line, java)
    assert steps.names(["t", "x", "u"]) == {"t": "t.b", "u": "u.b"}
    exact = steps.exact(["t", "x", "u"])
    assert exact == ["rename.prefix=a.", "filter.topic=a.t,a.u", "keep.partition", "rename.map=a.t->t.b,a.u->u.b"]
    assert [in_a_task(exact, topic) for topic in ("t", "x", "u")] == [["t.b"], [], ["u.b"]]


@pytest.mark.parametrize(
    ("step", "topic", "told"),
    [
        ("rename.map=(.*)x->$1", "x", "calls topic x '' at the target: a name is a text that is not empty"),
        ("rename.map=a->.", "a", "no topic can be called"),
        ("rename.prefix=" + "p" * 200, "t" * 50, "a name has 249 letters at most, and this one has 250"),
    ],
)
def test_a_name_that_no_topic_can_have(java: StartJvm, step: str, topic: str, told: str) -> None:
    steps = TopicSteps([step], java)
    assert steps.exact(["fine"])
    with pytest.raises(HandlerFailure, match=told):
        steps.exact(["fine", topic])


def test_steps_without_expressions_ask_no_java() -> None:
    steps = TopicSteps(["rename.prefix=a.", "rename.suffix=.b", "provenance=x", "filter.key=k"], no_java)
    assert steps.names(["t"]) == {"t": "a.t.b"}
    assert TopicSteps([], no_java).exact(["t"]) == []
