"""The exact map: its answers one by one, and against a log of all copies that were ever made."""

from __future__ import annotations

from legacy_mm.base.model import JoinedChunk, OffsetMapChunk, OffsetRun
from legacy_mm.features.offset_syncs.offset_map import CHUNKS, RUNS_PER_CHUNK, OffsetMap
from legacy_mm.features.offset_syncs.old_runs import MOST_SLACK


def map_of(*runs: tuple[int, int, int], start: int = 0) -> OffsetMap:
    offsets = OffsetMap()
    offsets.start(start)
    for run in runs:
        offsets.add(OffsetRun(*run))
    return offsets


def answers(offsets: OffsetMap, *asked: int) -> list[int | None]:
    pairs = [offsets.nearest(offset).pair for offset in asked]
    return [pair and pair.downstream for pair in pairs]


def test_an_empty_map_knows_nothing() -> None:
    assert answers(OffsetMap(), 0, 5) == [None, None]
    assert OffsetMap().changed() == []


def test_inside_before_and_after_a_run() -> None:
    assert answers(map_of((10, 100, 5)), 9, 10, 14, 15, 99) == [None, 100, 104, 105, 105]


def test_runs_that_continue_are_one() -> None:
    assert map_of((10, 100, 5), (15, 105, 2)).runs == (OffsetRun(10, 100, 7),)
    assert len(map_of((10, 100, 5), (15, 106, 2)).runs) == 2
    assert len(map_of((10, 100, 5), (16, 105, 2)).runs) == 2


def test_a_hole_at_the_source_leads_to_the_next_run() -> None:
    assert answers(map_of((0, 0, 5), (7, 6, 5)), 4, 5, 6, 7) == [4, 6, 6, 6]


def test_the_later_copy_wins_and_what_it_repeats_is_to_come() -> None:
    offsets = map_of((0, 0, 10))
    offsets.start(5)
    offsets.add(OffsetRun(5, 10, 2))
    assert offsets.runs == (OffsetRun(0, 0, 5), OffsetRun(5, 10, 2))
    assert answers(offsets, 4, 5, 6, 8, 10) == [4, 10, 11, 12, 12]


def test_going_back_to_before_the_map_makes_it_void() -> None:
    assert map_of((5, 0, 5), (3, 9, 1)).runs == (OffsetRun(3, 9, 1),)


def test_a_target_that_was_truncated_makes_the_map_void() -> None:
    assert answers(map_of((0, 50, 10), (10, 0, 10)), 9, 10) == [None, 0]


def test_what_nobody_told_of_before_a_start_is_read_from_the_map_s_end_on() -> None:
    offsets = map_of((0, 0, 10))
    offsets.start(20)
    offsets.add(OffsetRun(20, 25, 5))
    assert answers(offsets, 9, 10, 19, 20) == [9, 10, 10, 25]
    assert OffsetRun(10, 10, 0) in offsets.runs


def test_a_start_at_the_map_s_end_leaves_nothing_unknown() -> None:
    offsets = map_of((0, 0, 10))
    offsets.start(10)
    offsets.add(OffsetRun(12, 15, 5))
    assert answers(offsets, 10, 11) == [15, 15]


def test_a_map_that_was_read_and_not_started_is_careful() -> None:
    offsets = OffsetMap([OffsetMapChunk(0, 0, None, (OffsetRun(0, 0, 10),))])
    offsets.add(OffsetRun(12, 15, 5))
    assert answers(offsets, 9, 11, 12) == [9, 10, 15]


def test_a_copier_that_went_back_and_then_left_records_out_makes_the_map_void() -> None:
    """8 and 9 are at 8 and 9 only: no offset from 10 on is right for a group that has not had them."""
    offsets = map_of((0, 0, 10))
    offsets.start(5)
    offsets.add(OffsetRun(5, 10, 3))
    offsets.start(10)
    assert answers(offsets, 4, 7, 9, 10) == [None] * 4
    assert answers(OffsetMap(chunk for _, chunk in offsets.changed()), 4, 7, 9, 10) == [None] * 4
    offsets.add(OffsetRun(11, 13, 4))
    assert answers(offsets, 4, 7, 9, 11) == [None, None, None, 13]


def test_the_oldest_chunk_goes_to_the_joined_ones_and_their_oldest_is_dropped() -> None:
    offsets = OffsetMap(chunks=2, runs_per_chunk=3, joined_chunks=1, most_slack=0)
    for number in range(9):
        offsets.add(OffsetRun(10 * number, number, 1))
    assert [run.upstream for run in offsets.runs] == [*range(0, 90, 10)]
    for number in range(9, 12):
        offsets.add(OffsetRun(10 * number, number, 1))
    assert [run.upstream for run in offsets.runs] == [*range(30, 120, 10)]
    assert answers(offsets, 29, 30) == [None, 3]


