"""Names that grow by each round are told from names that a user chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from legacy_mm.policies.name_growth import endless_copies

PREFIX = "A.{}".format


@pytest.mark.parametrize(
    ("topics", "remote", "found"),
    [
        (["t", "B.A.t", "B.A.B.A.t"], PREFIX, ("t", "B.A.t", "B.A.B.A.t")),
        (["u", "B.A.B.A.t", "B.A.t", "t"], PREFIX, ("t", "B.A.t", "B.A.B.A.t")),
        (["t", "A.t", "A.A.t", "A.A.A.t"], PREFIX, ("t", "A.t", "A.A.t", "A.A.A.t")),
        (["t", "t-A", "t-A-A", "t-A-A-A"], "{}-A".format, ("t", "t-A", "t-A-A", "t-A-A-A")),
        (["t", "B.A.t"], PREFIX, ()),
        (["t", "A.t", "A.A.t"], PREFIX, ()),
        (["t", "B.A.t", "C.A.B.A.t"], PREFIX, ()),
        (["a", "aa", "aaa", "aaaa", "aaaaa"], PREFIX, ()),
        (["t", "B.A.t", "B.A.B.A.t"], str, ()),
        ([], PREFIX, ()),
    ],
    ids=[
        *("two rounds", "in any order", "our prefix alone", "a policy that appends"),
        *("one round", "a user's names like copies", "by other ways", "no copies", "names are kept", "no topic"),
    ],
)
def test_topics_of_the_source(topics: Sequence[str], remote: Callable[[str], str], found: tuple[str, ...]) -> None:
    assert endless_copies(topics, remote) == found
