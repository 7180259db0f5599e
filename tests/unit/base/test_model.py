"""The values that every layer uses."""

from __future__ import annotations

from legacy_mm.base.model import (
    OffsetPair,
    OffsetRun,
    TopicPartition,
    describe_offsets,
    describe_partitions,
)

A0, A1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_the_end_of_a_run_is_on_both_sides() -> None:
    assert OffsetRun(10, 4, 3).end == OffsetPair(13, 7)


def test_words_for_log_lines_are_sorted() -> None:
    assert describe_partitions([A1, A0]) == "[t-0, t-1]"
    assert describe_offsets({A1: 4, A0: 17}) == "{t-0=17, t-1=4}"
