"""Names that other flags would have given."""

from __future__ import annotations

import pytest

from legacy_mm.policies.leftovers import left_behind


@pytest.mark.parametrize(
    ("names", "target", "separator", "found"),
    [
        ({"t": "t"}, {"t", "other", "A.other"}, ".", []),
        ({"t": "t"}, {"t", "A.t"}, ".", ["A.t"]),
        ({"t": "A.t"}, {"t", "A.t", "B.t"}, ".", ["B.t", "t"]),
        ({"a.b": "a.b", "b": "b"}, {"a.b", "b"}, ".", []),
        ({"t": "A_t"}, {"A.t", "A_t", "B_t"}, "_", ["B_t"]),
        ({"a.b": "a.b"}, {"a.b", "X.a.b"}, ".", ["X.a.b"]),
    ],
)
def test_what_is_left(names: dict[str, str], target: set[str], separator: str, found: list[str]) -> None:
    assert [line.split()[1] for line in left_behind(names, target, separator)] == found


def test_the_line() -> None:
    (line,) = left_behind({"t": "A.t"}, {"t"}, ".")
    assert line == (
        "topic t is named as a copy of t would be under other flags; "
        "the copy is called A.t now, and this mirror writes nothing to t"
    )
