"""Exactly once in a copy job: all bundles of its partitions, as its delivery.

A source partition is read from its committed position on, and only while its bundle takes pieces. A target partition
that is stuck holds up its transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import Undecided
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import Started, TransactionTotals
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch
from legacy_mm.clients.produce.appender import Acknowledged
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.dataplane.acks import Piece
from legacy_mm.dataplane.delivery import CopyParts, Delivery
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.transactions.bundle import BUNDLES, FlowBundles, by_bundle
from legacy_mm.transactions.bundle_claims import BundleClaims
from legacy_mm.transactions.bundle_events import Owned
from legacy_mm.transactions.bundle_owner import OwnBatch
from legacy_mm.transactions.bundle_positions import BundlePositions
from legacy_mm.transactions.claim_inspection import ClaimInspections
from legacy_mm.transactions.copied_bundle import CopiedBundle
from legacy_mm.transactions.transaction_client import TransactionClient


class ExactlyOnce(Delivery):
    """All bundles of one copy job, as its `Delivery`."""

    parts = 1
    owners = BUNDLES

    def __init__(self, parts: CopyParts) -> None:
        """Take the job's partitions."""
        super().__init__(parts)
        settings = parts.config.exactly_once
        assert settings is not None, "the task config asks for exactly once"
        self._parts = parts
        self._interval = settings.interval
        self._flow = FlowBundles(settings.group, settings.source, settings.target)
        source, target = parts.fetcher.cluster, parts.appender.cluster
        self._inspections = ClaimInspections(source.metadata, target, self._flow.positions_topic)
        trouble = parts.appender.traffic.on_trouble
        self.client = TransactionClient(parts.appender, settings.transaction_timeout, trouble, self._wake)
        self._holds = 0
        self._bundles: dict[TopicPartition, CopiedBundle] = {}
        self._numbers: dict[int, CopiedBundle] = {}

    @property
    def records(self) -> int:
        """The records of all transactions that were committed."""
        return sum(bundle.uncommitted.copied for bundle in self._numbers.values())

    def transactions(self) -> TransactionTotals:
        """Return what became of all transactions."""
        bundles, now = self._numbers.values(), monotonic()
        return TransactionTotals(
            sum(bundle.uncommitted.commits for bundle in bundles),
            sum(bundle.owner.epoch for bundle in bundles),
            sum(bundle.owner.doubtful for bundle in bundles),
            sum(bundle.claims.count for bundle in bundles),
            sum(bundle.claims.seconds for bundle in bundles),
            max((bundle.owner.open_seconds(now) for bundle in bundles), default=0.0),
        )

    def begin(self) -> None:
        """Ask for the bundles of all partitions."""
        parts, offsets = self._parts, self._parts.config.offsets
        parts.fetcher.cluster.metadata.watch({partition.topic for partition in offsets})
        parts.appender.cluster.metadata.watch([self._flow.positions_topic])
        for number, partitions in by_bundle(offsets, BUNDLES).items():
            claims = BundleClaims(number, self._inspections)
            positions = BundlePositions(parts, self._flow.bundle(number), partitions, claims)
            bundle = self._numbers[number] = CopiedBundle(parts, positions, claims, self._take_acknowledged)
            self._bundles |= dict.fromkeys(partitions, bundle)
            bundle.begin(self.client, self._interval)

    def take(self, timeout: float) -> CompletedFetch | None:
        """Return the next record set of a bundle that takes pieces. The owners are called by one thread."""
        fetched = self._parts.fetcher.take(timeout, None, self._admits)
        if fetched is not None:
            self._holds = self._bundles[fetched.partition].reading.holds
        return fetched

    def may_go_on(self, source: TopicPartition) -> bool:
        """Return False if what was taken is read again, because its bundle let go of it, or has to now."""
        bundle = self._bundles[source]
        if not bundle.takes_pieces:
            bundle.park()
        return bundle.reading.holds == self._holds

    def begin_piece(self, piece: Piece, targets: Iterable[TopicPartition]) -> None:
        """Take a piece into the transaction of its bundle."""
        self._bundles[piece.partition].begin_piece(piece, targets)

    def append(self, piece: Piece, target: TopicPartition, batch: RecordBatch, opaque: Any) -> bool:
        """Send a batch of a piece; return False if its transaction was given up."""
        return self._bundles[piece.partition].append(piece, target, batch, opaque)

    def end_piece(self, piece: Piece, records: int, *, complete: bool) -> bool:
        """End a piece; half of one is never committed."""
        return self._bundles[piece.partition].end_piece(records, complete=complete)

    def passed(self, source: TopicPartition, end: int) -> None:
        """Move the position over what holds no records."""
        self._bundles[source].passed(source, end)

    def acknowledged(self, acknowledged: Acknowledged) -> None:
        """Keep what the target has until its transaction is committed."""
        opaque = acknowledged.opaque
        if isinstance(opaque, OwnBatch):
            opaque.owner.written(opaque.request, acknowledged.base_offset)
        else:
            self._bundles[opaque.piece.partition].uncommitted.acknowledged.append(acknowledged)

    def refused(self, refused: ProducerBatch) -> bool:
        """Handle a batch that was not refused for the sake of its records, or whose transaction was given up."""
        return refused.queue.abandoned or self.client.refused(refused)

    def abandon(self, refused: ProducerBatch) -> None:
        """Give up the transaction of the batch."""
        opaque = refused.opaque
        owner = opaque.owner if isinstance(opaque, OwnBatch) else self._bundles[opaque.piece.partition].owner
        owner.give_up()

    def poll(self) -> None:
        """Continue with all transactions."""
        now = monotonic()
        for bundle in self._numbers.values():
            bundle.poll(now)
        self.client.poll()

    def may_resume(self, offsets: Offsets) -> bool:
        """Return True if these bundles take pieces; raise Undecided for a partition that would go back.

        What is committed for an offset is never copied again. Where a log parts from what was copied, its offsets from
        there on are other records.
        """
        for partition, offset in offsets.items():
            owner = self._bundles[partition].owner
            if not owner.takes_pieces:
                return False
            if offset < owner.next(partition) and offset != self._parts.fetcher.parted_at(partition):
                raise Undecided(
                    f"exactly once cannot go on with {partition}: its position at the target is "
                    f"{owner.next(partition)}, and the source goes on at {offset}; nobody can say what of that is "
                    "copied; legacy-mm exactly-once move sets the position"
                )
        return True

    def resumed(self, offsets: Offsets) -> None:
        """Make other offsets the positions of these partitions, in a transaction."""
        for partition, offset in offsets.items():
            bundle = self._bundles[partition]
            if offset != bundle.owner.next(partition):
                bundle.jump(self._parts.pieces.open(partition, offset, self.parts))
        self._parts.report(Started(offsets))

    def confirmed(self, bundles: Collection[int]) -> None:
        """Note that the group's generation holds these bundles; from any thread."""
        for number in bundles:
            self.client.tell(self._flow.bundle(number), Owned())

    def marked(self, partitions: Iterable[TopicPartition]) -> None:
        """Note that the group's offsets of these partitions come from exactly once; from any thread."""
        for partition in partitions:
            self._bundles[partition].positions.marked(partition)
        self._wake()

    def stop(self) -> None:
        """Commit what is open, and end."""
        for bundle in self._numbers.values():
            bundle.owner.stop()

    def is_over(self, timeout: float) -> bool:
        """Return True if every bundle has ended; else wait for news."""
        if all(bundle.owner.is_over for bundle in self._numbers.values()):
            return True
        self._parts.appender.wait_for_news(timeout)
        return False

    def close(self) -> None:
        """Ask nothing more."""
        self.client.close()

    def _admits(self, partition: TopicPartition) -> bool:
        return self._bundles[partition].takes_pieces

    def _take_acknowledged(self) -> None:
        for acknowledged in self._parts.appender.take_acknowledged():
            self.acknowledged(acknowledged)

    def _wake(self) -> None:
        self._parts.fetcher.wake()
        self._parts.appender.wake()
