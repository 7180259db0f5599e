"""What the streams of a process may hold: all of it together, and each its own part at any time."""

from __future__ import annotations

import random

import pytest

from legacy_mm.clients.net.buffer_pool import BufferPool, BufferShare

OWN = 100


class Stream:
    """Takes what it can get, in pieces of one size."""

    def __init__(self, pool: BufferPool, own: int = OWN) -> None:
        self.bytes = 0
        self.share: BufferShare = pool.share(own, lambda: self.bytes)

    def fill(self, piece: int = 1) -> int:
        while self.share.has_room():
            self.bytes += piece
        return self.bytes


def test_one_stream_has_its_part() -> None:
    assert Stream(BufferPool()).fill() == OWN


def test_a_busy_stream_takes_what_idle_ones_leave() -> None:
    pool = BufferPool()
    busy, *_ = [Stream(pool) for _ in range(10)]
    assert busy.fill() == 10 * OWN


def test_a_full_pool_leaves_each_stream_its_own_part() -> None:
    pool = BufferPool()
    streams = [Stream(pool) for _ in range(10)]
    streams[0].fill()
    assert [each.fill() for each in streams[1:]] == [OWN] * 9


def test_what_is_given_back_is_there_for_the_others() -> None:
    pool = BufferPool()
    first, second = Stream(pool), Stream(pool)
    first.fill()
    assert second.fill() == OWN
    first.bytes = 0
    assert second.fill() == 2 * OWN


def test_a_stream_that_has_ended_takes_its_part_along() -> None:
    pool = BufferPool()
    first, second = Stream(pool), Stream(pool)
    first.fill()
    first.share.close()
    first.share.close()
    assert (second.fill(), pool.total) == (OWN, OWN)


def test_flows_with_other_settings_have_other_parts() -> None:
    pool = BufferPool()
    small, large = Stream(pool, 10), Stream(pool, 1_000)
    assert large.fill() == 1_010
    assert small.fill() == 10


@pytest.mark.parametrize("count", [1, 2, 20, 40])
def test_all_together_never_hold_more_than_twice_their_parts_and_a_piece_each(count: int) -> None:
    chance, pool, piece = random.Random(count), BufferPool(), 7
    streams = [Stream(pool) for _ in range(count)]
    for _ in range(5_000):
        stream = chance.choice(streams)
        if stream.share.has_room():
            stream.bytes += piece
        elif chance.random() < 0.2:
            stream.bytes = 0
        assert sum(each.bytes for each in streams) <= 2 * count * OWN + count * piece
