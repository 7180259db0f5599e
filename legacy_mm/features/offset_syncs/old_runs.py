"""The runs that have left an offset map's chunks: joined, so that the map reaches back much further.

Transactions leave a marker at the target, and at the source, so each begins a run. Two runs become one where no answer
gets too small by more than `MOST_SLACK` records. A group that gets such an answer is behind all runs of the map's
chunks, so it reads again little beside what it has to read.

They have a ring of chunks of their own. Its newest one names the chunk of the map that left last, so a reader who got
an older version of either joins them only where they fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from legacy_mm.base.model import JoinedChunk, OffsetMapChunk, OffsetRun

CHUNKS = 16
MOST_SLACK = 128
_NOTHING = OffsetRun(0, 0, 0)


class OldRuns:
    """The ring of joined runs of one map. The map keeps what counts of them now; this keeps what is written."""

    def __init__(
        self, chunks: int, runs_per_chunk: int, most_slack: int, newest: JoinedChunk | None, number: int
    ) -> None:
        """Take the newest chunk; None: begin one with this number, before which nothing counts."""
        self._chunks = chunks
        self._runs_per_chunk = runs_per_chunk
        self._most_slack = most_slack
        self._open = newest or JoinedChunk(number, -1, _NOTHING, None, ())
        self._log = list(self._open.runs)
        self._log_changed = False
        self._closed: dict[int, JoinedChunk] = {}

    @property
    def oldest(self) -> int:
        """The number of the oldest chunk that is kept."""
        return self._open.number - self._chunks + 1

    def join(self, last: OffsetRun, run: OffsetRun) -> OffsetRun | None:
        """Return both as one run, if `last` is the last one that was added and still counts as it was; else None."""
        if not self._log or self._log[-1] != last:
            return None
        joined = join(last, run, self._most_slack)
        if joined is not None:
            self._log[-1] = joined
            self._log_changed = True
        return joined

    def add(self, run: OffsetRun) -> int:
        """Add a run that is not joined, and return the number of its chunk."""
        if len(self._log) >= self._runs_per_chunk:
            self._close()
        self._log.append(run)
        self._log_changed = True
        return self._open.number

    def left(self, number: int, last: OffsetRun) -> None:
        """Note that all runs of this chunk of the map are here, if they still count; `last` is its last one."""
        self._open = self._open._replace(until=number, until_run=last)
        self._log_changed = self._log_changed or bool(self._log)

    def forget(self) -> None:
        """Begin a chunk before which nothing counts."""
        self._open = JoinedChunk(self._open.number + 1, -1, _NOTHING, None, ())
        self._log = []
        self._log_changed = False
        self._closed.clear()

    def changed(self) -> list[tuple[int, JoinedChunk]]:
        """Return the chunks to write since the last call, oldest first, each with its place in the ring."""
        chunks = [*self._closed.values()]
        if self._log_changed:
            chunks.append(self._current())
        self._closed.clear()
        self._log_changed = False
        return [(chunk.number % self._chunks, chunk) for chunk in chunks]

    def _close(self) -> None:
        if self._log_changed:
            self._closed[self._open.number] = self._current()
        number = self._open.number + 1
        self._open = self._open._replace(number=number, follows=self._log[-1], runs=())
        self._log = []
        self._closed.pop(number - self._chunks, None)

    def _current(self) -> JoinedChunk:
        return self._open._replace(runs=tuple(self._log))


def join(last: OffsetRun, run: OffsetRun, most_slack: int) -> OffsetRun | None:
    """Return two runs as one; None if its target offsets would be too small by more than `most_slack`, or one is
    unknown.
    """
    if not (last.length and run.length):
        return None
    moves = (last.downstream - last.upstream, run.downstream - run.upstream)
    least = min(moves)
    in_hole = run.downstream - last.end.upstream
    slack = max(moves[0] + last.slack, in_hole + run.slack) - least
    if slack > most_slack or last.upstream + least < 0:
        return None
    return OffsetRun(last.upstream, last.upstream + least, run.end.upstream - last.upstream, slack)


def fitting(
    stored: Iterable[JoinedChunk], newer: Sequence[OffsetMapChunk], most: int
) -> tuple[list[JoinedChunk], Sequence[OffsetMapChunk]]:
    """Return joined chunks and the map's chunks that follow them, oldest first; without joined ones, all of the map's.

    `newer`: the map's chunks, each of which follows the one before.
    """
    by_number = {chunk.number: chunk for chunk in sorted(stored, key=lambda chunk: chunk.runs)}
    if not by_number:
        return [], newer
    newest = by_number[max(by_number)]
    after = [each for each in newer if each.number > newest.until]
    if not after or (after[0].number, after[0].follows) != (newest.until + 1, newest.until_run):
        return [], newer
    chain = [newest]
    while len(chain) < most:
        before = by_number.get(chain[-1].number - 1)
        if before is None or before.runs[-1:] != (chain[-1].follows,):
            break
        chain.append(before)
    return chain[::-1], after
