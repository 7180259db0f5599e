"""An appender that reaches no broker. mypy holds it to `BatchAppender`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typing_extensions import override

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.produce.appender import Acknowledged, BatchAppender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.protocol.record_batch import RecordBatch


class FakeAppender(BatchAppender):
    """One whose answers come while it is asked for them: `arriving`, one turn after the other.

    Nothing gets through to the partitions of `troubles`, each with a reason.
    """

    def __init__(self, *arriving: Acknowledged | ProducerBatch) -> None:
        self.arriving = list(arriving)
        self._answered: list[Acknowledged] = []
        self._unmended: list[ProducerBatch] = []
        self.replaced: list[tuple[RecordBatch, Any]] = []
        self.troubles: dict[TopicPartition, str] = {}

    @override
    def poll(self) -> None:
        """Nothing to do."""

    @override
    def takes(self, partition: TopicPartition) -> bool:
        return partition not in self.troubles

    @override
    def stuck(self) -> dict[TopicPartition, str]:
        return self.troubles

    @override
    def append(self, partition: TopicPartition, batch: RecordBatch, opaque: Any) -> None:
        """It is under way for ever."""

    @override
    def is_empty(self) -> bool:
        return False

    @override
    def wait_empty(self, timeout: float) -> bool:
        raise AssertionError("some of it never arrives")

    @override
    def take_acknowledged(self) -> list[Acknowledged]:
        found, self._answered = self._answered, []
        for answer in self.arriving:
            if isinstance(answer, ProducerBatch):
                self._unmended.append(answer)
            else:
                self._answered.append(answer)
        self.arriving = []
        return found

    @override
    def take_refused(self) -> list[ProducerBatch]:
        found, self._unmended = self._unmended, []
        return found

    @override
    def replace(self, refused: ProducerBatch, batches: Iterable[tuple[RecordBatch, Any]]) -> None:
        self.replaced += batches

    @override
    def drop(self, refused: ProducerBatch) -> None:
        """Nothing waits behind it."""
