"""The exact target position for a source offset: the runs of one source partition.

Target offsets only grow, so a run that goes back at the source, because records are copied again, makes everything from
there on void: a reader of the later copy sees all that follows. The runs are thus a stack, in the order of both offsets
and of time; a map that lacks the newest runs is merely an older map, and answers with an older copy.

Runs are kept in numbered chunks, a ring of them, and adding a run again makes the same map. A chunk holds the end of
the one before, so that a reader who got an older version of one, or none, uses only later chunks. What has no room
there is joined (`old_runs.py`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from legacy_mm.base.model import JoinedChunk, OffsetMapChunk, OffsetPair, OffsetRun
from legacy_mm.features.offset_syncs import old_runs
from legacy_mm.features.offset_syncs.old_runs import OldRuns

CHUNKS = 32
RUNS_PER_CHUNK = 32
_OLD, _NEW = 0, 1
"""A place of a run: among the joined chunks, or in the ring of the map."""

_upstream = attrgetter("upstream")


class Nearest(NamedTuple):
    """A map's knowledge of a source offset."""

    pair: OffsetPair | None = None
    """A reader from this target offset sees all records from this source offset on, which is not beyond the one asked
    for. It sees no others where they are the same, but for records that were copied again later. None: unknown."""
    first: OffsetPair | None = None
    """The begin of the map."""
    slack: int = 0
    """The pair's target offset may be too small by so much; 0: it is exact."""


