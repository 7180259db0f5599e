"""Runs of pairs hold exactly the pairs of the records, however the records were grouped."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import UNKNOWN, CopiedRun
from legacy_mm.dataplane import offset_pairs
from legacy_mm.dataplane.offset_pairs import OffsetPairs

SOURCE, OTHER = TopicPartition("t", 3), TopicPartition("t", 4)
batches = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=8), max_size=6)


def pairs(runs: Sequence[CopiedRun]) -> list[tuple[int, int]]:
    """Record by record."""
    return [(run.upstream + number, run.downstream + number) for run in runs for number in range(run.records)]


@given(batches)
def test_every_record_has_its_pair(steps: list[list[int]]) -> None:
    """Source offsets with holes, batch by batch, densely at the target."""
    log, expected = OffsetPairs(), []
    upstream, downstream = 0, 500
    for batch in steps:
        offsets = [upstream := upstream + 1 + step for step in batch]
        log.batch(SOURCE, offsets, downstream)
        expected += [(offset, downstream + number) for number, offset in enumerate(offsets)]
        downstream += len(batch)
    runs = log.take()
    assert pairs(runs) == expected
    assert all(not one.continues(other.upstream, other.downstream) for one, other in zip(runs, runs[1:], strict=False))
    assert log.take() == []


def test_batches_that_continue_each_other_are_one_run() -> None:
    log = OffsetPairs()
    log.batch(SOURCE, range(10, 20), 7)
    log.batch(SOURCE, range(20, 25), 17)
    log.batch(SOURCE, range(25, 26), 22)
    log.batch(OTHER, range(1), 0)
    assert log.take() == [CopiedRun("t", 3, 10, 7, 16), CopiedRun("t", 4, 0, 0, 1)]


def test_of_records_that_a_handler_made_of_one_the_first_counts() -> None:
    log = OffsetPairs()
    log.batch(SOURCE, [4, 5, 5, 5, 6, 8], 100)
    assert pairs(log.take()) == [(4, 100), (5, 101), (6, 104), (8, 105)]


def test_what_the_broker_had_already_is_told_as_unknown() -> None:
    log = OffsetPairs()
    log.batch(SOURCE, range(5), 0)
    log.batch(SOURCE, range(5, 8), UNKNOWN)
    log.batch(SOURCE, [8, 10], UNKNOWN)
    log.batch(SOURCE, range(11, 12), 9)
    assert log.take() == [
        CopiedRun("t", 3, 0, 0, 5),
        CopiedRun("t", 3, 5, UNKNOWN, 4),
        CopiedRun("t", 3, 10, UNKNOWN, 1),
        CopiedRun("t", 3, 11, 9, 1),
    ]


def test_of_very_many_runs_the_newest_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records with a hole after each one; the other partition's share is not touched."""
    monkeypatch.setattr(offset_pairs, "_MOST", 10)
    log = OffsetPairs()
    for number in range(8):
        log.batch(SOURCE, range(2 * number, 2 * number + 1), number)
    log.batch(OTHER, range(1), 0)
    assert log.take() == [
        CopiedRun("t", 3, 0, UNKNOWN, 6),
        *(CopiedRun("t", 3, 2 * number, number, 1) for number in range(3, 8)),
        CopiedRun("t", 4, 0, 0, 1),
    ]
