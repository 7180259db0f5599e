"""Transforms in a connector's properties: what they are, what Connect refuses, what cannot be run here."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.handlers.transforms import Predicate, Transform, parsed
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.mirror_maker_2.transform_properties import (
    ConnectorRefused,
    filters,
    read,
    refusal,
    sentence,
    steps,
)

PACKAGE = "org.apache.kafka.connect.transforms"
SIMPLE = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
FILTER = f"transforms = a\ntransforms.a.type = {PACKAGE}.Filter\n"
HEADER = f"predicates = p\npredicates.p.type = {PACKAGE}.predicates.HasHeaderKey\npredicates.p.name = x\n"
IF_HEADER = f"{FILTER}{HEADER}transforms.a.predicate = p\n"
INSERT = f"transforms = a\ntransforms.a.type = {PACKAGE}.InsertHeader\ntransforms.a.header = h\n"
ROUTER = f"transforms = a\ntransforms.a.type = {PACKAGE}.RegexRouter\n"
BY_TIME = f"transforms = a\ntransforms.a.type = {PACKAGE}.TimestampRouter\n"


def properties(text: str) -> dict[str, str]:
    return dict(properties_file.loads(text.encode()))


def made(text: str, converter: str = SIMPLE) -> list[Transform]:
    found = steps(read(properties(text)), converter, "A->B.")
    return [parsed(each.partition("=")[2]) for each in found]


def inserted(text: str | None) -> Transform:
    return Transform("a", "InsertHeader", {"header": "h", "value.literal": text})


@pytest.mark.parametrize("text", ["", "transforms =", "transforms = \npredicates =\n", HEADER, "transforms.a.type = x"])
def test_none(text: str) -> None:
    assert read(properties(text)) == ()
    assert made(text) == []


@pytest.mark.parametrize(
    ("text", "transform"),
    [
        (FILTER, Transform("a", "Filter")),
        ("transforms = a\ntransforms.a.type = Filter", Transform("a", "Filter")),
        (f"{INSERT}transforms.a.value.literal =  DC1 ", inserted("DC1")),
        (f"{INSERT}transforms.a.value.literal = 007", inserted("7")),
        (f"{INSERT}transforms.a.value.literal = null", inserted(None)),
        (f"{INSERT}transforms.a.value.literal =", inserted("")),
        (
            "transforms = a\ntransforms.a.type = DropHeaders\ntransforms.a.headers = x , y",
            Transform("a", "DropHeaders", {"headers": ["x", "y"]}),
        ),
        (
            f"{ROUTER}transforms.a.regex = A\\\\.(.*)\ntransforms.a.replacement = $1",
            Transform("a", "RegexRouter", {"regex": r"A\.(.*)", "replacement": "$1"}),
        ),
        (
            f"{ROUTER}transforms.a.regex =\ntransforms.a.replacement =",
            Transform("a", "RegexRouter", {"regex": "", "replacement": ""}),
        ),
        (
            BY_TIME,
            Transform(
                "a", "TimestampRouter", {"topic.format": "${topic}-${timestamp}", "timestamp.format": "yyyyMMdd"}
            ),
        ),
        (
            f"{BY_TIME}transforms.a.topic.format = x.${{topic}}\ntransforms.a.timestamp.format =",
            Transform("a", "TimestampRouter", {"topic.format": "x.${topic}", "timestamp.format": ""}),
        ),
    ],
)
def test_a_transform(text: str, transform: Transform) -> None:
    assert made(text) == [transform]


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("HasHeaderKey", {"name": "x"}), ("RecordIsTombstone", {}), ("TopicNameMatches", {"pattern": "a.*"})],
)
@pytest.mark.parametrize(
    ("negate", "negated"), [("", False), ("false", False), ("true", True), ("TRUE", True), ("TRUE ", False)]
)
def test_a_predicate(kind: str, settings: dict[str, str], negate: str, negated: bool) -> None:
    """Connect checks `negate` without blanks, and reads it with them."""
    text = f"{FILTER}transforms.a.predicate = p\npredicates = p\npredicates.p.type = {PACKAGE}.predicates.{kind}\n"
    text += "".join(f"predicates.p.{key} = {value}\n" for key, value in settings.items())
    text += f"transforms.a.negate = {negate}\n" if negate else ""
    assert made(text) == [Transform("a", "Filter", {}, Predicate("p", kind, settings), negated)]


def test_several_in_their_order() -> None:
    text = f"transforms = b , a\ntransforms.b.type = {PACKAGE}.Filter\ntransforms.b.predicate = p\n{HEADER}"
    text += INSERT.partition("\n")[2] + "transforms.a.value.literal = null\n"
    assert [(each.name, each.type) for each in made(text, BYTES)] == [("b", "Filter"), ("a", "InsertHeader")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("transforms = a", "transforms.a.type is missing"),
        ("transforms = a\ntransforms.a.type =", "transforms.a.type is missing"),
        (FILTER.replace("= a", "= a,", 1), "transforms..type is missing"),
        ("transforms = ,", "transforms=, has an alias twice"),
        (FILTER.replace("= a", "= a, a", 1), "transforms=a, a has an alias twice"),
        ("predicates = q", "predicates.q.type is missing"),
        ("predicates = q, q", "predicates=q, q has an alias twice"),
        (f"{FILTER}transforms.a.predicate = p", "transforms.a.predicate='p' is not in predicates"),
        (f"{FILTER}transforms.a.predicate = p\npredicates =", "transforms.a.predicate='p' is not in predicates"),
        (f"{FILTER}{HEADER}transforms.a.predicate =", "transforms.a.predicate='' is not in predicates"),
        (f"{FILTER}{HEADER}transforms.a.predicate = p ", "transforms.a.predicate='p ' is not in predicates"),
        (f"{FILTER}transforms.a.negate = true", "transforms.a.negate is there without transforms.a.predicate"),
        (f"{IF_HEADER}transforms.a.negate = yes", "transforms.a.negate='yes' not a boolean"),
        (f"{IF_HEADER}transforms.a.negate =", "transforms.a.negate='' not a boolean"),
        (f"{FILTER}{HEADER}".replace("name = x", "name = "), "predicates.p.name is empty"),
        (f"{FILTER}{HEADER}".replace("predicates.p.name = x\n", ""), "predicates.p.name is missing"),
        (INSERT, "transforms.a.value.literal is missing"),
        (f"{ROUTER}transforms.a.regex = x", "transforms.a.replacement is missing"),
        (f"{ROUTER}transforms.a.replacement = x", "transforms.a.regex is missing"),
        ("transforms = a\ntransforms.a.type = DropHeaders", "transforms.a.headers is missing"),
        ("transforms = a\ntransforms.a.type = DropHeaders\ntransforms.a.headers = ", "transforms.a.headers is empty"),
    ],
)
def test_what_connect_refuses(text: str, why: str) -> None:
    assert refusal(properties(text)) == why
    with pytest.raises(ConnectorRefused):
        read(properties(text))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"{BY_TIME}transforms.a.timestamp.format = YYYY", "transforms.a.timestamp.format=YYYY is not possible: YYYY"),
        (
            f"{INSERT}transforms.a.value.literal = [1]",
            r"value.literal=\[1\] is not possible: Connect may read an array",
        ),
        (
            f"{BY_TIME}transforms.r.type = RegexRouter\ntransforms.r.regex = x\ntransforms.r.replacement = y\n".replace(
                "= a", "= a, r", 1
            ),
            "transforms.r is not possible behind transforms.a",
        ),
    ],
)
def test_what_cannot_be_run_here_is_named(text: str, named: str) -> None:
    assert refusal(properties(text)) == ""
    with pytest.raises(ConfigurationError, match=rf"^A->B\.{named}|^A->B\..*{named}"):
        made(text)


@pytest.mark.parametrize(
    ("converter", "told"),
    [
        (BYTES, "which writes only bytes: Connect's task ends at the first record; choose org.apache"),
        ("org.apache.kafka.connect.json.JsonConverter", "JsonConverter; choose org.apache"),
    ],
)
def test_a_converter_that_cannot_write_the_literal(converter: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"A->B\.transforms\.a\.value\.literal=x is not possible.*{told}"):
        made(f"{INSERT}transforms.a.value.literal = x", converter)
    assert made(f"{INSERT}transforms.a.value.literal = null", converter)


def test_a_predicate_of_another_class_that_no_transform_has() -> None:
    assert made(f"{FILTER}predicates = p\npredicates.p.type = com.acme.Is\n") == [Transform("a", "Filter")]


@pytest.mark.parametrize(
    ("text", "filtering"),
    [
        ("", False),
        (FILTER, True),
        (BY_TIME, True),
        (f"{INSERT}transforms.a.value.literal = x", False),
        ("transforms = a\ntransforms.a.type = com.acme.Mask", False),
        ("transforms = a, b\ntransforms.a.type = com.acme.Mask\ntransforms.b.type = Filter", True),
    ],
)
def test_what_may_keep_records_away(text: str, filtering: bool) -> None:
    assert filters(read(properties(text))) is filtering


def test_a_sentence() -> None:
    conditional = Transform("a", "Filter", {}, Predicate("p", "HasHeaderKey", {"name": "x"}), True)
    assert sentence(conditional) == "Filter, unless HasHeaderKey name=x"
    assert sentence(Transform("a", "DropHeaders", {"headers": ["x", "y"]})) == "DropHeaders headers=x, y"
    assert sentence(Transform("a", "Filter", {}, Predicate("p", "RecordIsTombstone"))) == "Filter, if RecordIsTombstone"
