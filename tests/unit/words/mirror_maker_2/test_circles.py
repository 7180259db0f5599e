"""A topic that would come back for ever is found, as itself or renamed, by any way; no other is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest

from legacy_mm.words.mirror_maker_2.circles import FlowNames, circle
from legacy_mm.words.mirror_maker_2.driver_file import Pair


def flow(text: str, pattern: str = ".*", remote: Callable[[str], str] = lambda topic: topic) -> FlowNames:
    def mirrored(topics: Iterable[str]) -> frozenset[str]:
        return frozenset(topic for topic in topics if re.fullmatch(pattern, topic))

    source, target = text.split(">")
    return FlowNames(Pair(source, target), mirrored, remote)


@pytest.mark.parametrize(
    ("flows", "way"),
    [
        ([flow("A>B")], []),
        ([flow("A>B"), flow("B>A")], ["A->B", "B->A"]),
        ([flow("A>B"), flow("B>A", "other")], []),
        ([flow("A>B"), flow("B>C"), flow("C>A")], ["A->B", "B->C", "C->A"]),
        ([flow("A>B"), flow("B>C"), flow("A>C")], []),
        ([flow("A>B", remote="A.{}".format), flow("B>A", remote="B.{}".format)], ["A->B", "B->A"]),
        ([flow("A>B", "[^B]*", "A.{}".format), flow("B>A", "[^B]*", "B.{}".format)], []),
        ([flow("A>B", "t|A.*", "A.{}".format), flow("B>A", r"(A\.)?t", "B.{}".format)], []),
        ([flow("A>B", remote="A.{}".format), flow("B>C", remote="B.{}".format), flow("C>A")], ["A->B", "B->C", "C->A"]),
        (
            [flow("A>B", remote="x.{}".format), flow("B>A", remote=lambda topic: topic.removeprefix("x."))],
            ["A->B", "B->A"],
        ),
        ([flow("A>B"), flow("B>C"), flow("C>B")], []),
    ],
    ids=[
        *("one way", "pair", "apart", "ring", "fan"),
        *("renamed", "renamed once", "renamed and not mirrored back", "renamed in a ring"),
        *("renamed back", "another circle"),
    ],
)
def test_a_topic(flows: list[FlowNames], way: list[str]) -> None:
    found = circle(flows, Pair("A", "B"), "t")
    assert (list(map(str, found.way)) if found else []) == way
