"""Where partitions with a start time would begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.explain.time_starts import TimeStart, plan_notes, time_starts
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.features.start_from.flags import StartTimes
from tests.fakes.inspector import SteadyInspector
from tests.unit.flow_settings import flow_settings

A, B, C, D = (TopicPartition(topic, 0) for topic in "abcd")
TIME = 1_761_955_200_000
SETTINGS = replace(
    flow_settings(),
    features=FeatureSettings().having(START_FROM, StartTimes(None, {"a": TIME, "b": TIME + 1, "d": TIME})),
)


class Timed(SteadyInspector):
    """Logs from 10 to 90; the records of the times have these offsets."""

    def __init__(self, found: Offsets) -> None:
        super().__init__(dict.fromkeys("abcd", (10, 90)), {})
        self._answers = found
        self.asked: list[Mapping[TopicPartition, int]] = []

    @override
    def at_times(self, times: Mapping[TopicPartition, int], deadline: Deadline) -> Offsets:
        self.asked.append(times)
        return {each: self._answers[each] for each in times if each in self._answers}


def test_each_partition_with_a_time_begins_within_its_log() -> None:
    inspector = Timed({A: 33, B: -1})
    found = time_starts(SETTINGS, inspector, dict.fromkeys((A, B, C, D), (10, 80)), Deadline.after(1))
    assert found == {A: TimeStart(TIME, 33), B: TimeStart(TIME + 1, 80), D: TimeStart(TIME, None)}
    assert inspector.asked == [{A: TIME, B: TIME + 1, D: TIME}]


def test_a_plan_has_a_line_for_each_that_lacks_a_position() -> None:
    at = "it has no position, and start.from is 2025-11-01T00:00:00.000Z"
    assert list(plan_notes(SETTINGS, Timed({A: 33}), [D, C, A], Deadline.after(1))) == [
        f"a-0 begins at offset 33: {at}",
        f"d-0 begins nowhere yet: {at}, and its leader does not tell which record that is",
    ]


def test_without_times_nobody_is_asked() -> None:
    inspector = Timed({})
    assert time_starts(flow_settings(), inspector, {A: (10, 90)}, Deadline.after(1)) == {}
    assert inspector.asked == [{}]
