"""The exact map against every copy that was ever made: a copier that crashes, repeats, is moved by its operator, loses
what it had not written down yet; holes at the source, others' records and markers at the target.

LEGACY_MM_FUZZ_EXAMPLES sets how many such stories each test tries.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from legacy_mm.base.model import JoinedChunk, OffsetMapChunk, OffsetRun
from legacy_mm.features.offset_syncs.offset_map import OffsetMap

CHUNKS, RUNS_PER_CHUNK, JOINED_CHUNKS, MOST_SLACK = 2, 2, 3, 5
Written = list[tuple[int, OffsetMapChunk | JoinedChunk]]


def restored(written: Written, order: random.Random | None = None) -> OffsetMap:
    """From the last record of each place."""
    chunks = list(dict(written).values())
    if order:
        order.shuffle(chunks)
    return OffsetMap(
        chunks,
        chunks=CHUNKS,
        runs_per_chunk=RUNS_PER_CHUNK,
        joined_chunks=JOINED_CHUNKS,
        most_slack=MOST_SLACK,
    )


@dataclass
class World:
    """Both logs, the copier, its map and what it has written of it."""

    source: list[bool] = field(default_factory=list)
    """For each offset whether it is a record that is copied: not a control record, compacted, filtered."""
    copies: list[tuple[int, int]] = field(default_factory=list)
    """Target offset, source offset: in target order."""
    target_end: int = 0
    position: int = 0
    safe: int = 0
    """One past the last acknowledged record: never past a hole behind it."""
    committed: int = 0
    told: set[int] = field(default_factory=set)
    """Target offsets that the map was told of."""
    offsets: OffsetMap = field(default_factory=lambda: restored([]))
    written: Written = field(default_factory=list)

    def produce(self, records: int, holes: int) -> None:
        self.source += [True] * records + [False] * holes

    def copy(self, most: int, gap: int, *, told: bool = True) -> None:
        """Copy up to so many records, as runs; then others write to the target too."""
        runs: list[OffsetRun] = []
        while self.position < len(self.source) and most:
            if self.source[self.position]:
                self.copies.append((self.target_end, self.position))
                if runs and runs[-1].end == (self.position, self.target_end):
                    runs[-1] = runs[-1]._replace(length=runs[-1].length + 1)
                else:
                    runs.append(OffsetRun(self.position, self.target_end, 1))
                self.target_end += 1
                most -= 1
            self.position += 1
        self.target_end += gap
        if told:
            for run in runs:
                self.offsets.add(run)
                self.told.update(range(run.downstream, run.end.downstream))
                self.safe = run.end.upstream

    def commit(self, back: int) -> None:
        self.committed = max(self.committed, self.safe - back)

    def write(self) -> None:
        self.written += self.offsets.changed()

    def lose(self) -> None:
        """What is written of the map now never arrives."""
        self.offsets.changed()

    def restart(self, at: int) -> None:
        self.offsets = restored(self.written)
        self.position = self.committed = self.safe = at
        self.offsets.start(at)

    def crash(self, unacknowledged: int) -> None:
        """With records at the target that nobody counted, and perhaps without the newest part of the map."""
        self.copy(unacknowledged, 0, told=False)
        self.restart(self.committed)

    def moved(self, at: int) -> None:
        """An operator resets the stopped copier's group."""
        self.write()
        self.restart(min(at, len(self.source)))

    def best(self, offset: int) -> int | None:
        """The greatest target offset from which nothing is missed; None: everything is to come."""
        last = {upstream: downstream for downstream, upstream in self.copies if offset <= upstream < self.position}
        return min(last.values(), default=None)

    def ends_a_cut(self, offset: int) -> bool:
        """A joined run has no record from here on: that it has a hole there is not known."""
        runs = [run for run in self.offsets.runs if run.slack and run.upstream <= offset < run.end.upstream]
        return any(not any(self.source[offset : run.end.upstream]) for run in runs)

    def missed(self, offset: int, answer: int) -> bool:
        best = self.best(offset)
        return best is not None and answer > best

    def check_no_gap(self, offsets: OffsetMap) -> None:
        for offset in range(len(self.source) + 2):
            pair = offsets.nearest(offset).pair
            assert pair is None or not self.missed(offset, pair.downstream), (offset, pair, self.best(offset))

    def check_exact(self) -> None:
        """No record is read twice that could be spared, but for those that nobody told of, and a joined run's slack."""
        for offset in range(len(self.source) + 2):
            (pair, _, slack), best = self.offsets.nearest(offset), self.best(offset)
            if pair is not None and not self.ends_a_cut(offset):
                spare = range(pair.downstream, self.target_end if best is None else best)
                assert len(self.told.intersection(spare)) <= slack <= MOST_SLACK, (offset, pair, slack, best)


