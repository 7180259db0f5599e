"""Lists of Java regular expressions for names, as MirrorMaker 2 reads them: one of them must match the whole name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from legacy_mm.policies.topic_choice import Matcher


def in_list(expressions: Sequence[str], matcher: Callable[[str], Matcher]) -> Callable[[str], bool]:
    """Return a test if a name is in the list; `matcher` is called at the first name, and once for each.

    The test may raise InvalidPattern. An empty list contains nothing and needs no matcher.
    """
    if not expressions:
        return _never

    @cache
    def compiled() -> Matcher:
        return matcher("|".join(expressions))

    @cache
    def listed(name: str) -> bool:
        return bool(compiled().matching([name]))

    return listed


def _never(_: str) -> bool:
    return False
