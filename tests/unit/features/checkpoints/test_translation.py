"""Topics of offset syncs and checkpoints, read again and again; offsets by the syncs, where no exact map knows them."""

from __future__ import annotations

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import OffsetPair, TopicPartition
from legacy_mm.features.checkpoints.translation import (
    StoredCheckpoints,
    StoredSyncs,
    Translation,
    is_due,
    offsets_to_set,
)
from legacy_mm.features.offset_syncs.offset_map import OffsetMap
from legacy_mm.protocol.mirror_records import Checkpoint, OffsetSync
from tests.fakes.internal_topic import FakeInternalTopic
from tests.fixtures.offset_syncs import JavaSyncReader

SOON = Deadline.after(10)
ONE, OTHER, PLACE = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("west.t", 0)


def test_what_is_read_later_counts_too_and_rubbish_is_ignored() -> None:
    topic = FakeInternalTopic(OffsetSync("t", 0, 100, 50).encode(), (b"rubbish", b""))
    syncs = StoredSyncs(topic)
    syncs.refresh(SOON)
    assert syncs.pairs(ONE)[0] == OffsetPair(100, 50)
    assert syncs.pairs(OTHER) == ()
    topic.written.append(OffsetSync("t", 0, 200, 140).encode())
    syncs.refresh(SOON)
    assert syncs.pairs(ONE)[0] == OffsetPair(200, 140)


def test_the_last_checkpoint_of_a_group_is_known() -> None:
    topic = FakeInternalTopic(*(Checkpoint("g", *PLACE, up, down, "m").encode() for up, down in ((100, 50), (200, 90))))
    known = StoredCheckpoints(topic)
    assert known.last("g", PLACE) is None
    known.refresh(SOON)
    assert known.last("g", PLACE) == OffsetPair(200, 90)
    assert known.last("other", PLACE) is None


def test_the_checkpoints_of_apache_s_own_store() -> None:
    """CheckpointStoreTest:41: rubbish between them hides none."""
    written = [Checkpoint(group, "t1", 0, at, at, "m").encode() for group, at in (("g1", 0), ("g2", 0), ("g1", 1))]
    known = StoredCheckpoints(FakeInternalTopic(written[0], written[1], (b"", b""), (b"rubbish", b"x"), written[2]))
    known.refresh(SOON)
    place = TopicPartition("t1", 0)
    assert (known.last("g1", place), known.last("g2", place)) == (OffsetPair(1, 1), OffsetPair(0, 0))


def test_a_mirror_without_checkpoints_knows_none() -> None:
    known = StoredCheckpoints(None)
    known.refresh(SOON)
    assert known.last("g", PLACE) is None


def test_an_offset_beyond_a_sync_is_the_record_behind_it() -> None:
    syncs = StoredSyncs(FakeInternalTopic(OffsetSync("t", 0, 100, 50).encode()))
    translation = Translation(syncs, lambda partition, offset: OffsetMap().nearest(offset))
    assert translation.translate(ONE, 100) is None
    translation.refresh(SOON)
    assert [translation.translate(ONE, offset) for offset in (100, 101, 150)] == [50, 51, 51]
    assert translation.translate(OTHER, 100) is None


A, B = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.mark.parametrize(
    ("last", "new", "due"),
    [
        (None, (0, 0), True),
        ((10, 5), (10, 5), False),
        ((10, 5), (20, 5), False),
        ((10, 5), (20, 4), False),
        ((10, 5), (20, 6), True),
        ((10, 5), (10, 6), True),
        ((10, 5), (9, 2), True),  # rewound at the source: it may go back
        ((10, 5), (9, 5), True),
    ],
)
def test_a_checkpoint_follows_the_target_or_a_rewound_group(
    last: tuple[int, int] | None, new: tuple[int, int], due: bool
) -> None:
    assert is_due(OffsetPair(*last) if last else None, OffsetPair(*new)) is due


def test_a_store_that_has_grown_coarser_emits_nothing_until_the_group_goes_back() -> None:
    store = JavaSyncReader()
    store.first_read_ended()
    store.add(11, 4)
    store.add(12, 5)
    last = OffsetPair(13, 6)
    assert store.translate(13) == last.downstream
    assert is_due(None, last)
    for step in range(5):
        store.add(13 + 1000 * step, 6 + 1000 * step)
    back = store.translate(13), store.translate(12)
    assert back[0] is not None and back[0] <= last.downstream
    assert back[1] is not None and is_due(last, OffsetPair(12, back[1]))
    assert not is_due(last, OffsetPair(13, back[0]))


@pytest.mark.parametrize(
    ("committed", "given"),
    [
        ({}, {A: 101, B: 51}),
        ({A: -1, B: 51}, {A: 101}),
        ({A: 100, B: 52}, {A: 101}),
        ({A: 101, B: 999}, {}),
        ({A: 0}, {A: 101, B: 51}),
    ],
)
def test_groups_never_move_back(committed: dict[TopicPartition, int], given: dict[TopicPartition, int]) -> None:
    assert offsets_to_set(committed, {A: 101, B: 51}) == given


def test_a_group_without_checkpoints_is_left_alone() -> None:
    assert offsets_to_set({}, {}) == {}


def store_of(*syncs: tuple[int, int]) -> JavaSyncReader:
    store = JavaSyncReader()
    for sync in syncs:
        store.add(*sync)
    store.first_read_ended()
    return store


def test_the_checkpoints_of_apache_s_task() -> None:
    """MirrorCheckpointTaskTest:60: behind a sync, and at one."""
    assert store_of((3, 4)).translate(10) == 5
    assert [store_of((7, 8)).translate(offset) for offset in (12, 7)] == [9, 8]


def test_after_a_restart_known_checkpoints_wait_until_the_store_is_past_them() -> None:
    """MirrorCheckpointTaskTest:287: the syncs from before are not all there any more."""
    last = OffsetPair(250, store_of((100, 100), (200, 200), (300, 300)).translate(250) or 0)
    assert last.downstream == 201
    after = store_of((175, 175), (275, 275), (375, 375), (475, 475))
    translated = {offset: after.translate(offset) or 0 for offset in (250, 370, 400)}
    assert translated == {250: 176, 370: 176, 400: 376}
    assert [is_due(last, OffsetPair(*pair)) for pair in translated.items()] == [False, False, True]
