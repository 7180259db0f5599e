"""How far a copy goes, by the times of records."""

from __future__ import annotations

import pytest

from legacy_mm.assembly.earlier_copies import Told, begin_of, copy_of
from legacy_mm.base.model import TopicPartition
from legacy_mm.logs import events

P, Q = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.mark.parametrize(
    ("low", "end", "younger", "behind"),
    [
        (0, 100, 60, 60),
        (0, 100, -1, 100),  # all of it seems to be there
        (0, 100, 0, 0),  # nothing of it does
        (70, 100, 60, 70),  # removed between the two questions
        (0, 50, 60, 50),
    ],
)
def test_a_partition_goes_on_behind_its_copy(low: int, end: int, younger: int, behind: int) -> None:
    assert begin_of(low, end, younger).behind == behind


def test_what_is_there_and_what_is_missing_of_a_topic() -> None:
    found = copy_of("t", "a.t", {P: 1_000, Q: 2_000}, {P: begin_of(10, 100, 60), Q: begin_of(0, 5, -1)})
    assert (found.there, found.missing, found.youngest_ms) == (50 + 5, 40, 2_000)
    assert found.behind == {P: 60, Q: 5}


def test_a_plan_says_what_the_start_says() -> None:
    told = Told(events.COPY_COMES_TWICE, {"topic": "t", "copy": "a.t", "time": "now", "count": 5, "how": "do that"})
    assert told.text == (
        "t has no position in this flow, and its copy a.t at the target has records up to now: 5 offsets of the source "
        "are not younger, so they seem to be there, and would come twice. To begin behind them, do that"
    )
