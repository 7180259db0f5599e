"""Detects that a log no longer holds what was read of it: offsets do not tell once a new log is as long as the old one.

A new leader may have another log (unclean election). It is asked once for each change of leaders, as Java's consumer
does; brokers before 2.4 have no epoch to ask about. A position that was stored with its epoch is compared in the same
way before the first fetch. A topic that was deleted and recreated has another id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from kafka.protocol.consumer import OffsetForLeaderEpochRequest

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.topology import UNKNOWN_EPOCH
from legacy_mm.clients.net.connection_errors import UnsupportedVersion
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.fetch_messages import FetchedPartition, Wanted

TopicIds = Mapping[str, object]
"""Topic -> its id, for brokers that know ids."""
_SINCE = 3
"""The first version of the request that consumers may use."""


class Doubt(NamedTuple):
    """A partition whose log is not certain to be the one that was read."""

    wanted: Wanted
    parts_at: int | None
    """The offset at which it parts from that; -1: its leader does not know the epoch; None: not compared yet."""


class PositionValidator:
    """The log each partition was read from: its topic's id, its leader epoch, and the epoch that was last compared."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read: dict[TopicPartition, int] = {}
        self._stored: set[TopicPartition] = set()
        """Their epoch was stored with the position; nothing was read since."""
        self._compared: dict[TopicPartition, int] = {}
        self._ids: dict[TopicPartition, object] = {}
        self._left: set[object] = set()

    def note(self, partition: TopicPartition, epoch: int) -> None:
        """Note the leader epoch of the last batch that was read."""
        self._read[partition] = epoch
        self._stored.discard(partition)

    def stored(self, epochs: Mapping[TopicPartition, int]) -> None:
        """Note the leader epochs that were stored with positions; -1: unknown."""
        self._read |= epochs
        self._stored |= epochs.keys()

    def epoch(self, partition: TopicPartition) -> int:
        """Return the leader epoch of the last batch that was read, or that was stored; -1: unknown."""
        return self._read.get(partition, UNKNOWN_EPOCH)

    def forget(self, partitions: Iterable[TopicPartition]) -> None:
        """Forget what was read of these partitions, which are read from another position now."""
        for partition in partitions:
            self._read.pop(partition, None)
            self._compared.pop(partition, None)
            self._stored.discard(partition)

    def belong(self, partitions: Iterable[TopicPartition], ids: TopicIds) -> None:
        """Note the topics that the positions of these partitions belong to: any other topic is a recreated one."""
        for partition in partitions:
            if partition.topic in ids:
                self._ids[partition] = ids[partition.topic]

    def recreated(self, wanted: Iterable[Wanted]) -> list[Wanted]:
        """Return the partitions whose topic id differs from the noted one, once for each new id.

        Java's consumer loses such a partition with the topic, and finds it without a committed offset. An abandoned id
        does not come back: a broker that reports it lags.
        """
        now, known = self._cluster.metadata.topic_ids(), self._ids
        news = [want for want in wanted if known.get(want.partition) is not now.get(want.partition.topic)]
        found = [want for want in news if self._is_another(want.partition, now.get(want.partition.topic))]
        self._left.update(known[want.partition] for want in found)
        known.update({want.partition: now[want.partition.topic] for want in found})
        return found

    def is_recreated(self, partition: TopicPartition, offset: int) -> bool:
        """Return True if `recreated` names this partition, which is to be read from this offset on."""
        return bool(self.recreated([Wanted(partition, offset, self._cluster.metadata.leader_epoch(partition))]))

    def ask_for_ids(self, partitions: Iterable[FetchedPartition]) -> None:
        """Ask for the ids of topics before an offset that is out of range is judged: the topic may be a recreated one.

        The leader is asked, because it has the log: other brokers may not know the new topic yet.
        """
        judged = [answer.partition for answer in partitions if error_codes.is_out_of_range(answer.error)]
        if judged:
            leader = self._cluster.metadata.leader(judged[0])
            self._cluster.metadata.refresh(leader.node if leader else None)

    def _is_another(self, partition: TopicPartition, now: object | None) -> bool:
        if now is None or now in self._left:
            return False
        if self._ids.get(partition, now) != now:
            return True
        self._ids[partition] = now  # the same object, while brokers are not asked again
        return False

    def doubts(self, wanted: Iterable[Wanted]) -> list[Doubt]:
        """Return the partitions that must not be read on; ask leaders only where they are new. Raise ConnectionLost."""
        changed = {want.partition: want for want in wanted if self._is_new(want)}
        by_leader: defaultdict[int, list[Wanted]] = defaultdict(list)
        found = []
        for partition, want in changed.items():
            if leader := self._cluster.metadata.leader(partition):
                by_leader[leader.node].append(want)
            else:
                found.append(Doubt(want, None))
        for node, wants in by_leader.items():
            found += self._compare(node, {want.partition: want for want in wants})
        for partition in changed.keys() - {doubt.wanted.partition for doubt in found}:
            self._compared[partition] = changed[partition].leader_epoch
        return found

    def _compare(self, node: int, wanted: Mapping[TopicPartition, Wanted]) -> Iterator[Doubt]:
        with suppress(UnsupportedVersion):
            for topic in self._cluster.call(node, self._request(wanted.values())).topics:
                for row in topic.partitions:
                    want = wanted[TopicPartition(topic.topic, row.partition)]
                    if row.error_code:
                        if error_codes.is_retriable(row.error_code):
                            yield Doubt(want, None)
                    elif 0 <= row.end_offset < want.offset or (row.end_offset < 0 and want.partition in self._stored):
                        yield Doubt(want, row.end_offset)

    def _is_new(self, want: Wanted) -> bool:
        read, compared = self._read.get(want.partition, -1), self._compared.get(want.partition, -1)
        differs = read < want.leader_epoch or want.partition in self._stored and read != want.leader_epoch
        return read >= 0 and differs and compared < want.leader_epoch

    def _request(self, wanted: Iterable[Wanted]) -> Any:
        topics: defaultdict[str, list[Any]] = defaultdict(list)
        for (topic, partition), _, epoch, _ in wanted:
            row = OffsetForLeaderEpochRequest.OffsetForLeaderTopic.OffsetForLeaderPartition(
                partition=partition,
                current_leader_epoch=epoch,
                leader_epoch=self._read[TopicPartition(topic, partition)],
            )
            topics[topic].append(row)
        rows = [
            OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=topic, partitions=partitions)
            for topic, partitions in topics.items()
        ]
        return OffsetForLeaderEpochRequest(replica_id=-1, topics=rows, min_version=_SINCE)
