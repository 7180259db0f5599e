"""Where a flow's offsets are, in words."""

from __future__ import annotations

from legacy_mm.transactions.offset_book import GROUP, OffsetBook


def test_a_group_and_a_topic_have_their_words() -> None:
    words = [(it.name, it.offset, it.offsets, it.into, it.at(5)) for it in (GROUP, OffsetBook("x"))]
    assert words == [
        ("the group", "the group's offset", "the group's offsets", "for the group", "the group's offset 5"),
        ("topic x", "the offset in topic x", "the offsets in topic x", "in topic x", "offset 5 in topic x"),
    ]
