"""When offset syncs are due: as recorded, and for runs the same as record by record."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import OffsetPair, OffsetRun
from legacy_mm.features.offset_syncs.offset_sync_rule import PartitionSyncs
from tests.fixtures.offset_syncs import JavaSyncReader

VECTORS = json.loads((Path(__file__).parent / "golden" / "offset_sync_rule.json").read_text())


class RecordByRecord:
    """The rule as the contract words it, and the two places a sync can wait in."""

    def __init__(self, lag_max: int) -> None:
        self.lag_max = lag_max
        self.upstream = self.downstream = self.synced = -1
        self.due: list[OffsetPair] = []
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
            self.synced, self.delayed = downstream, None
            self.due.append(OffsetPair(upstream, downstream))
        else:
            self.delayed = OffsetPair(upstream, downstream)
        return due

    def take(self) -> list[OffsetPair]:
        """All that became due since the last call, but for those from before a way back."""
        due, self.due = self.due, []
        backs = [at for at in range(1, len(due)) if due[at][0] < due[at - 1][0] or due[at][1] < due[at - 1][1]]
        return due[max(backs, default=0) :]

    def flush(self) -> None:
        if self.delayed is not None:
            self.due.append(self.delayed)
            self.delayed = None


def check(sent: list[OffsetPair], due: list[OffsetPair]) -> None:
    """Some of those that are due, and for those that are not sent one before it that is not much farther back."""
    places: list[int] = []
    for sync in sent:  # each farther on than the one before, also where two are the same
        places.append(due.index(sync, places[-1] + 1 if places else 0))
    if due:
        assert (sent[0], sent[-1]) == (due[0], due[-1])
        assert len(sent) <= 2 + (due[-1].upstream - due[0].upstream).bit_length()
    for at, sync in enumerate(due):
        before = max(place for place in places if place <= at)
        newest = due[-1].upstream
        assert newest - due[before].upstream <= 4 * (newest - sync.upstream)


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
        assert single.take_pending() == ([OffsetPair(upstream, downstream)] if due else [])
    for run in runs_of((upstream, downstream) for upstream, downstream, _ in vector["updates"]):
        in_runs.acknowledged(run.upstream, run.downstream, run.length)
    check(in_runs.take_pending(), reference.take())


_steps = st.tuples(
    st.sampled_from([0, 0, 0, 1, 2, 50, -1, -30]),  # a gap at the source, or a way back
    st.sampled_from([0, 0, 0, 1, 3, 150, -1, -40]),  # a marker or others' records at the target, or a truncation
    st.integers(1, 450),
    st.sampled_from(["", "", "", "take", "flush"]),
)


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
            reference.flush()
        if then:
            check(syncs.take_pending(), reference.take())
    check(syncs.take_pending(), reference.take())
    syncs.promote_delayed()
    assert syncs.take_pending() == ([] if reference.delayed is None else [reference.delayed])


def test_dense_offsets_sync_at_every_lag_plus_one() -> None:
    syncs = PartitionSyncs(100)
    seen = []
    for offset in range(0, 310, 10):
        syncs.acknowledged(offset, offset, 10)
        seen += [pair.downstream for pair in syncs.take_pending()]
    assert seen == [0, 101, 202, 303]


def test_due_syncs_are_taken_once() -> None:
    syncs = PartitionSyncs(100)
    syncs.acknowledged(0, 0, 1)
    syncs.acknowledged(5, 1, 1)
    assert syncs.take_pending() == [(0, 0), (5, 1)]
    assert syncs.take_pending() == []


def test_of_very_many_a_few_are_sent() -> None:
    """One run, and as many runs as it has records."""
    dense, gaps = PartitionSyncs(0), PartitionSyncs(0)
    dense.acknowledged(0, 0, 100_000)
    for number in range(100_000):
        gaps.acknowledged(2 * number, number, 1)
    for syncs in (dense, gaps):
        sent = syncs.take_pending()
        assert len(sent) < 20
        assert [sent[0].downstream, sent[-1].downstream] == [0, 99_999]


@pytest.mark.parametrize("behind", [0, 1, 70, 1_000, 30_000, 150_000])
def test_a_reader_translates_about_as_with_every_sync(behind: int) -> None:
    """At 200,000 records a second, told once a second; MirrorMaker 2 sends every sync that it has room for."""
    every, ours = JavaSyncReader(must_read_to_end=True), JavaSyncReader(must_read_to_end=True)
    syncs = PartitionSyncs(100)
    for store in (every, ours):
        store.first_read_ended()
    for second in range(12):
        syncs.acknowledged(second * 200_000, second * 200_000, 200_000)
        for sync in syncs.take_pending():
            ours.add(*sync)
    for offset in range(0, 2_400_000, 101):
        every.add(offset, offset)
    place = 2_399_999 - behind
    far = [place - (store.translate(place) or 0) for store in (every, ours)]
    assert 0 <= far[1] <= max(2 * behind + 101, far[0])


def test_the_flush_brings_the_last_record_of_a_quiet_partition() -> None:
    syncs = PartitionSyncs(100)
    syncs.acknowledged(0, 0, 50)
    syncs.promote_delayed()
    assert syncs.take_pending() == [(0, 0), (49, 49)]
    syncs.promote_delayed()
    assert syncs.take_pending() == []


def due(syncs: PartitionSyncs, upstream: int, downstream: int) -> bool:
    """Whether this record of the source, and where it is at the target, makes a sync that is sent at once."""
    syncs.acknowledged(upstream, downstream, 1)
    return bool(syncs.take_pending())


def test_the_sequence_of_apache_s_partition_state() -> None:
    """MirrorSourceTaskTest:93. What Java remembers until its reset waits here until it is taken."""
    syncs = PartitionSyncs(50)
    told = [(0, 100, True), (2, 102, True), (3, 152, False), (4, 153, True), (5, 154, False), (6, 203, False)]
    told += [(7, 204, True), (2, 206, True), (3, 207, False), (4, 3, True), (5, 4, False)]
    assert [(up, down, due(syncs, up, down)) for up, down, _ in told] == told
    for record in ((7, 6), (7, 6), (8, 7), (10, 57)):
        syncs.acknowledged(*record, 1)
    assert syncs.take_pending()[-1] == (10, 57)
    assert not due(syncs, 11, 58)


def test_without_a_lag_each_record_is_due() -> None:
    """MirrorSourceTaskTest:129."""
    syncs = PartitionSyncs(0)
    assert all(due(syncs, offset, offset + 100) for offset in range(5))


def test_a_sync_that_waits_is_not_the_last_one_and_takes_the_place_of_an_older_one() -> None:
    """OffsetSyncWriterTest:46 and 96."""
    syncs = PartitionSyncs(2)
    syncs.acknowledged(0, 1, 1)
    syncs.acknowledged(1, 2, 1)
    assert syncs.take_pending() == [(0, 1)]
    syncs.promote_delayed()
    assert syncs.take_pending() == [(1, 2)]
