"""Patterns that need no Java, and what is said of those that Java does not compile."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.policies.pattern_words import advice, compiles_anywhere, dangling


@pytest.mark.parametrize(
    "pattern", ["", "orders", "a|b", "orders.*", ".+", "a.b", "x_y-9", "a.?", "|", r"a\..*", r"[a\-]b"]
)
def test_plain_patterns(pattern: str) -> None:
    assert compiles_anywhere(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["*", "a*", "a**", "[a", "(a", "a\\", "a{1", "ä", "a,b", "..**", "a\n", "^a$", "[a-z]", r"\d", "[]", r"a\.+"],
)
def test_patterns_that_only_java_can_judge(pattern: str) -> None:
    assert not compiles_anywhere(pattern)


def compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


@given(st.text(alphabet="ab.*+?|[]-(\\{", max_size=8))
def test_what_compiles_anywhere_compiles_here(pattern: str) -> None:
    assert not compiles_anywhere(pattern) or compiles(pattern)


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [("*", ".*"), ("*.orders", ".*.orders"), ("a|*", "a|.*"), ("orders.**", "orders.*"), ("(*)", "(.*)"), ("?", ".*")],
)
def test_a_file_pattern_is_told_as_an_expression(pattern: str, meant: str) -> None:
    said = advice(pattern, "Dangling", compiles)
    assert said.startswith(f"{pattern} is no Java regular expression (Dangling): {meant} was probably meant")
    assert said.endswith("which is every topic.") is (meant == ".*")


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        (["*"], "*"),
        (["a", "*-temp", "?"], "*-temp"),
        (["+"], "+"),
        ([".*", "a*", "\\*"], ""),
        (["[a", "*]"], ""),
        (["a\\", "*"], ""),
        ([], ""),
    ],
)
def test_an_entry_that_begins_with_a_quantifier(entries: list[str], found: str) -> None:
    assert dangling(entries) == found
    assert compiles("|".join(entries)) is not bool(found)


@pytest.mark.parametrize("pattern", ["[a", "(*", "a\\"])
def test_what_no_star_explains_has_an_example(pattern: str) -> None:
    """Even where a star is replaced, and it does not compile all the same."""
    said = advice(pattern, "", compiles)
    assert said.startswith(f"{pattern} is no Java regular expression: write one, such as orders.*")
