"""The safe offset of each partition, up to which may be committed. No Kafka in it.

Invariant A: a safe offset moves only when everything sent before it is acknowledged or dropped on purpose, and it is
always one past a *data record*, never past a control record or a hole. So it is counted from the records that were
sent: a position that passes control records would commit more than the legacy tool. Only a position that exactly once
has committed at the target may stand behind one.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from legacy_mm.base.model import Offsets, TopicPartition

if TYPE_CHECKING:
    from legacy_mm.base.reports import Portion
    from legacy_mm.dataplane.partition_meters import Times
    from legacy_mm.dataplane.tally import Tally
    from legacy_mm.protocol.records import SourceOffsets


class SafeOffsets:
    """Sent and safe offsets of one copy job, and which safe ones moved since they were last reported."""

    def __init__(self) -> None:
        self._sent: dict[TopicPartition, int] = {}
        self._safe: dict[TopicPartition, int] = {}
        self._moved: set[TopicPartition] = set()

    def sent(self, offsets: Offsets) -> None:
        """Record that everything below these offsets was given to the producer."""
        self._sent |= offsets

    def sent_to(self, partition: TopicPartition) -> int:
        """Return the offset below which everything was given to the producer; -1: nothing was."""
        return self._sent.get(partition, -1)

    def safe(self) -> Offsets:
        """Return the offsets below which everything is acknowledged."""
        return self._safe

    def acknowledged(self, partition: TopicPartition, offset: int) -> None:
        """Record that everything of this partition below `offset` is acknowledged."""
        before = self._safe.get(partition, -1)
        assert offset >= before, f"invariant B: {partition} went back from {before} to {offset}"
        if offset > before:
            self._safe[partition] = offset
            self._moved.add(partition)

    def restart(self, partition: TopicPartition) -> None:
        """Restart the partition at another position after a gap; earlier counts no longer apply."""
        self._sent.pop(partition, None)
        self._safe.pop(partition, None)
        self._moved.discard(partition)

    def unacknowledged(self) -> dict[TopicPartition, int]:
        """Return the position that sending reached, for partitions where it is not safe yet."""
        return {partition: sent for partition, sent in self._sent.items() if self._safe.get(partition) != sent}

    def take_moved(self) -> dict[TopicPartition, int]:
        """Return the safe offsets that moved since the last call."""
        moved = {partition: self._safe[partition] for partition in self._moved}
        self._moved.clear()
        return moved


@dataclass(slots=True, eq=False)
class Piece:
    """Some records of one partition, next to each other, that went to the target in one batch or several."""

    partition: TopicPartition
    next_offset: int
    """One past the last of them."""
    missing: int
    """Batches that are not acknowledged yet."""
    begin: int = -1
    """The offset from which they were read, or at which the piece was cut; -1: not known."""
    counted: Portion | None = None
    """The content of its receipt, if one is asked for."""


class Part(NamedTuple):
    """A batch of a piece, the offsets of its records at the source, and when these were made."""

    piece: Piece
    offsets: SourceOffsets
    times: Times | None
    moved: bool = False
    """To a partition of another number than its own."""
    in_copy: bool = True
    """In the topic that is by name the copy of its own."""

    @property
    def first_offset(self) -> int:
        """Return the lowest offset of its records at the source."""
        return self.offsets[0]

    @property
    def is_copy(self) -> bool:
        """Return True in the copy of its own partition, so that its offset there says where a consumer resumes."""
        return self.in_copy and not self.moved

    def of(self, offsets: SourceOffsets, times: Times | None) -> Part:
        """Return the part of it that another batch carries in its place."""
        return self._replace(offsets=offsets, times=times)


class Pieces:
    """The pieces under way, in source order; those at the front that are complete make the safe offset."""

    def __init__(self, safe: SafeOffsets, tally: Tally | None = None) -> None:
        """Create the list; what becomes safe is added to `tally`, if receipts are asked for."""
        self._safe = safe
        self._tally = tally
        self._open: defaultdict[TopicPartition, deque[Piece]] = defaultdict(deque)
        self._abandoned: dict[TopicPartition, int] = {}

    def open(
        self,
        partition: TopicPartition,
        next_offset: int,
        batches: int,
        counted: Portion | None = None,
        *,
        begin: int = -1,
    ) -> Piece:
        """Open a piece that is sent in this number of batches; one with none was dropped on purpose."""
        piece = Piece(partition, next_offset, batches, begin, counted)
        self._open[partition].append(piece)
        self._safe.sent({partition: next_offset})
        if not batches:
            self._advance(partition)
        return piece

    def begin(self, offsets: Offsets) -> None:
        """Count as safe what is below these offsets: the target has it from before this copy job, or from another."""
        for partition, offset in offsets.items():
            self._safe.acknowledged(partition, offset)

    def first_missing(self) -> Offsets:
        """Return where the first piece in flight of each partition begins, where that is known."""
        first = ((partition, pieces[0].begin) for partition, pieces in self._open.items() if pieces)
        return {partition: begin for partition, begin in first if begin >= 0}

    def are_open(self, partition: TopicPartition) -> bool:
        """Return True if a piece of this partition is in flight."""
        return bool(self._open.get(partition))

    def acknowledged(self, piece: Piece) -> None:
        """Record that one batch of the piece arrived, or was dropped on purpose."""
        piece.missing -= 1
        if not piece.missing:
            self._advance(piece.partition)

    def cut(self, piece: Piece, offset: int, unacknowledged: Callable[[], Iterable[Part]]) -> None:
        """Count as safe what a piece has before this record, which may wait for long.

        Nothing happens while a part of that is among the `unacknowledged`, nor where receipts count whole pieces.
        """
        pieces = self._open[piece.partition]
        if self._tally is not None or offset <= piece.begin or piece not in pieces:
            return
        if any(part.piece is piece and part.first_offset < offset for part in unacknowledged()):
            return
        pieces.insert(pieces.index(piece), Piece(piece.partition, offset, 0, piece.begin))
        piece.begin = offset
        self._advance(piece.partition)

    def restart(self, partition: TopicPartition) -> None:
        """Restart the partition at another position after a gap: batches in flight do not count any more."""
        self._open.pop(partition, None)
        self._abandoned.pop(partition, None)
        self._safe.restart(partition)

    def abandon(self, partition: TopicPartition, offset: int) -> None:
        """Note that copying ends without this record, and perhaps without what follows it in its partition."""
        self._abandoned[partition] = min(offset, self._abandoned.get(partition, offset))

    def all_others_arrived(self) -> None:
        """Count as safe what is before the first abandoned record of each partition, also within a piece.

        Call it at the end of copying, when the target has everything that was sent and was not abandoned. A receipt
        counts whole pieces, so where receipts are written the safe offset stays before the piece.
        """
        if self._tally is not None:
            return
        for partition, offset in self._abandoned.items():
            pieces = self._open.get(partition)
            if pieces and pieces[0].begin < offset:
                self._safe.acknowledged(partition, offset)

    def _advance(self, partition: TopicPartition) -> None:
        pieces = self._open[partition]
        while pieces and not pieces[0].missing:
            piece = pieces.popleft()
            if self._tally is not None and piece.counted is not None:
                self._tally.add(piece.counted)
            self._safe.acknowledged(partition, piece.next_offset)
