"""Words of a command line that have no effect are named, and what was probably meant."""

from __future__ import annotations

import pytest

from legacy_mm.words.legacy_tool import command_line
from legacy_mm.words.legacy_tool.command_line import Word
from legacy_mm.words.legacy_tool.stray_words import remark, stray

LINE = ["--consumer.config", "c", "--producer.config", "p", "--whitelist"]


def told(*words: str) -> str:
    seen: list[Word] = []
    command_line.parse([*LINE, *words], seen=seen)
    return remark(stray(seen))


def test_a_line_whose_words_all_count() -> None:
    assert told("x") == ""
    assert told("x", "--") == ""


DASH = "begins with a long dash: write"
SHELL = "If the shell has made them of a pattern, put the pattern in quotes."


@pytest.mark.parametrize(
    ("words", "remarked"),
    [
        (("bin", "config", "lib"), f"2 words without effect: config lib. {SHELL}"),
        (("x", "--", "--num.streams=4"), f"1 word without effect: --num.streams=.... {SHELL}"),
        (
            ("x", "\u2014abc", "4"),
            "2 words without effect: \u2014abc 4. \u2014abc begins with a long dash: write --abc.",
        ),
        (
            ("x", "\u2013\u2013a.b=5"),
            "1 word without effect: \u2013\u2013a.b=.... \u2013a.b begins with a long dash: write --a.b.",
        ),
        (("x", " "), f"1 word without effect: ' '. {SHELL}"),
    ],
    ids=["expanded by a shell", "behind the end of options", "a long dash", "two dashes with a value", "a blank"],
)
def test_words_without_effect(words: tuple[str, ...], remarked: str) -> None:
    assert told(*words) == remarked


def test_a_value_in_such_a_word_is_shown_nowhere() -> None:
    assert "secret" not in told("x", "sasl.password=secret")
