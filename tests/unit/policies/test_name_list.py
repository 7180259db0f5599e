"""Lists of expressions for names."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from legacy_mm.policies.name_list import in_list


class Java:
    """Python's expressions in the place of Java's; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, pattern: str) -> Java:
        self.asked.append(pattern)
        return self

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        self.asked += names
        return frozenset(name for name in names if re.fullmatch(self.asked[0], name))


@pytest.mark.parametrize(
    ("expressions", "name", "found"),
    [
        ((r"a\.b", "c.*"), "a.b", True),
        ((r"a\.b", "c.*"), "cd", True),
        ((r"a\.b", "c.*"), "acb", False),
        ((r"a\.b", "c.*"), "xa.b", False),
        (("",), "a", False),
    ],
)
def test_one_must_match_the_whole_name(expressions: tuple[str, ...], name: str, found: bool) -> None:
    assert in_list(expressions, Java())(name) is found


def test_java_is_asked_as_late_and_as_seldom_as_possible() -> None:
    java = Java()
    listed = in_list(("a", "b"), java)
    assert java.asked == []
    assert [listed(name) for name in "abcabc"] == [True, True, False] * 2
    assert java.asked == ["a|b", "a", "b", "c"]
    nobody = Java()
    assert not in_list((), nobody)("a")
    assert nobody.asked == []
