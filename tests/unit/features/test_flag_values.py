"""Flags as they were given and as they are typed: precedence, lists, pairs, and errors that name the flag."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.option import Option
from legacy_mm.features.flag import Flag, seconds, switch
from legacy_mm.features.flag_values import FlagValues, Given, extend_default, first_given

ROWS = (
    Flag(switch("on", "", "o")),
    Flag(seconds("look.interval.seconds", 60, "", "o")),
    Flag(Option("kind", "a", "kind", "", "o", choices=("a", "b"))),
    Flag(Option("names", "x, y", "pattern,...", "", "o")),
    Flag(Option("client", None, "name=value", "", "o", repeated=True)),
)


def values(*sources: Given) -> FlagValues:
    return FlagValues(ROWS, sources)


def test_without_sources_defaults_are_typed() -> None:
    found = values()
    assert (found["on"], found.seconds("look"), found["kind"], found.pairs("client")) == (False, 60.0, "a", {})
    assert not found.given("kind")


def test_the_first_source_that_has_a_flag_decides_and_in_it_the_last_word() -> None:
    found = values({"kind": ["a", " b "]}, {"kind": ["a"], "on": ["TRUE"]}, {"on": ["false"]})
    assert (found["kind"], found["on"]) == ("b", True)
    assert found.given("on")


def test_a_default_that_is_given_counts_as_given() -> None:
    assert values({"kind": ["a"]}).given("kind")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("on", "yes", "on: "),
        ("look.interval.seconds", "0", "look.interval.seconds: 0 is too small"),
        ("look.interval.seconds", "-1", "look.interval.seconds: '-1' is not a whole number"),
        ("look.interval.seconds", "", "look.interval.seconds: '' is not a whole number"),
        ("kind", "c", "kind: 'c' is none of a, b"),
        ("kind", "A", "kind: 'A' is none of a, b"),
    ],
)
def test_a_wrong_value_is_named_with_its_flag(name: str, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        values({name: [text]})
    assert str(caught.value).startswith(said)


def test_pairs_of_all_sources_count_and_the_first_source_wins() -> None:
    """A password may be in a file, and the address on the command line."""
    found = values({"client": ["a=1", "a=2"]}, {"client": ["a=3", " b = x=y "]})
    assert found.pairs("client") == {"a": "2", "b": " x=y "}


@pytest.mark.parametrize("text", ["a", "=1", " =1", ""])
def test_what_is_no_pair_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^client takes name=value, such as client.security.protocol=SSL$"):
        values({"client": [text]}).pairs("client")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b", ("a", "b")),
        ("+a", ("x", "y", "a")),
        ("b,+a", ("x", "y", "b", "a")),
        ("", ()),
        ("a+", ("a+",)),
    ],
)
def test_a_plus_adds_to_the_default_list(text: str, found: tuple[str, ...]) -> None:
    assert extend_default(text, "x, y") == found
    assert values({"names": [text]}).extended("names") == found


def test_texts_are_as_given_but_no_pairs() -> None:
    """A policy of the user's gets them; pairs may hold passwords."""
    found = values({"client": ["password=hush"], "on": [" true "]}).texts()
    assert found == {"on": "true", "look.interval.seconds": "60", "kind": "a", "names": "x, y"}


def test_nothing_is_given_by_nobody() -> None:
    assert first_given([{}, {"b": ["1"]}], "a") is None
    assert first_given([{}, {"a": []}, {"a": ["1"]}], "a") == []


@pytest.mark.parametrize(("given", "on"), [({}, True), ({"on": ["true"]}, True), ({"on": ["false"]}, False)])
def test_what_follows_from_another_flag_is_on_unless_it_was_given(given: Given, on: bool) -> None:
    found = values(given)
    assert found.imply("on") is on
    assert found["on"] is on
