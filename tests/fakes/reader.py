"""A source that is not there, as the engine `records` reads it. mypy holds it to the protocol `LogReader`."""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import override

from legacy_mm.clients.api import LogReader
from legacy_mm.config.kafka_clients import ConsumerSettings
from legacy_mm.control_channel.frames import Gap, Started, Statistics
from legacy_mm.model import NO_RECORDS, Columns, Offsets, TopicPartition


class FakeReader(LogReader):
    """Reads nothing; `held`: the partitions that it does not read, and where it would go on."""

    def __init__(
        self,
        settings: ConsumerSettings | None = None,
        timeout: float = 0.0,
        on_statistics: Callable[[Statistics], None] = lambda frame: None,
        retries: object = None,
    ) -> None:
        self.held: dict[TopicPartition, int] = {}
        self.positions: Offsets = {}

    @override
    def start(self, offsets: Offsets) -> Started:
        return Started(offsets)

    @override
    def take_started(self, positions: Callable[[], Offsets]) -> Started | None:
        return None

    @override
    def read(self, timeout: float) -> Columns:
        return NO_RECORDS

    @override
    def partitions(self, topic: str) -> int | None:
        return 8

    @override
    def cluster_id(self) -> str:
        return ""

    @override
    def take_gaps(self) -> list[Gap]:
        return []

    @override
    def resume(self, offsets: Offsets, positions: Offsets) -> None:
        for partition, offset in offsets.items():
            assert self.held.pop(partition) == offset
        self.positions = positions

    @override
    def hold(self, offsets: Offsets, positions: Offsets) -> None:
        self.held |= offsets
        self.positions = positions

    @override
    def close(self) -> None:
        """Nothing is open."""