Step = tuple[Any, ...]
PRODUCE: list[Step] = [("produce", 6, 1), ("produce", 3, 2), ("produce", 2, 0), ("produce", 1, 1)]
COPY: list[Step] = [("copy", 1, 0), ("copy", 2, 0), ("copy", 3, 1), ("copy", 5, 0), ("copy", 8, 3)]
COMMIT: list[Step] = [("commit", 0), ("commit", 2), ("commit", 6)]
WRITE: list[Step] = [("write",), ("write",)]
LOSE: list[Step] = [("lose",)]
CRASH: list[Step] = [("crash", 0), ("crash", 2)]
MOVED: list[Step] = [("moved", at) for at in (0, 1, 3, 5, 8, 11, 15, 20, 30)]


def stories(*steps: list[Step]) -> st.SearchStrategy[list[Step]]:
    return st.lists(st.sampled_from(sum(steps, start=[])), min_size=10, max_size=60)


_any = settings(max_examples=int(os.environ.get("LEGACY_MM_FUZZ_EXAMPLES", "60")))


def run(world: World, steps: list[Step]) -> None:
    for name, *arguments in steps:
        getattr(world, name)(*arguments)


@_any
@given(stories(PRODUCE, COPY, COMMIT, WRITE, LOSE, CRASH), st.randoms(use_true_random=False))
def test_crashes_never_make_a_gap_in_the_newest_map_or_an_older_one(steps: list[Step], source: random.Random) -> None:
    world = World()
    for step in steps:
        run(world, [step])
        world.check_no_gap(world.offsets)
    for seen in range(len(world.written) + 1):
        world.check_no_gap(restored(world.written[:seen], source))
    lossy = [record for record in world.written if source.random() < 0.7]
    world.check_no_gap(restored(lossy, source))


@_any
@given(stories(PRODUCE, COPY, MOVED))
def test_an_operator_may_move_the_copier_anywhere(steps: list[Step]) -> None:
    """Whoever moves it has stopped it before: the map knows all copies, and has been written."""
    world = World()
    for step in steps:
        run(world, [step])
        world.write()
        world.check_no_gap(world.offsets)
        world.check_no_gap(restored(world.written))


@_any
@given(stories(PRODUCE, COPY, COMMIT, CRASH))
def test_no_record_is_repeated_without_need(steps: list[Step]) -> None:
    world = World()
    for step in steps:
        if step[0] == "crash":
            world.write()
        run(world, [step])
        if step[0] == "copy" and world.copies and world.copies[-1][0] in world.told:
            world.check_exact()


@_any
@given(stories(PRODUCE, COPY, WRITE), st.randoms(use_true_random=False))
def test_reading_in_any_order_makes_the_same_map(steps: list[Step], source: random.Random) -> None:
    world = World()
    for step in steps:
        run(world, [step])
        if step[0] == "write":
            world.position = source.randint(0, world.position)
            world.offsets.start(world.position)
    world.write()
    assert restored(world.written, source).runs == world.offsets.runs
