"""What logical start offsets stand for, and what comes while they are asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest
from typing_extensions import override

from legacy_mm.base.model import EARLIEST, LATEST, Offsets, TopicPartition, at_time, is_logical, time_of
from legacy_mm.base.reports import Started
from legacy_mm.clients.fetch.start_offsets import start_offsets
from tests.fakes.cluster import OneBroker

A, B, C = (TopicPartition("t", number) for number in range(3))
TIME = 1_700_000_000_000


class Timed(OneBroker):
    """Logs from 10 to 90 with these offsets at times; what is asked is written down."""

    def __init__(self, found: Mapping[tuple[TopicPartition, int], int]) -> None:
        super().__init__()
        self._answers = found
        self.asked: list[int | str] = []

    @override
    def of(self, partitions: Collection[TopicPartition], which: int) -> dict[TopicPartition, int]:
        self.asked.append(which)
        return super().of(partitions, which)

    @override
    def for_times(self, times: Mapping[TopicPartition, int], *, patient: bool = False) -> dict[TopicPartition, int]:
        self.asked.append("patient" if patient else "time")
        return {each: self._answers[each, time] for each, time in times.items() if each not in self.leaderless}


@pytest.mark.parametrize("patient", [True, False])
def test_each_partition_begins_as_it_is_asked_for(patient: bool) -> None:
    cluster = Timed({(B, TIME): 33})
    wanted = {A: EARLIEST, B: at_time(TIME), C: LATEST}
    assert start_offsets(cluster, wanted, patient=patient)[0] == Started(
        {A: 10, B: 33, C: 90}, dict.fromkeys(wanted, 10)
    )
    assert cluster.asked[-1] == ("patient" if patient else "time")


@pytest.mark.parametrize(("found", "start"), [(-1, 90), (33, 33), (4, 10), (95, 95)])
def test_a_time_without_a_record_is_the_end_that_the_log_had_before_the_question(found: int, start: int) -> None:
    """Else a record that came between the two would be neither. What retention takes between is no start."""
    cluster = Timed({(A, TIME): found})
    assert start_offsets(cluster, {A: at_time(TIME)}, patient=False)[0] == Started({A: start}, {A: 10})
    assert cluster.asked == [EARLIEST, LATEST, "time"]


def test_a_partition_whose_leader_goes_between_the_questions_begins_later() -> None:
    cluster = Timed({(A, TIME): 20})

    def leave(times: Mapping[TopicPartition, int], *, patient: bool = False) -> Offsets:
        return {A: 20}

    cluster.for_times = leave  # type: ignore[assignment]
    found = start_offsets(cluster, {A: at_time(TIME), B: at_time(TIME)}, patient=False)[0]
    assert found == Started({A: 20}, {A: 10})


def test_times_are_no_offsets_and_none_of_kafka_s_own_numbers() -> None:
    for time in (0, 1, TIME):
        assert time_of(at_time(time)) == time
        assert is_logical(at_time(time))
    assert [time_of(offset) for offset in range(-6, 3)] == [None] * 9
    assert [is_logical(offset) for offset in (LATEST, EARLIEST, -3, 0, 7)] == [True, True, False, False, False]
