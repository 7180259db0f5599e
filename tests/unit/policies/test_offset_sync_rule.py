"""When offset syncs are due: as recorded, and for runs the same as record by record."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from legacy_mm.model import OffsetPair, OffsetRun
from legacy_mm.policies.offset_sync_rule import PartitionSyncs

VECTORS = json.loads((Path(__file__).parent / "golden" / "offset_sync_rule.json").read_text())


class RecordByRecord:
    """The rule as the contract words it, and the two places a sync can wait in."""

    def __init__(self, lag_max: int) -> None:
        self.lag_max = lag_max
        self.upstream = self.downstream = self.synced = -1
        self.pending: OffsetPair | None = None
        self.delayed: OffsetPair | None = None

    def update(self, upstream: int, downstream: int) -> bool:
        due = (
            self.synced == -1
            or downstream - (self.synced + 1) >= self.lag_max
            or upstream - self.upstream != 1
            or downstream < self.downstream
        )
        self.upstream, self.downstream = upstream, downstream
        if due:
            self.synced, self.pending, self.delayed = downstream, OffsetPair(upstream, downstream), None
        else:
            self.delayed = OffsetPair(upstream, downstream)
        return due


def runs_of(records: Iterable[tuple[int, int]]) -> list[OffsetRun]:
    runs: list[OffsetRun] = []
    for record in records:
        if runs and record == runs[-1].end:
            runs[-1] = runs[-1]._replace(length=runs[-1].length + 1)
        else:
            runs.append(OffsetRun(*record, 1))
    return runs


@pytest.mark.parametrize("vector", VECTORS)
def test_the_recorded_sequences(vector: dict[str, Any]) -> None:
    reference = RecordByRecord(vector["offset_lag_max"])
    single, in_runs = PartitionSyncs(vector["offset_lag_max"]), PartitionSyncs(vector["offset_lag_max"])
    for upstream, downstream, due in vector["updates"]:
        assert reference.update(upstream, downstream) is bool(due)
        single.acknowledged(upstream, downstream, 1)
        assert single.take_pending() == (OffsetPair(upstream, downstream) if due else None)
    for run in runs_of((upstream, downstream) for upstream, downstream, _ in vector["updates"]):
        in_runs.acknowledged(*run)
    assert in_runs.take_pending() == reference.pending


_steps = st.tuples(
    st.sampled_from([0, 0, 0, 1, 2, 50, -1, -30]),  # a gap at the source, or a way back
    st.sampled_from([0, 0, 0, 1, 3, 150, -1, -40]),  # a marker or others' records at the target, or a truncation
    st.integers(1, 450),
    st.sampled_from(["", "", "", "take", "flush"]),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lag_max=st.integers(0, 200), start=st.tuples(st.integers(0, 90), st.integers(0, 90)), steps=st.lists(_steps))
def test_a_run_is_its_records(lag_max: int, start: tuple[int, int], steps: list[tuple[int, int, int, str]]) -> None:
    syncs, reference = PartitionSyncs(lag_max), RecordByRecord(lag_max)
    upstream, downstream = start
    for up, down, count, then in steps:
        upstream, downstream = max(0, upstream + up), max(0, downstream + down)
        syncs.acknowledged(upstream, downstream, count)
        for step in range(count):
            reference.update(upstream + step, downstream + step)
        upstream, downstream = upstream + count, downstream + count
        if then == "flush":
            syncs.promote_delayed()
            reference.pending, reference.delayed = reference.delayed or reference.pending, None
        if then:
            assert syncs.take_pending() == reference.pending
            reference.pending = None
    assert syncs.take_pending() == reference.pending
    syncs.promote_delayed()
    assert syncs.take_pending() == reference.delayed


def test_dense_offsets_sync_at_every_lag_plus_one() -> None:
    syncs = PartitionSyncs(100)
    seen = []
    for offset in range(0, 310, 10):
        syncs.acknowledged(offset, offset, 10)
        seen += [pair.downstream for pair in [syncs.take_pending()] if pair]
    assert seen == [0, 101, 202, 303]


def test_a_pending_sync_is_replaced_and_taken_once() -> None:
    syncs = PartitionSyncs(100)
    syncs.acknowledged(0, 0, 1)
    syncs.acknowledged(5, 1, 1)
    assert syncs.take_pending() == (5, 1)
    assert syncs.take_pending() is None


def test_the_flush_brings_the_last_record_of_a_quiet_partition() -> None:
    syncs = PartitionSyncs(100)
    syncs.acknowledged(0, 0, 50)
    syncs.promote_delayed()
    assert syncs.take_pending() == (49, 49)
    syncs.promote_delayed()
    assert syncs.take_pending() is None
