"""Lists of Java regular expressions for names, as MirrorMaker 2 reads them: one of them must match the whole name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from legacy_mm.spark.jvm import Jvm, TopicMatcher


def name_filter(jvm: Callable[[], Jvm], patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a name is in the list; Java is asked once for each name, and compiles at the first.

    The filter raises InvalidPattern when Java refuses the list. An empty one asks for no JVM.
    """
    if not patterns:
        return _never

    @cache
    def matcher() -> TopicMatcher:
        return jvm().topic_matcher("|".join(patterns))

    @cache
    def matches(name: str) -> bool:
        return bool(matcher().matching([name]))

    return matches


def _never(_: str) -> bool:
    return False
