"""What is told at once of a task's reports, and what its stream takes later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import CopiedRun, Frame, Gap, Progress, Started
from legacy_mm.controlplane.task_reports import TaskReports
from legacy_mm.metrics.registry import Registry, Scope
from legacy_mm.runtime.channel.frames import Copied, Exit, MarkAsked, OwnershipAsked, Pairs, Stopped

P, Q = (TopicPartition("orders", number) for number in range(2))
RUN = CopiedRun("orders", 0, upstream=3, downstream=7, records=1)
GAP = Gap("orders", 0, wanted=8, low=150, high=400, reason="Broker: Offset out of range")


class Sink:
    """Whoever wants offset pairs: notes each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []

    def started(self, offsets: Offsets) -> None:
        self.calls.append(("started", offsets))

    def copied(self, runs: Sequence[CopiedRun]) -> None:
        self.calls.append(("copied", runs))

    def ended(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append(("ended", partitions))


def taken(reports: TaskReports) -> Mapping[str, Any]:
    """All that waits for the stream, without what is empty."""
    each = {
        "started": reports.take_started(),
        "gaps": reports.take_gaps(),
        "asked": reports.take_asked(),
        "unmarked": reports.take_unmarked(),
        "copied": reports.take_copied(),
        "safe": reports.take_safe(),
    }
    return {name: value for name, value in each.items() if value}


@pytest.mark.parametrize(
    ("frames", "kept"),
    [
        ([Progress({P: 3}, 0, {}, False), Progress({Q: 1}, 0, {}, False)], {"safe": {P: 3, Q: 1}}),
        ([Started({P: 3}), Started({P: 150})], {"started": [Started({P: 3}), Started({P: 150})]}),
        ([GAP], {"gaps": [GAP]}),
        ([OwnershipAsked([3]), OwnershipAsked([5])], {"asked": [3, 5]}),
        ([MarkAsked({P: 3}), MarkAsked({P: 5})], {"unmarked": {P: 5}}),
        ([Copied([], {"too large": 1})], {"copied": [Copied([], {"too large": 1})]}),
        ([Pairs([RUN]), Stopped({P: 9})], {}),
    ],
    ids=lambda value: type(value[0]).__name__ if isinstance(value, list) else "",
)
def test_what_a_stream_takes_it_takes_once(frames: list[Frame], kept: Mapping[str, Any]) -> None:
    reports = TaskReports(Registry("a->b", "p", {}).stream(0, "g-0"))
    for frame in frames:
        reports.received(frame)
    assert taken(reports) == kept
    assert taken(reports) == {}
    assert reports.unacknowledged == ({P: 9} if Stopped({P: 9}) in frames else {})


def test_who_wants_pairs_hears_of_them_and_of_begin_and_end() -> None:
    sink = Sink()
    reports = TaskReports(Registry("a->b", "p", {}).stream(0, "g-0"), sink)
    reports.received(Started({P: 3}))
    reports.received(Pairs([RUN]))
    reports.end({P})
    assert sink.calls == [("started", {P: 3}), ("copied", [RUN]), ("ended", {P})]


def test_a_handler_that_ends_the_program_is_told_with_its_code() -> None:
    codes: list[int] = []
    TaskReports(Registry("a->b", "p", {}).stream(0, "g-0"), on_exit=codes.append).received(Exit(7))
    assert codes == [7]


def test_the_records_of_a_task_are_counted() -> None:
    registry = Registry("a->b", "p", {})
    TaskReports(registry.stream(0, "g-0")).received(Progress({}, 12, {}, False))
    assert registry.snapshot().readings[Scope("mirror")]["records"].value == 12