class OffsetMap:
    """The runs of one source partition whose records go to one target partition."""

    def __init__(
        self,
        stored: Iterable[OffsetMapChunk | JoinedChunk] = (),
        *,
        chunks: int = CHUNKS,
        runs_per_chunk: int = RUNS_PER_CHUNK,
        joined_chunks: int = old_runs.CHUNKS,
        most_slack: int = old_runs.MOST_SLACK,
    ) -> None:
        """Create the map; `stored`: the chunks that were read, in any order. The map keeps as many, at least two."""
        self._chunks = chunks
        self._runs_per_chunk = runs_per_chunk
        self._runs: list[OffsetRun] = []
        self._places: list[tuple[int, int]] = []
        """The chunk of each run: `_OLD` or `_NEW`, and its number."""
        self._ends: dict[int, OffsetRun] = {}
        """The last run of each chunk that is closed."""
        self._copied_until = 0
        self._started = False
        self._unknown_before = False
        """Note that unreported records may have been copied after the last run."""
        self._open = OffsetMapChunk(0, 0, None, ())
        self._log: list[OffsetRun] = []
        self._log_changed = False
        self._closed: dict[int, OffsetMapChunk] = {}
        read = list(stored)
        joined = [chunk for chunk in read if isinstance(chunk, JoinedChunk)]
        linked = _linked((chunk for chunk in read if isinstance(chunk, OffsetMapChunk)), chunks)
        older, newer = old_runs.fitting(joined, linked, joined_chunks)
        unused = max((chunk.number for chunk in joined), default=-1) + 1
        self._old = OldRuns(joined_chunks, runs_per_chunk, most_slack, older[-1] if older else None, unused)
        for each in older:
            for run in each.runs:
                self._push(run, (_OLD, each.number))
        for chunk in newer:
            self._replay(chunk)

    @property
    def runs(self) -> tuple[OffsetRun, ...]:
        """In the order of both offsets."""
        return tuple(self._runs)

    def start(self, upstream: int) -> None:
        """Start at this source offset, where a copier begins to read. Without this call: where its first run begins."""
        self._started = True
        self._unknown_before = bool(self._runs) and upstream > self._runs[-1].end.upstream
        # What a copier leaves out after it had gone back may have copies before the map's end.
        if self._unknown_before and self._runs[-1].end.upstream < self._copied_until:
            self._forget()

    def add(self, run: OffsetRun) -> None:
        """Add copied records."""
        if not self._started:
            self.start(run.upstream)
        if self._runs and run.downstream < self._runs[-1].end.downstream:
            self._forget()
        if self._unknown_before:
            self._append(OffsetRun(*self._runs[-1].end, 0))
            self._unknown_before = False
        self._append(run)
        self._copied_until = max(self._copied_until, run.end.upstream)

    def nearest(self, offset: int) -> Nearest:
        """Return the pair nearest to a source offset: after the map's end and in its holes, where they begin."""
        if not self._runs:
            return Nearest()
        first = OffsetPair(*self._runs[0][:2])
        at = bisect_right(self._runs, offset, key=_upstream) - 1
        if at < 0:
            return Nearest(None, first)
        run = self._runs[at]
        if offset < run.end.upstream:
            return Nearest(OffsetPair(offset, run.downstream + offset - run.upstream), first, run.slack)
        if run.length and at + 1 < len(self._runs):
            after = self._runs[at + 1]
            return Nearest(OffsetPair(offset, after.downstream), first, after.slack)
        return Nearest(run.end, first)

    def changed(self) -> list[tuple[int, OffsetMapChunk | JoinedChunk]]:
        """Return the chunks to write since the last call, oldest first, each with its place; the places of joined ones
        come after those of the ring.
        """
        joined = [(self._chunks + place, chunk) for place, chunk in self._old.changed()]
        chunks = [*self._closed.values()]
        if self._log_changed:
            chunks.append(self._current())
        self._closed.clear()
        self._log_changed = False
        return [*joined, *((chunk.number % self._chunks, chunk) for chunk in chunks)]

    def _append(self, run: OffsetRun) -> None:
        if run.length and self._log and self._log[-1].end == run[:2]:
            self._log[-1] = self._runs[-1] = self._log[-1]._replace(length=self._log[-1].length + run.length)
        else:
            if len(self._log) >= self._runs_per_chunk:
                self._close()
            self._push(run, (_NEW, self._open.number))
            self._log.append(run)
        self._log_changed = True

    def _push(self, run: OffsetRun, place: tuple[int, int]) -> None:
        void = bisect_left(self._runs, run.upstream, key=_upstream)
        del self._runs[void:], self._places[void:]
        if self._runs and self._runs[-1].end.upstream > run.upstream:
            cut = self._runs[-1]
            # Nobody knows where a joined run has its holes, and the copy of what follows one at its end is void now.
            slack = max(cut.slack, 1) if self._places[-1][0] == _OLD else cut.slack
            self._runs[-1] = cut._replace(length=run.upstream - cut.upstream, slack=slack)
        self._runs.append(run)
        self._places.append(place)

    def _close(self) -> None:
        """Begin a chunk; it takes the place of the oldest one."""
        if self._log_changed:
            self._closed[self._open.number] = self._current()
        number = self._open.number + 1
        self._ends[self._open.number] = self._log[-1]
        self._open = OffsetMapChunk(number, self._copied_until, self._log[-1], ())
        self._log = []
        self._log_changed = False
        self._closed.pop(number - self._chunks, None)
        self._leave(number - self._chunks)

    def _leave(self, number: int) -> None:
        """Let the runs of the oldest chunk go to the joined ones."""
        last = self._ends.pop(number, None)
        if last is None:
            return
        begin, end = bisect_left(self._places, (_NEW, 0)), bisect_right(self._places, (_NEW, number))
        runs, places = self._runs[:begin], self._places[:begin]
        for run in self._runs[begin:end]:
            joined = self._old.join(runs[-1], run) if runs else None
            if joined is None:
                places.append((_OLD, self._old.add(run)))
                runs.append(run)
            else:
                runs[-1] = joined
        self._old.left(number, last)
        void = bisect_left(places, (_OLD, self._old.oldest))
        self._runs[:end], self._places[:end] = runs[void:], places[void:]

    def _forget(self) -> None:
        """Begin a chunk that follows none."""
        self._open = OffsetMapChunk(self._open.number + 1, self._copied_until, None, ())
        self._log = []
        self._log_changed = True
        self._unknown_before = False
        self._closed.clear()
        self._runs.clear()
        self._places.clear()
        self._ends.clear()
        self._old.forget()

    def _current(self) -> OffsetMapChunk:
        return self._open._replace(runs=tuple(self._log))

    def _replay(self, chunk: OffsetMapChunk) -> None:
        if chunk.follows is not None:
            self._ends[chunk.number - 1] = chunk.follows
        for run in chunk.runs:
            self._push(run, (_NEW, chunk.number))
        self._copied_until = max(self._copied_until, chunk.copied_until, *(run.end.upstream for run in chunk.runs))
        self._open = chunk
        self._log = list(chunk.runs)


def _linked(stored: Iterable[OffsetMapChunk], most: int) -> list[OffsetMapChunk]:
    """Return the newest chunk, and those before it as long as each is the one the next followed; oldest first."""
    by_number = {chunk.number: chunk for chunk in sorted(stored, key=lambda chunk: chunk.runs)}
    if not by_number:
        return []
    chain = [by_number[max(by_number)]]
    while len(chain) < most:
        before = by_number.get(chain[-1].number - 1)
        if before is None or before.runs[-1:] != (chain[-1].follows,):
            break
        chain.append(before)
    return chain[::-1]
