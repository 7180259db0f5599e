"""The positions of one bundle, as a copy job finds them with a claim and moves them with its transactions.

A partition whose group offset exactly once did not commit is read when the driver has committed it anew. Until then a
killed mirror may leave that offset beside a position, so the position names it as adopted; from then on none does.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.errors import Undecided
from legacy_mm.base.model import (
    UNDEFINED,
    CommittedOffset,
    Offsets,
    TopicPartition,
    describe_partitions,
    is_logical,
)
from legacy_mm.base.reports import Started
from legacy_mm.dataplane.delivery import CopyParts
from legacy_mm.transactions.bundle import BUNDLES, Bundle
from legacy_mm.transactions.bundle_claims import BundleClaims
from legacy_mm.transactions.bundle_owner import LogRow
from legacy_mm.transactions.claim_inspection import ClaimInspection
from legacy_mm.transactions.evidence import SourceSide, decide_positions, mark
from legacy_mm.transactions.offset_book import OffsetBook
from legacy_mm.transactions.position_records import (
    Claim,
    PositionsRecord,
    SourcePosition,
    encode_claim,
    encode_position,
    read_bundle,
)
from legacy_mm.transactions.txn_requests import Positions


class BundlePositions:
    """The positions of one bundle, as `BundleContents`. For the engine's thread, but for what says otherwise."""

    def __init__(
        self, parts: CopyParts, bundle: Bundle, partitions: Sequence[TopicPartition], claims: BundleClaims
    ) -> None:
        """Take the bundle's source partitions; nothing is asked before a claim."""
        settings = parts.config.exactly_once
        assert settings is not None, "the task config asks for exactly once"
        self.bundle = bundle
        self.partitions = partitions
        self.book = OffsetBook(settings.offsets_topic)
        self._generation = settings.generation
        self._offsets = parts.config.offsets
        self._fetcher = parts.fetcher
        self._claims = claims
        known = {TopicPartition(*row[:2]): CommittedOffset(*row[2:]) for row in settings.group_offsets}
        self._group = {partition: known[partition] for partition in partitions if partition in known}
        ours = mark(bundle.positions.topic)
        self._adopted = {each: stored.offset for each, stored in self._group.items() if stored.metadata != ours}
        self._marked: deque[TopicPartition] = deque()
        self._jumped_from: dict[TopicPartition, int] = {}
        """The group's offset of partitions whose position was set back, until it is as far again."""
        self._epochs: dict[TopicPartition, int] = {}
        """The leader epochs that were stored with the positions."""
        self._lows: dict[TopicPartition, int] = {}
        self._inspection = ClaimInspection("", {}, "")

    def claim(self) -> PositionsRecord:
        """Return the record of this owner."""
        host, number = socket.gethostname(), self._claims.number
        source = self._inspection.cluster or self._fetcher.cluster.metadata.cluster_id()
        return encode_claim(Claim(number, BUNDLES, source, host, self._generation, epoch_ms()))

    def decide_positions(self, rows: Iterable[LogRow]) -> tuple[Positions, Positions]:
        """Return the begin of each partition: its position at the target, or what becomes it now.

        Called on a thread of its own.
        """
        found = read_bundle(self.bundle.positions, BUNDLES, rows).positions
        inspection = self._inspection = self._claims.inspect()
        ids = {topic: str(topic_id) for topic, topic_id in inspection.topic_ids.items()}
        side = SourceSide(inspection.cluster, ids, self._group, self.book)
        evidence = decide_positions(self.partitions, found, side, self.bundle.positions.topic)
        self._epochs = {partition: found[partition].leader_epoch for partition in evidence.positions}
        if inspection.doubt:  # after the evidence: that positions are lost already says more
            raise Undecided(inspection.doubt)
        adopted = evidence.adopted | self._first_offsets(evidence.unset)
        return tuple(sorted(evidence.positions.items())), tuple(sorted(adopted.items()))

    def position_records(self, positions: Positions) -> Sequence[PositionsRecord]:
        """Return the records that move positions."""
        return list(self._position_records(positions))

    def begin(self, positions: Positions) -> tuple[Started, Offsets]:
        """Begin at these positions; return that, and those of which the group does not know that they are safe."""
        offsets, lows = dict(positions), self._lows
        self._lows = {}
        safe = {each: offset for each, offset in positions if each not in lows and offset > self._group_offset(each)}
        self.committed(positions)
        return Started(offsets, lows), safe

    def committed(self, positions: Positions) -> None:
        """Note what is committed: a later claim that finds less has lost positions."""
        ours = mark(self.bundle.positions.topic)
        self._group |= {partition: CommittedOffset(offset, ours) for partition, offset in positions}

    def jump(self, partition: TopicPartition, offset: int) -> None:
        """Note that the position of a partition becomes another one, also where that goes back."""
        if offset < (before := self._group_offset(partition)):
            self._jumped_from[partition] = before

    def marked(self, partition: TopicPartition) -> None:
        """Note from any thread that the group's offset of a partition comes from exactly once now."""
        self._marked.append(partition)

    def unmarked(self, partitions: Collection[TopicPartition]) -> set[TopicPartition]:
        """Return those whose group offset does not come from exactly once."""
        return self._adopted.keys() & partitions

    def take_marked(self) -> None:
        """Take the marks that have come since."""
        while self._marked:
            self._adopted.pop(self._marked.popleft(), None)

    def read(self, offsets: Offsets) -> None:
        """Read the source from these offsets on, in the topics and behind the epochs that the claim has seen."""
        epochs = {partition: self._epochs[partition] for partition in offsets if partition in self._epochs}
        self._fetcher.resume(offsets, self._inspection.topic_ids, epochs)

    def _group_offset(self, partition: TopicPartition) -> int:
        return self._group[partition].offset if partition in self._group else -1

    def _first_offsets(self, unset: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where partitions begin of which nobody knows, as `auto.offset.reset` says.

        Raise Undecided for `none`.
        """
        wanted = {partition: self._offsets[partition] for partition in unset}
        if undefined := [partition for partition, offset in wanted.items() if offset == UNDEFINED]:
            raise Undecided(
                f"Undefined offset with no reset policy for partitions: {describe_partitions(undefined)}; the target "
                f"has no position of them, and {self.book.name} no offset: legacy-mm exactly-once move sets the "
                "position, or set auto.offset.reset"
            )
        logical = {partition: offset for partition, offset in wanted.items() if is_logical(offset)}
        if logical:
            started = self._fetcher.find(logical)
            self._lows |= started.lows
            wanted |= started.offsets
        return wanted

    def _position_records(self, positions: Positions) -> Iterator[PositionsRecord]:
        now, (cluster, ids, _) = epoch_ms(), self._inspection
        for partition, offset in positions:
            epoch, topic_id = self._fetcher.epoch_read(partition), str(ids.get(partition.topic, ""))
            adopted = self._adopted.get(partition, self._set_back(partition, offset))
            yield encode_position(partition, SourcePosition(offset, epoch, topic_id, cluster, now, adopted))

    def _set_back(self, partition: TopicPartition, offset: int) -> int | None:
        """Return the group's offset that may be there still while the position is behind it."""
        if offset >= self._jumped_from.get(partition, offset):
            self._jumped_from.pop(partition, None)
        return self._jumped_from.get(partition)
