"""Gaps of source partitions, from their discovery until the driver has said where to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from legacy_mm.base.model import Offsets
from legacy_mm.base.reports import Gap
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.dataplane.acks import Pieces


class SourceGaps:
    """The gaps of one copy job. For the engine's thread, but for `resume`."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._waiting = list[Gap]()
        self._answers = list[Offsets]()

    def __bool__(self) -> bool:
        return bool(self._waiting or self._answers)

    def resume(self, offsets: Offsets) -> None:
        """Note where the driver lets partitions go on."""
        self._answers.append(offsets)

    def found(self, fetcher: Fetcher) -> Iterator[Gap]:
        """Yield gaps before which nothing is under way any more: then the driver may be asked."""
        self._waiting += fetcher.take_gaps()
        for gap in [gap for gap in self._waiting if not self._pieces.are_open(gap.topic_partition)]:
            self._waiting.remove(gap)
            yield gap

    def answered(self, fetcher: Fetcher, may_resume: Callable[[Offsets], bool]) -> Iterator[Offsets]:
        """Yield where partitions go on that still wait for it; the fetcher resumes them."""
        while self._answers and may_resume(resumed := fetcher.awaited(self._answers[0])):
            del self._answers[0]
            fetcher.resume(resumed)
            yield resumed
