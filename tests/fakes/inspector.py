"""Questions to a cluster that is not there. mypy holds them to `LibrdkafkaInspector`, whose methods it takes over."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from typing_extensions import override

from legacy_mm.clients.librdkafka.inspector import LibrdkafkaInspector
from legacy_mm.clock import Deadline
from legacy_mm.model import TopicPartition


class FakeInspector(LibrdkafkaInspector):
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
