"""The handlers that come along, each by its line of options."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.handlers.api import Record, TargetRecord
from legacy_mm.handlers.batches import BatchHandler, PythonBatches
from legacy_mm.handlers.built_in import step
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.single_records import handle_records

RECORD = Record("orders.eu", 3, 2, 1, 7, b"key-1", b"v", (("kind", b"new"), ("kind", None)))
KEPT = ("orders.eu", b"key-1", b"v", RECORD.headers, None, 7)


def no_java(settings: HandlerSettings) -> BatchHandler:
    raise AssertionError(settings)


def after(*steps: str, record: Record = RECORD) -> list[tuple[object, ...]]:
    made = load_handler(HandlerSettings(steps=steps), no_java)
    batch: Any = [record]
    return [tuple(target) for target in handle_records(made, batch).targets]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("rename.prefix=a.", "a.orders.eu"),
        ("rename.suffix=.b", "orders.eu.b"),
        ("rename.map=orders->shop,orders.eu->eu-shop", "eu-shop"),
        ("rename.map=orders->x", "orders.eu"),
    ],
)
def test_rename(text: str, topic: str) -> None:
    assert after(text) == [(topic, *KEPT[1:])]


def test_keep_partition() -> None:
    assert after("keep.partition") == [(*KEPT[:4], 3, 7)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("filter.topic=orders,orders.eu", True),
        ("filter.topic=orders", False),
        ("filter.key=-1$", True),
        ("filter.key=^1", False),
        ("filter.header=kind:^new$", True),
        ("filter.header=other:", False),
    ],
)
def test_filters(text: str, kept: bool) -> None:
    assert after(text) == ([KEPT] if kept else [])


def test_a_record_without_a_key_does_not_match_one() -> None:
    assert after("filter.key=", record=RECORD._replace(key=None)) == []


def test_provenance() -> None:
    ((*_, headers, _, _),) = after("provenance=west")
    added = [("source.cluster", b"west"), ("source.topic", b"orders.eu"), ("source.partition", b"3")]
    assert headers == (*RECORD.headers, *added, ("source.offset", b"2"))


def test_the_path_of_a_record_grows_and_never_closes() -> None:
    once = step("loop.guard=a>b").handle(RECORD)
    assert once[0].headers == (*RECORD.headers, ("mirror.path", b"a"))
    back = RECORD._replace(headers=once[0].headers)
    assert step("loop.guard=b>c").handle(back)[0].headers == (*RECORD.headers, ("mirror.path", b"a,b"))
    with pytest.raises(
        HandlerFailure, match=r"orders\.eu goes in a circle: this record was at a before \(its path: a, b"
    ):
        step("loop.guard=b>a").handle(back)


def test_a_foreign_path_that_is_no_utf_8_is_kept() -> None:
    foreign = RECORD._replace(headers=(("mirror.path", b"\xff,c"),))
    assert step("loop.guard=a>b").handle(foreign)[0].headers == (("mirror.path", b"\xff,c,a"),)
    with pytest.raises(HandlerFailure, match="this record was at c before \\(its path: \ufffd, c, a\\)"):
        step("loop.guard=a>c").handle(foreign)


def test_steps_see_what_the_one_before_made() -> None:
    ((topic, *_, partition, timestamp),) = after(
        "rename.prefix=a.", "keep.partition", "rename.map=a.orders.eu->b.orders.eu"
    )
    assert (topic, partition, timestamp) == ("b.orders.eu", 3, 7)
    assert after("rename.prefix=a.", "filter.topic=orders.eu") == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rename", "choose from keep.partition"),
        ("filter.key=(", "no regular expression"),
        ("filter.header=x", "no name:pattern"),
        ("rename.map=x", "no list of pattern->topic"),
        ("rename.map=", "no list of pattern->topic"),
        ("rename.map=a->b,", "no list of pattern->topic"),
        ("rename.map=a->", "no list of pattern->topic"),
        ("rename.map=->b", "no list of pattern->topic"),
        ("loop.guard=a", "no source>target"),
    ],
)
def test_mistakes(text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=f"--handler.step .*{told}"):
        step(text)


def test_a_record_for_a_topic_that_cannot_be_is_one_that_failed() -> None:
    """What the handler made of the records before it is sent; a name that follows does not count."""
    names: dict[int, list[Any]] = {0: ["a"], 1: ["b", "c d"], 2: ["x/y"], 3: ["e"]}
    made = PythonBatches(lambda record: [record.to(name) for name in names[record.offset]], legal_topics=True)
    found = handle_records(made, [RECORD._replace(offset=offset) for offset in names])
    assert ([target[0] for target in found.targets], found.ends) == (["a"], [1])
    assert found.error == "topic 'c d': names have letters, digits, dots, dashes and underscores only"
    for name, why in (("", "empty"), (None, "a text"), ("..", "can be called"), ("n" * 250, "249 letters")):
        names[0] = [name]
        assert why in (handle_records(made, [RECORD._replace(offset=0)]).error or "")


def test_a_record_that_cannot_be_written() -> None:
    for change in ({"key": 5}, {"value": 1.5}, {"headers": (("name", 7),)}, {"headers": 3}, {"timestamp": "soon"}):
        made = PythonBatches(lambda record, change=change: [TargetRecord("t", b"k", b"v")._replace(**change)])  # type: ignore[misc]
        with pytest.raises(HandlerFailure, match="made a record that cannot be sent"):
            handle_records(made, [RECORD])
