"""Whether a new leader's log still holds what was read from the one before (unclean leader election).

Asked once for each change of leaders, as Java's consumer does: offsets alone do not tell, once the new log is as long
as the old one was. Brokers before 2.4 tell no epoch to ask about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from kafka.protocol.consumer import OffsetForLeaderEpochRequest

from legacy_mm.model import TopicPartition
from legacy_mm.protocol.fetch_messages import Wanted
from legacy_mm.wire import failures
from legacy_mm.wire.cluster import Cluster
from legacy_mm.wire.errors import UnsupportedVersion

_SINCE = 3
"""The first version of the request that consumers may use."""


class Doubt(NamedTuple):
    """A partition whose log parts from what was read at this offset, or, -1, could not be compared yet."""

    wanted: Wanted
    parts_at: int


class ReadEpochs:
    """Under which leader epoch each partition was read last, and under which one that was last compared."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read: dict[TopicPartition, int] = {}
        self._compared: dict[TopicPartition, int] = {}

    def note(self, partition: TopicPartition, epoch: int) -> None:
        """The last batch that was read carries this epoch."""
        self._read[partition] = epoch

    def forget(self, partitions: Iterable[TopicPartition]) -> None:
        """These are read from elsewhere: nothing is known of what is before."""
        for partition in partitions:
            self._read.pop(partition, None)

    def doubts(self, wanted: Iterable[Wanted]) -> list[Doubt]:
        """Those that must not be read on; leaders are asked only where they are new. Raises ConnectionLost."""
        changed = {want.partition: want for want in wanted if self._is_new(want)}
        by_leader: defaultdict[int, list[Wanted]] = defaultdict(list)
        found = []
        for partition, want in changed.items():
            if leader := self._cluster.leader(partition):
                by_leader[leader.node].append(want)
            else:
                found.append(Doubt(want, -1))
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
                    if row.error_code and failures.is_retriable(row.error_code):
                        yield Doubt(want, -1)
                    elif 0 <= row.end_offset < want.offset:
                        yield Doubt(want, row.end_offset)

    def _is_new(self, want: Wanted) -> bool:
        read = self._read.get(want.partition, -1)
        return 0 <= read < want.leader_epoch and self._compared.get(want.partition, -1) < want.leader_epoch

    def _request(self, wanted: Iterable[Wanted]) -> Any:
        topics: defaultdict[str, list[Any]] = defaultdict(list)
        for (topic, partition), _, epoch in wanted:
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