def test_only_what_changed_is_written_and_the_last_run_grows_in_its_place() -> None:
    offsets = OffsetMap(chunks=3, runs_per_chunk=2)
    offsets.add(OffsetRun(0, 0, 1))
    assert offsets.changed() == [(0, OffsetMapChunk(0, 0, None, (OffsetRun(0, 0, 1),)))]
    assert offsets.changed() == []
    offsets.add(OffsetRun(1, 1, 9))
    assert offsets.changed() == [(0, OffsetMapChunk(0, 0, None, (OffsetRun(0, 0, 10),)))]
    offsets.add(OffsetRun(20, 10, 1))
    offsets.add(OffsetRun(30, 11, 1))
    assert offsets.changed() == [
        (0, OffsetMapChunk(0, 0, None, (OffsetRun(0, 0, 10), OffsetRun(20, 10, 1)))),
        (1, OffsetMapChunk(1, 21, OffsetRun(20, 10, 1), (OffsetRun(30, 11, 1),))),
    ]
    for number in range(4, 40):
        offsets.add(OffsetRun(10 * number, 8 + number, 1))
    *_, third, second, newest = offsets.changed()
    assert [chunk.number for _, chunk in (third, second, newest)] == [17, 18, 19]
    assert [place for place, _ in (third, second, newest)] == [2, 0, 1]


def test_a_chunk_s_older_version_and_a_missing_chunk_break_the_chain() -> None:
    offsets = OffsetMap(chunks=4, runs_per_chunk=2)
    for number in range(4):
        offsets.add(OffsetRun(10 * number, number, 1))
    before = [chunk for _, chunk in offsets.changed()]
    offsets.add(OffsetRun(31, 4, 1))
    offsets.add(OffsetRun(40, 5, 1))
    grown, newest = (chunk for _, chunk in offsets.changed())
    assert OffsetMap([before[0], grown, newest], chunks=4).runs == offsets.runs
    assert OffsetMap([*before, newest], chunks=4).runs == (OffsetRun(40, 5, 1),)
    assert OffsetMap([before[0], newest], chunks=4).runs == (OffsetRun(40, 5, 1),)
    assert answers(OffsetMap(before, chunks=4), 31) == [4]


def test_after_a_truncation_no_older_chunk_counts() -> None:
    offsets = OffsetMap(chunks=4, runs_per_chunk=2)
    offsets.add(OffsetRun(0, 50, 10))
    old = [chunk for _, chunk in offsets.changed()]
    offsets.add(OffsetRun(10, 0, 10))
    ((place, chunk),) = offsets.changed()
    assert (place, chunk.follows) == (1, None)
    assert OffsetMap([chunk, *old], chunks=4).runs == offsets.runs


def test_a_map_of_transactions_reaches_back_much_further_and_is_exact_where_it_is_new() -> None:
    """Each marker takes an offset of the target, so each transaction begins a run."""
    sizes = [1 + number % 7 for number in range(40_000)]
    offsets, copies, upstream = OffsetMap(), list[tuple[int, int]](), 0
    for number, size in enumerate(sizes):
        offsets.add(OffsetRun(upstream, upstream + number, size))
        copies += [(upstream + at, upstream + at + number) for at in range(size)]
        upstream += size
    exact = sum(sizes[-CHUNKS * RUNS_PER_CHUNK + RUNS_PER_CHUNK :])
    for asked, copy in copies[-exact:]:
        assert offsets.nearest(asked)[::2] == ((asked, copy), 0)
    for asked, copy in copies:
        (pair, _, slack) = offsets.nearest(asked)
        assert pair is not None and pair.upstream == asked
        assert copy - slack <= pair.downstream <= copy
        assert slack <= MOST_SLACK
    written = [chunk for _, chunk in offsets.changed()]
    assert OffsetMap(written).runs == offsets.runs
    assert len(offsets.runs) < 1_500


def test_joined_chunks_that_do_not_fit_are_left_out() -> None:
    offsets = OffsetMap(chunks=2, runs_per_chunk=2)
    seen: list[dict[int, OffsetMapChunk | JoinedChunk]] = [{}]
    for number in range(20):
        offsets.add(OffsetRun(10 * number, 11 * number, 10))
        seen.append({**seen[-1], **dict(offsets.changed())})
    newest, joined = seen[-1], seen[-1][2]
    assert isinstance(joined, JoinedChunk)
    assert OffsetMap(newest.values(), chunks=2).runs == offsets.runs
    own = tuple(run for run in offsets.runs if run.upstream > joined.until_run.upstream)
    for other in (seen[-5][2], joined._replace(until_run=OffsetRun(0, 0, 1))):
        assert OffsetMap({**newest, 2: other}.values(), chunks=2).runs == own
    older = {**seen[-2], 2: joined}
    assert OffsetMap(older.values(), chunks=2).runs[:1] == offsets.runs[:1]


def test_a_truncation_makes_the_joined_ones_void() -> None:
    """In the process that sees it, and in the next one."""
    offsets = OffsetMap(chunks=2, runs_per_chunk=2)
    written: dict[int, OffsetMapChunk | JoinedChunk] = {}
    for number in range(20):
        offsets.add(OffsetRun(10 * number, 11 * number, 10))
        written |= dict(offsets.changed())
    offsets.add(OffsetRun(200, 0, 10))
    written |= dict(offsets.changed())
    assert offsets.runs == OffsetMap(written.values(), chunks=2).runs == (OffsetRun(200, 0, 10),)
    restored = OffsetMap(written.values(), chunks=2, runs_per_chunk=2)
    restored.start(210)
    for goes_on in (offsets, restored):
        newest = dict(written)
        for number in range(21, 40):
            goes_on.add(OffsetRun(10 * number, 11 * number, 10))
            newest |= dict(goes_on.changed())
        assert goes_on.runs[0].upstream == 200
        assert OffsetMap(newest.values(), chunks=2).runs == goes_on.runs
