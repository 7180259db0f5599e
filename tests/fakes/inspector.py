"""Questions to a cluster that is not there. mypy holds them to `NativeInspector`, whose methods it takes over."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector


class FakeInspector(NativeInspector):
    """Topics with so many partitions, all with the same log; `ends`: question by question, the last one stays."""

    def __init__(self, counts: Mapping[str, int], ends: Collection[tuple[int, int]]) -> None:
        self.counts = dict(counts)
        self._ends = list(ends)

    @override
    def partitions(self, deadline: Deadline) -> dict[str, int]:
        return self.counts

    @override
    def log_ends(
        self, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, tuple[int, int]]:
        return dict.fromkeys(partitions, self._ends.pop(0) if len(self._ends) > 1 else self._ends[0])


class SteadyInspector(NativeInspector):
    """Topics of one partition with these log ends; `unsettled`: those with an open transaction, and its offset."""

    def __init__(self, ends: Mapping[str, tuple[int, int]], unsettled: Mapping[str, int]) -> None:
        self._ends = ends
        self.unsettled = unsettled

    @override
    def partitions(self, deadline: Deadline) -> dict[str, int]:
        return dict.fromkeys(self._ends, 1)

    @override
    def log_ends(
        self, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, tuple[int, int]]:
        return {place: self._ends[place.topic] for place in partitions}

    @override
    def open_from(self, ends: Mapping[TopicPartition, tuple[int, int]], deadline: Deadline) -> Offsets:
        return {place: self.unsettled[place.topic] for place in ends if place.topic in self.unsettled}
