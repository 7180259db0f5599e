"""Checkpoints and group offsets, by the rows of MirrorMaker 2's contract."""

from __future__ import annotations

import pytest

from legacy_mm.base.model import OffsetPair, TopicPartition
from legacy_mm.features.checkpoints.checkpoint_rule import is_due, offsets_to_set
from tests.fixtures.offset_syncs import JavaSyncReader

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
