"""Names that brokers take for a topic."""

from __future__ import annotations

import pytest

from legacy_mm.policies.topic_letters import has_legal_letters, why_no_topic


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "...", "_", "x" * 249])
def test_legal(name: str) -> None:
    assert (why_no_topic(name), has_legal_letters(name)) == ("", True)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "not empty"),
        (None, "not empty"),
        (b"orders", "not empty"),
        (".", "no topic can be called"),
        ("..", "no topic can be called"),
        ("x" * 250, "this one has 250"),
        ("a b", "letters, digits"),
        ("a\n", "letters, digits"),
        ("größe", "letters, digits"),
        ("a/../b", "letters, digits"),
        ("\N{ARABIC-INDIC DIGIT ONE}", "letters, digits"),
    ],
)
def test_illegal(name: object, why: str) -> None:
    assert why in why_no_topic(name)


def test_a_part_of_a_name_may_be_empty() -> None:
    """A separator, an alias."""
    assert has_legal_letters("")
    assert not has_legal_letters("a:b")
