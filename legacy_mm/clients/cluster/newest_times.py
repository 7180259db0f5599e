"""The time of the youngest record of a partition, as its leader knows it (since 3.0)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from kafka.protocol.consumer import ListOffsetsRequest

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ConnectionLost, UnsupportedVersion

_YOUNGEST = -3
_SINCE = 7
"""The first version of ListOffsets that knows this word; older brokers take it for a time."""


def newest_times(cluster: Cluster, partitions: Collection[TopicPartition], timeout: float) -> dict[TopicPartition, int]:
    """Return the time, in ms since 1970, of each partition that holds records and whose leader tells.

    Raise StreamFailure where a retry is useless.
    """
    cluster.metadata.watch({partition.topic for partition in partitions})
    led: defaultdict[int, list[TopicPartition]] = defaultdict(list)
    for partition in partitions:
        if leader := cluster.metadata.leader(partition):
            led[leader.node].append(partition)
    found: dict[TopicPartition, int] = {}
    for node, theirs in led.items():
        try:
            answer = cluster.call(node, _request(cluster, theirs, timeout), timeout)
        except (ConnectionLost, UnsupportedVersion):
            continue
        for topic in answer.topics:
            for row in topic.partitions:
                if not row.error_code and row.offset >= 0:
                    found[TopicPartition(topic.name, row.partition_index)] = row.timestamp
    return found


def _request(cluster: Cluster, partitions: Collection[TopicPartition], timeout: float) -> Any:
    topics: defaultdict[str, list[Any]] = defaultdict(list)
    for partition in partitions:
        row = ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition(
            partition_index=partition.partition,
            current_leader_epoch=cluster.metadata.leader_epoch(partition),
            timestamp=_YOUNGEST,
            max_num_offsets=1,
        )
        topics[partition.topic].append(row)
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=0,
        topics=[ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=rows) for name, rows in topics.items()],
        timeout_ms=int(timeout * 1000),
        min_version=_SINCE,
    )
