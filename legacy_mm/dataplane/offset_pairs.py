"""Runs of pairs of source and target offsets, the base of offset syncs and checkpoints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import UNKNOWN, CopiedRun

if TYPE_CHECKING:
    from legacy_mm.protocol.records import SourceOffsets

_MOST = 100_000
"""Runs in one report: about 4 MB."""


class OffsetPairs:
    """Runs of acknowledged records since they were last taken; those of one partition come in source order."""

    def __init__(self) -> None:
        self._runs: defaultdict[TopicPartition, list[CopiedRun]] = defaultdict(list)

    def batch(self, source: TopicPartition, offsets: SourceOffsets, downstream: int) -> None:
        """Add records with these source offsets, which are adjacent at the target, the first at `downstream`."""
        for place, upstream, count in _consecutive(offsets):
            self._add(source, upstream, downstream + place if downstream != UNKNOWN else UNKNOWN, count)

    def take(self) -> list[CopiedRun]:
        """Take all runs; of very many in one partition, as a compacted topic has them, only the newest."""
        most = max(1, _MOST // max(1, len(self._runs)))
        runs = [run for found in self._runs.values() for run in _newest(found, most)]
        self._runs.clear()
        return runs

    def _add(self, source: TopicPartition, upstream: int, downstream: int, count: int) -> None:
        runs = self._runs[source]
        last = runs[-1] if runs else None
        if last is not None and last.continues(upstream, downstream):
            runs[-1] = last._replace(records=last.records + count)
        else:
            runs.append(CopiedRun(*source, upstream, downstream, count))


def _newest(runs: list[CopiedRun], most: int) -> list[CopiedRun]:
    """Return the newest `most` runs, after one that marks the others as unknown."""
    if len(runs) <= most:
        return runs
    kept, first = runs[-most:], runs[0]
    untold = first._replace(downstream=UNKNOWN, records=kept[0].upstream - first.upstream)
    return [untold, *kept]


def _consecutive(offsets: SourceOffsets) -> Iterator[tuple[int, int, int]]:
    """Yield place, first offset and length of each run of consecutive offsets.

    Of several records with one offset, which a handler made of one, the first counts: a consumer resumes there.
    """
    if isinstance(offsets, range):
        yield 0, offsets.start, len(offsets)
        return
    begin, first, before = 0, offsets[0], offsets[0] - 1
    for place, offset in enumerate(offsets):
        if offset != before + 1 or place != begin + offset - first:
            if offset == before:
                continue
            yield begin, first, before + 1 - first
            begin, first = place, offset
        before = offset
    yield begin, first, before + 1 - first
