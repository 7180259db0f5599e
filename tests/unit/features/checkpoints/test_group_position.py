"""Where a group goes on at the target, and what is said about how that is known."""

from __future__ import annotations

import pytest

from legacy_mm.base.model import OffsetPair, OffsetRun
from legacy_mm.features.checkpoints.group_position import GroupPosition, How, answer, copied_until
from legacy_mm.features.offset_syncs.offset_map import OffsetMap


def pairs(*runs: tuple[int, int, int], start: int = 0) -> OffsetMap:
    found = OffsetMap()
    found.start(start)
    for run in runs:
        found.add(OffsetRun(*run))
    return found


def records_until(end: int) -> object:
    """The source holds records up to here, and markers behind."""
    return lambda begin, until: begin < min(end, until)


COPIED = pairs((10, 100, 5), (16, 105, 4))  # until 20, with a marker at 15
SYNCS = (OffsetPair(18, 107), OffsetPair(10, 100), OffsetPair(10, 100))


WAY_OUT = "; with --from-first: the copy's first record"


@pytest.mark.parametrize(
    ("offset", "records_end", "expected"),
    [
        pytest.param(10, 20, GroupPosition(How.EXACT, 100), id="the first record"),
        pytest.param(15, 20, GroupPosition(How.EXACT, 105), id="at a marker"),
        pytest.param(20, 20, GroupPosition(How.EXACT, 109), id="at the map's end"),
        pytest.param(23, 20, GroupPosition(How.EXACT, 109), id="behind markers that follow the map's end"),
        pytest.param(
            23,
            22,
            GroupPosition(How.NEAREST_PAIR, 109, OffsetPair(20, 109), behind=True),
            id="the map has not come so far",
        ),
        pytest.param(9, 20, GroupPosition(How.TOO_OLD, pair=OffsetPair(10, 100)), id="before all that is known"),
    ],
)
def test_by_the_exact_map(offset: int, records_end: int, expected: GroupPosition) -> None:
    assert answer(offset, COPIED, SYNCS, records_until(records_end)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (18, GroupPosition(How.OFFSET_SYNC, 107, SYNCS[0], behind=True)),
        (19, GroupPosition(How.OFFSET_SYNC, 108, SYNCS[0], behind=True)),
        (17, GroupPosition(How.OFFSET_SYNC, 101, SYNCS[1], behind=True)),
        (9, GroupPosition(How.TOO_OLD, pair=SYNCS[1])),
    ],
)
def test_by_offset_syncs(offset: int, expected: GroupPosition) -> None:
    assert answer(offset, OffsetMap(), SYNCS, records_until(50)) == expected  # type: ignore[arg-type]


def test_a_newer_sync_is_better_than_the_end_of_an_older_map() -> None:
    newer = OffsetPair(30, 119)
    found = answer(31, COPIED, (newer, *SYNCS), records_until(50))  # type: ignore[arg-type]
    assert found == GroupPosition(How.OFFSET_SYNC, 120, newer, behind=True)


def test_what_was_copied_by_nobody_knows_whom_is_not_called_exact() -> None:
    holed = pairs((0, 0, 5))
    holed.start(10)
    holed.add(OffsetRun(10, 8, 5))
    holds = records_until(50)
    assert answer(7, holed, (), holds) == GroupPosition(How.NEAREST_PAIR, 5, OffsetPair(5, 5))  # type: ignore[arg-type]
    assert answer(12, holed, (), holds) == GroupPosition(How.EXACT, 10)  # type: ignore[arg-type]
    assert (copied_until(holed), copied_until(OffsetMap())) == (15, 0)


@pytest.mark.parametrize(
    ("sync", "expected"),
    [
        pytest.param(OffsetPair(8, 7), GroupPosition(How.OFFSET_SYNC, 8, OffsetPair(8, 7)), id="it knows more"),
        pytest.param(
            OffsetPair(5, 5), GroupPosition(How.OFFSET_SYNC, 6, OffsetPair(5, 5)), id="of the first one untold"
        ),
        pytest.param(OffsetPair(4, 90), GroupPosition(How.NEAREST_PAIR, 5, OffsetPair(5, 5)), id="it knows less"),
    ],
)
def test_an_offset_sync_in_a_hole_of_the_map(sync: OffsetPair, expected: GroupPosition) -> None:
    holed = pairs((0, 0, 5))
    holed.start(10)
    holed.add(OffsetRun(10, 20, 5))
    assert answer(9, holed, (sync,), records_until(50)) == expected  # type: ignore[arg-type]


def test_offset_syncs_of_a_target_topic_that_was_recreated_are_void() -> None:
    before, after = OffsetPair(90, 900), OffsetPair(100, 0)
    again = pairs((100, 0, 50), start=100)
    holds = records_until(150)
    assert answer(95, again, (after, before), holds) == GroupPosition(How.TOO_OLD, pair=after)  # type: ignore[arg-type]
    assert answer(149, again, (before,), holds) == GroupPosition(How.EXACT, 49)  # type: ignore[arg-type]
    assert answer(160, again, (before,), records_until(170)) == GroupPosition(  # type: ignore[arg-type]
        How.NEAREST_PAIR, 50, OffsetPair(150, 50), behind=True
    )


def test_nothing_is_known() -> None:
    assert answer(3, OffsetMap(), (), records_until(50)) == GroupPosition(How.UNKNOWN, behind=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (GroupPosition(How.EXACT, 1), "exactly"),
        (
            GroupPosition(How.OFFSET_SYNC, 1, OffsetPair(3, 4)),
            "by the offset sync 3 -> 4; some records may be read again",
        ),
        (
            GroupPosition(How.NEAREST_PAIR, 1, OffsetPair(3, 4)),
            "by the nearest known pair, 3 -> 4; some records may be read again",
        ),
        (
            GroupPosition(How.TOO_OLD, pair=OffsetPair(3, 4)),
            f"older than all that is known, which begins at 3{WAY_OUT}",
        ),
    ],
)
def test_the_reason_is_told(found: GroupPosition, text: str) -> None:
    assert found.text == text


def test_what_is_joined_is_not_called_exact() -> None:
    """It is not too great, but may be too small."""
    found = OffsetMap(chunks=2, runs_per_chunk=1)
    for number in range(10):
        found.add(OffsetRun(10 * number, 11 * number, 10))
    at = answer(75, found, (), records_until(100))  # type: ignore[arg-type]
    assert at == GroupPosition(How.NEAREST_PAIR, 75, OffsetPair(75, 75))
    assert answer(85, found, (), records_until(100)) == GroupPosition(How.EXACT, 93)  # type: ignore[arg-type]
    better = OffsetPair(75, 82)
    assert answer(75, found, (better,), records_until(100)) == GroupPosition(How.OFFSET_SYNC, 82, better)  # type: ignore[arg-type]
