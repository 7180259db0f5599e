"""Transforms as steps of a task, which knows names of topics only; the real ones are asked in tests/brokers."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.base.errors import HandlerFailure
from legacy_mm.handlers.api import CREATE_TIME, NO_TIMESTAMP, Headers, Record, TargetRecord
from legacy_mm.handlers.built_in import Steps, step
from legacy_mm.handlers.transforms import TOPICS, Predicate, RouteByTime, Transform, parsed, written

DAY = 1_709_210_096_007  # 2024-02-29
RECORD = Record("A.t", 3, 9, CREATE_TIME, DAY, b"k", b"v", (("x", b"1"), ("y", None), ("x", b"2")))
COPY = RECORD.to("A.t")
HAS_X, HAS_Z = (Predicate("p", "HasHeaderKey", {"name": name}) for name in "xz")
TOMBSTONE = Predicate("p", "RecordIsTombstone")


def of(predicate: Predicate | None = None, *, negate: bool = False, kind: str = "Filter", **settings: Any) -> Transform:
    return Transform("a", kind, {key.replace("_", "."): each for key, each in settings.items()}, predicate, negate)


def made(*transforms: Transform, record: Record = RECORD) -> list[TargetRecord]:
    return [*Steps([step(written(each)) for each in transforms]).handle(record)]


@pytest.mark.parametrize("text", ["DC1", "", "é", None])
def test_a_header_is_added_behind_the_others(text: str | None) -> None:
    headers = (*RECORD.headers, ("x", None if text is None else text.encode()))
    assert made(of(kind="InsertHeader", header="x", value_literal=text)) == [COPY._replace(headers=headers)]


@pytest.mark.parametrize(
    ("names", "left"), [(["x"], (("y", None),)), (["x", "y"], ()), (["z"], RECORD.headers), (["X"], RECORD.headers)]
)
def test_headers_are_dropped_by_name(names: list[str], left: Headers) -> None:
    assert made(of(kind="DropHeaders", headers=names)) == [COPY._replace(headers=left)]


def test_a_filter_without_a_predicate_drops_everything() -> None:
    assert made(of()) == []


@pytest.mark.parametrize(
    ("predicate", "value", "holds"),
    [
        (HAS_X, b"v", True),
        (HAS_Z, b"v", False),
        (TOMBSTONE, b"v", False),
        (TOMBSTONE, b"", False),
        (TOMBSTONE, None, True),
        (Predicate("p", "TopicNameMatches", {TOPICS: ["A.t"]}), b"v", True),
        (Predicate("p", "TopicNameMatches", {TOPICS: ["A.u"]}), b"v", False),
        (Predicate("p", "TopicNameMatches", {TOPICS: []}), b"v", False),
    ],
)
@pytest.mark.parametrize("negate", [False, True])
def test_a_predicate_and_its_opposite(predicate: Predicate, value: bytes | None, holds: bool, negate: bool) -> None:
    record = RECORD._replace(value=value)
    kept = [record.to("A.t")] if holds is negate else []
    assert made(of(predicate, negate=negate), record=record) == kept


def test_no_headers_at_all() -> None:
    bare = RECORD._replace(headers=(), key=None)
    transforms = (
        of(HAS_X),
        of(kind="DropHeaders", headers=["x"]),
        of(kind="InsertHeader", header="h", value_literal="a"),
    )
    assert made(*transforms, record=bare) == [bare.to("A.t")._replace(headers=(("h", b"a"),))]


def test_topics_by_their_names() -> None:
    transform = of(kind="RegexRouter", names={"A.t": "t"})
    assert [each.topic for each in made(transform)] == ["t"]
    assert [each.topic for each in made(transform, record=RECORD._replace(topic="A.u"))] == ["A.u"]


def test_topics_by_their_time() -> None:
    router = of(kind="TimestampRouter", topic_format="${topic}-${timestamp}", timestamp_format="yyyyMMdd")
    assert [each.topic for each in made(router)] == ["A.t-20240229"]
    no_time = RECORD._replace(timestamp_type=NO_TIMESTAMP, timestamp=0)
    assert [each.topic for each in made(router, record=no_time)] == ["A.t-19691231"]


def test_every_place_of_a_format() -> None:
    router = RouteByTime("${timestamp}.${topic}.${timestamp}${other}", "yy")
    assert router.renamed("t", DAY) == "24.t.24${other}"


def test_a_time_without_a_date_fails() -> None:
    with pytest.raises(HandlerFailure, match="beyond the year 9999"):
        RouteByTime("${topic}", "yyyy").renamed("t", 1 << 62)


def test_each_sees_what_the_one_before_made() -> None:
    """The loop guard of public files: what was marked stays away, the rest is marked."""
    guard = of(HAS_Z), of(kind="InsertHeader", header="z", value_literal=None)
    marked = made(*guard)
    assert marked == [COPY._replace(headers=(*RECORD.headers, ("z", None)))]
    assert made(*guard, record=RECORD._replace(headers=marked[0].headers)) == []
    assert made(*reversed(guard)) == []


def test_a_step_is_read_as_it_was_written() -> None:
    for transform in (of(), of(HAS_X, negate=True), of(kind="InsertHeader", header="=,->", value_literal=None)):
        name, _, value = written(transform).partition("=")
        assert (name, parsed(value)) == ("transform", transform)
