"""Columns of records: what is kept when they are cut, joined and sorted by partition."""

from __future__ import annotations

import pytest

from legacy_mm.model import (
    NO_RECORDS,
    Columns,
    OffsetPair,
    OffsetRun,
    TopicPartition,
    describe_offsets,
    describe_partitions,
)
from tests.unit.source_records import offset_of, row

A0, A1 = TopicPartition("t", 0), TopicPartition("t", 1)


def of(*places: tuple[int, int]) -> Columns:
    """Records with these partitions and offsets."""
    return Columns.from_rows([row(b"%d" % offset, offset, partition) for partition, offset in places])


MIXED = of((0, 5), (1, 2), (0, 6), (1, 9))


def offsets(found: Columns) -> list[int]:
    return list(map(offset_of, found.rows()))


def test_rows_become_columns_and_rows_again() -> None:
    rows = [row(b"a", 1), row(b"b", 2)]
    assert list(Columns.from_rows(rows).rows()) == rows
    assert Columns.from_rows([]) is NO_RECORDS and len(NO_RECORDS) == 0


def test_parts_joined_again_are_the_whole() -> None:
    assert MIXED.part(0) is MIXED and MIXED.part(0, 4) is MIXED
    assert offsets(MIXED.part(1, 3)) == [2, 6]
    assert offsets(Columns.joined([MIXED.part(0, 1), MIXED.part(1)])) == offsets(MIXED)


@pytest.mark.parametrize(
    ("records", "by_partition", "next_offsets"),
    [
        (MIXED, {A0: [5, 6], A1: [2, 9]}, {A0: 7, A1: 10}),
        (of((1, 3), (1, 8)), {A1: [3, 8]}, {A1: 9}),
        (NO_RECORDS, {}, {}),
    ],
    ids=["two partitions", "one", "none"],
)
def test_records_by_partition(
    records: Columns, by_partition: dict[TopicPartition, list[int]], next_offsets: dict[TopicPartition, int]
) -> None:
    assert {place: offsets(found) for place, found in records.by_partition()} == by_partition
    assert records.next_offsets() == next_offsets


def test_of_one_topic_is_not_of_one_partition() -> None:
    assert MIXED.of_one_topic() and not MIXED.of_one_partition()
    assert MIXED.part(0, 1).of_one_partition()


def test_the_end_of_a_run_is_on_both_sides() -> None:
    assert OffsetRun(10, 4, 3).end == OffsetPair(13, 7)


def test_words_for_log_lines_are_sorted() -> None:
    assert describe_partitions([A1, A0]) == "[t-0, t-1]"
    assert describe_offsets({A1: 4, A0: 17}) == "{t-0=17, t-1=4}"
