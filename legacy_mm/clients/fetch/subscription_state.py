"""The partitions that are read: each one's position, and what keeps it from being asked for. Java calls it so, too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import Gap
from legacy_mm.clients.cluster.topology import UNKNOWN_EPOCH, Leadership
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch
from legacy_mm.protocol.fetch_messages import Wanted

RETRY_BACKOFF = 0.1
_REPLICA_TIMEOUT = 300.0
"""The time for which a leader's advice to read from a nearer replica holds, as in Java with its default
`metadata.max.age.ms`.
"""
_NOBODY = None, UNKNOWN_EPOCH
_NO_REPLICA = -1, 0.0


class SubscriptionState:
    """The partitions that a fetcher reads, and where. Called under the fetcher's lock, but for what says otherwise."""

    def __init__(self) -> None:
        self._positions: dict[TopicPartition, int] = {}
        self._asked: set[TopicPartition] = set()
        self._halted: set[TopicPartition] = set()
        self._pauses: dict[TopicPartition, float] = {}
        self._replicas: dict[TopicPartition, tuple[int, float]] = {}
        self._least_bytes: dict[TopicPartition, int] = {}
        self._gaps: list[Gap] = []
        self._reported: dict[TopicPartition, int] = {}
        """Partitions whose gaps were taken, while nobody has said where they go on -> where their logs part."""

    def resume(self, offsets: Offsets) -> None:
        """Begin here, or go on here with partitions that reported a gap."""
        self._gaps = [gap for gap in self._gaps if gap.topic_partition not in offsets]
        for partition in offsets:
            self._reported.pop(partition, None)
        self._positions |= offsets
        self._halted -= offsets.keys()

    def hold(self, partition: TopicPartition, offset: int) -> None:
        """Stop before this offset until `release`."""
        self._halted.add(partition)
        self._positions[partition] = offset  # an answer that is under way is out of place now

    def release(self, partition: TopicPartition) -> None:
        """Read on where `hold` has stopped, unless there is a gap."""
        self._halted -= {partition} - {gap.topic_partition for gap in self._gaps} - self._reported.keys()

    def is_settled(self) -> bool:
        """Return True while brokers are asked for all partitions."""
        return not self._halted and self._positions.keys() <= self._asked

    # --- asking

    def places(self, leaders: Mapping[TopicPartition, Leadership], now: float) -> Iterator[tuple[Wanted, int | None]]:
        """Yield the next read of each partition and its broker; None while it has no leader."""
        for partition, offset in self._positions.items():
            node, epoch = leaders.get(partition, _NOBODY)
            replica, until = self._replicas.get(partition, _NO_REPLICA)
            least = self._least_bytes.get(partition, 0)
            yield Wanted(partition, offset, epoch, least), replica if now < until else node

    def wanted(self, node: int, leaders: Mapping[TopicPartition, Leadership]) -> list[Wanted]:
        """Return what this broker may be asked for now."""
        now = monotonic()
        return [
            want
            for want, reads_from in self.places(leaders, now)
            if reads_from == node
            and want.partition not in self._asked
            and want.partition not in self._halted
            and self._pauses.get(want.partition, 0.0) <= now
        ]

    def ask(self, wanted: Iterable[Wanted]) -> None:
        """Note that a broker is asked for these."""
        self._asked.update(want.partition for want in wanted)

    def answered(self, partitions: Iterable[TopicPartition]) -> None:
        """Note that the broker has answered."""
        self._asked.difference_update(partitions)

    def unanswered(self, partition: TopicPartition) -> None:
        """Note that the broker has not answered: ask its leader, after a pause."""
        self._asked.discard(partition)
        self.retry(partition)

    def go_on(self, fetched: CompletedFetch, next_offset: int) -> bool:
        """Read on behind this; return False where the partition goes on elsewhere since it was asked for."""
        partition = fetched.partition
        if self._positions.get(partition) != fetched.position:
            return False
        if fetched.record_set.batches:
            self._positions.pop(partition)  # it is asked for last the next time
        self._positions[partition] = next_offset
        return True

    # --- what an answer says of a partition; without the lock, too

    def pause(self, partition: TopicPartition) -> None:
        """Ask for it no sooner than after a pause."""
        self._pauses[partition] = monotonic() + RETRY_BACKOFF

    def retry(self, partition: TopicPartition) -> None:
        """Ask its leader for it, after a pause."""
        self._replicas.pop(partition, None)
        self.pause(partition)

    def read_from(self, partition: TopicPartition, replica: int) -> None:
        """Read it from a nearer broker than its leader for a while."""
        self._replicas[partition] = (replica, monotonic() + _REPLICA_TIMEOUT)

    def ask_for_bytes(self, partition: TopicPartition, least: int) -> None:
        """Ask for so many bytes at least, because its next batch has as many; 0: any number will do."""
        if least:
            self._least_bytes[partition] = least
        else:
            self._least_bytes.pop(partition, None)

    # --- gaps

    def has_gaps(self) -> bool:
        """Return True if there are gaps to take; without the lock, too."""
        return bool(self._gaps)

    def report(self, gap: Gap) -> None:
        """Stop reading a partition until somebody says where it goes on."""
        self._halted.add(gap.topic_partition)
        self._gaps.append(gap)

    def take_gaps(self, busy: Collection[TopicPartition]) -> list[Gap]:
        """Return gaps found since the last call, but of `busy` partitions."""
        found = [gap for gap in self._gaps if gap.topic_partition not in busy]
        self._gaps = [gap for gap in self._gaps if gap.topic_partition in busy]
        self._reported |= {gap.topic_partition: gap.parts_at for gap in found}
        return found

    def parted_at(self, partition: TopicPartition) -> int:
        """Return where the log of a partition that reported a gap parts from what was read; -1: it does not, or that
        is unknown.
        """
        return self._reported.get(partition, -1)

    def awaited(self, offsets: Offsets) -> Offsets:
        """Return those whose partitions reported a gap and stand still; others have gone on elsewhere since."""
        return {partition: offset for partition, offset in offsets.items() if partition in self._reported}
