"""The cleaning of the pattern text, against the recorded samples."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.words.legacy_tool.topic_pattern import rewrite, topic_settings


@pytest.mark.parametrize(
    ("given", "pattern"),
    [
        (' "foo, bar.*,baz" ', "foo|bar.*|baz"),
        ("'a','b'", "a'|'b"),
        ("a{1,2}", "a{1|2}"),
        (",", "|"),
        ("*", "*"),
        ("", ""),
        ("  ", ""),
        ("a\tb", "a\tb"),
        ("\ta\n", "a"),
        ("\"'a'\"", "a"),
    ],
)
def test_rewriting(given: str, pattern: str) -> None:
    assert rewrite(given) == pattern


def test_recorded_samples(config_map: dict[str, Any]) -> None:
    samples = config_map["include_regex_samples"]
    equal = [s for s in samples if rewrite(s["include"]) == s["regex_after_rewrite"]]
    print(f"\n{len(equal)} of {len(samples)} recorded patterns equal")
    assert equal == samples


def test_the_user_s_text_is_kept() -> None:
    topics = topic_settings("a, b", exclude_internal=False)
    assert (topics.pattern, topics.pattern_text, topics.exclude_internal) == ("a|b", "a, b", False)
