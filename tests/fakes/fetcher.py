"""A fetcher that reaches no broker. mypy holds it to `Fetcher`."""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from legacy_mm.base.errors import LegacyMMError
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import Gap
from legacy_mm.clients.fetch.fetch_buffer import Admits, CompletedFetch, Work
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.fetch.position_validator import TopicIds


class FakeFetcher(Fetcher):
    """Has these record sets, then this error; `held`: partition -> where it is read from once it is released."""

    def __init__(self) -> None:
        self.sets: list[CompletedFetch] = []
        self.error: LegacyMMError | None = None
        self.gaps: list[Gap] = []
        self.held: dict[TopicPartition, int] = {}
        self.woken = 0

    @override
    def take(self, timeout: float, work: Work | None = None, admits: Admits | None = None) -> CompletedFetch | None:
        if self.sets:
            return self.sets.pop(0)
        if self.error is not None:
            raise self.error
        return None

    @override
    def is_settled(self) -> bool:
        return not self.sets

    @override
    def wake(self) -> None:
        self.woken += 1

    @override
    def take_started(self) -> None:
        return None

    @override
    def resume(
        self, offsets: Offsets, ids: TopicIds | None = None, epochs: Mapping[TopicPartition, int] | None = None
    ) -> None:
        """Nothing is read."""

    @override
    def awaited(self, offsets: Offsets) -> Offsets:
        return offsets

    @override
    def take_gaps(self) -> list[Gap]:
        gaps, self.gaps = self.gaps, []
        return gaps

    @override
    def hold(self, partition: TopicPartition, offset: int) -> None:
        self.held[partition] = offset

    @override
    def release(self, partition: TopicPartition) -> None:
        del self.held[partition]
