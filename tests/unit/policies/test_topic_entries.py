"""Entries of a choice of topics that no topic can match, and those that match none."""

from __future__ import annotations

import pytest

from legacy_mm.policies.topic_entries import alternatives, unfit_entries, unfit_signs, unmatched
from tests.unit.policies.expression import Expression


@pytest.mark.parametrize(
    ("pattern", "entries"),
    [
        ("orders|pay.*", ("orders", "pay.*")),
        ("orders||", ("orders",)),
        ("(orders|pay).*", ("(orders|pay).*",)),
        (r"\Qa|b\E", (r"\Qa|b\E",)),
        ("", ()),
    ],
)
def test_the_alternatives_of_a_pattern(pattern: str, entries: tuple[str, ...]) -> None:
    assert alternatives(pattern) == entries


@pytest.mark.parametrize(
    ("entry", "signs"),
    [
        ("orders", ()),
        ("^orders-v1_x.*$", ()),
        ("orders #old", (" ", "#")),
        ("'orders", ("'",)),
        ('"orders"', ('"',)),
        ("orders;pay", (";",)),
        ("größe", ("ö", "ß")),
        ("orders #*", (" ",)),
        ("orders#?", ()),
        ("orders#+", ("#",)),
        ("orders[ #]", ()),
        (r"orders\s", ()),
        ("orders{1}", ()),
    ],
)
def test_signs_that_no_topic_s_name_has(entry: str, signs: tuple[str, ...]) -> None:
    """Where the syntax gives them no other meaning."""
    assert unfit_signs(entry) == signs


def test_each_unfit_entry_has_a_sentence() -> None:
    assert list(unfit_entries("topics", ["orders|'pay", "audit #old"])) == [
        "topics: \"'pay\" matches no topic, because no topic's name has '; take it out",
        "topics: 'audit #old' matches no topic, because no topic's name has a blank and #; take it out",
    ]


def test_entries_that_match_none_of_the_topics() -> None:
    """A name among the topics needs no regular expression; others are compiled, each alone."""
    compiled: list[str] = []

    def matcher(expression: str) -> Expression:
        compiled.append(expression)
        return Expression(expression)

    found = unmatched(["orders|odrers", "pay.*", "x.*", "odrers"], ["orders", "payments"], matcher)
    assert (found, compiled) == (["odrers", "x.*"], ["odrers", "pay.*", "x.*"])
