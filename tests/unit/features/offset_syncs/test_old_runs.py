"""Runs that are joined: what an answer may be too small by, and which are not."""

from __future__ import annotations

import pytest

from legacy_mm.base.model import JoinedChunk, OffsetMapChunk, OffsetRun
from legacy_mm.features.offset_syncs.old_runs import OldRuns, fitting, join

NOTHING = OffsetRun(0, 0, 0)


@pytest.mark.parametrize(
    ("last", "run", "joined"),
    [
        pytest.param(OffsetRun(0, 0, 5), OffsetRun(5, 6, 5), OffsetRun(0, 0, 10, 1), id="a marker at the target"),
        pytest.param(OffsetRun(0, 9, 5), OffsetRun(6, 14, 5), OffsetRun(0, 8, 11, 1), id="a marker at the source"),
        pytest.param(OffsetRun(0, 0, 5), OffsetRun(6, 6, 5), OffsetRun(0, 0, 11, 1), id="one at both"),
        pytest.param(OffsetRun(0, 0, 5, 2), OffsetRun(5, 8, 5), OffsetRun(0, 0, 10, 3), id="to a joined one"),
        pytest.param(OffsetRun(0, 0, 5), OffsetRun(5, 9, 5), OffsetRun(0, 0, 10, 4), id="at the limit"),
        pytest.param(OffsetRun(0, 0, 5), OffsetRun(5, 10, 5), None, id="beyond it"),
        pytest.param(OffsetRun(0, 0, 5), OffsetRun(6, 5, 5), None, id="before the target's begin"),
        pytest.param(OffsetRun(0, 0, 5), OffsetRun(5, 5, 0), None, id="before what is unknown"),
        pytest.param(OffsetRun(5, 5, 0), OffsetRun(5, 5, 3), None, id="behind it"),
    ],
)
def test_two_runs_become_one_where_that_costs_little(last: OffsetRun, run: OffsetRun, joined: OffsetRun | None) -> None:
    assert join(last, run, 4) == joined


def test_a_run_that_was_cut_is_not_joined() -> None:
    old = OldRuns(2, 2, 4, None, 0)
    assert old.join(OffsetRun(0, 0, 5), OffsetRun(5, 6, 5)) is None, "there is none"
    old.add(OffsetRun(0, 0, 5))
    assert old.join(OffsetRun(0, 0, 4), OffsetRun(4, 6, 5)) is None
    assert old.join(OffsetRun(0, 0, 5), OffsetRun(5, 6, 5)) == OffsetRun(0, 0, 10, 1)


def test_chunks_are_written_when_they_change_and_the_newest_says_what_has_left() -> None:
    old = OldRuns(2, 1, 0, None, 7)
    old.left(0, OffsetRun(1, 1, 1))
    assert old.changed() == [], "nothing is here"
    for number in range(4):
        old.add(OffsetRun(10 * number, number, 1))
    old.left(5, OffsetRun(30, 3, 1))
    closed, newest = old.changed()
    assert (closed[0], closed[1].number, newest[0], newest[1].number) == (1, 9, 0, 10)
    assert newest[1] == JoinedChunk(10, 5, OffsetRun(30, 3, 1), OffsetRun(20, 2, 1), (OffsetRun(30, 3, 1),))
    assert (old.oldest, old.changed()) == (9, [])
    old.left(6, OffsetRun(40, 4, 1))
    assert [chunk.until for _, chunk in old.changed()] == [6]


def chunk(number: int, follows: OffsetRun | None) -> OffsetMapChunk:
    return OffsetMapChunk(number, 0, follows, (OffsetRun(10 * number, 10 * number, 1),))


def joined(number: int, until: int, follows: OffsetRun | None = None) -> JoinedChunk:
    return JoinedChunk(number, until, OffsetRun(10 * until, 10 * until, 1), follows, (OffsetRun(number, number, 1),))


FOURTH, FIFTH = chunk(4, OffsetRun(30, 30, 1)), chunk(5, OffsetRun(40, 40, 1))


def test_the_map_s_chunks_go_on_where_the_joined_ones_end() -> None:
    assert fitting([], [FOURTH, FIFTH], 9) == ([], [FOURTH, FIFTH])
    assert fitting([joined(0, 3)], [FOURTH, FIFTH], 9) == ([joined(0, 3)], [FOURTH, FIFTH])
    assert fitting([joined(0, 4)], [FOURTH, FIFTH], 9) == ([joined(0, 4)], [FIFTH])
    for other in (joined(0, 2), joined(0, 5), joined(0, 3)._replace(until_run=NOTHING)):
        assert fitting([other], [FOURTH, FIFTH], 9) == ([], [FOURTH, FIFTH])


def test_joined_chunks_follow_each_other() -> None:
    first, second = joined(0, 2), joined(1, 3, OffsetRun(0, 0, 1))
    assert fitting([second, first], [FOURTH], 9) == ([first, second], [FOURTH])
    assert fitting([second, first], [FOURTH], 1) == ([second], [FOURTH])
    assert fitting([second._replace(follows=NOTHING), first], [FOURTH], 9)[0] == [second._replace(follows=NOTHING)]
