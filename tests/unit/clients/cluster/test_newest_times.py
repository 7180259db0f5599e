"""The youngest record of each partition, asked of the leaders that know it."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

from typing_extensions import override

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.newest_times import newest_times
from legacy_mm.clients.cluster.topology import Broker
from legacy_mm.clients.net.connection_errors import ConnectionLost, UnsupportedVersion
from tests.fakes.cluster import FakeCluster

PLACES = [TopicPartition("t", number) for number in range(4)]


class Leaders(FakeCluster):
    """Partition 0 and 1 are led by broker 1, 2 by broker 2, and 3 by none."""

    def __init__(self, trouble: Exception) -> None:
        super().__init__()
        self.trouble = trouble
        self.asked: list[Any] = []

    @override
    def watch(self, topics: Collection[str], *, create: bool = False) -> None:
        assert set(topics) == {"t"}

    @override
    def leader_epoch(self, partition: TopicPartition) -> int:
        return -1

    @override
    def leader(self, partition: TopicPartition) -> Broker | None:
        node = {0: 1, 1: 1, 2: 2}.get(partition.partition)
        return None if node is None else Broker(node, "there", 1, None)

    @override
    def call(self, node: int, request: Any, patience: float = 0.0) -> Any:
        self.asked.append(request)
        if node == 2:
            raise self.trouble
        rows = [(0, 0, 7, 1_700), (1, 0, -1, -1)]  # the second one holds nothing
        partitions = [
            SimpleNamespace(partition_index=number, error_code=code, offset=offset, timestamp=time)
            for number, code, offset, time in rows
        ]
        return SimpleNamespace(topics=[SimpleNamespace(name="t", partitions=partitions)])


def test_only_partitions_with_records_whose_leader_tells() -> None:
    for trouble in (ConnectionLost("gone"), UnsupportedVersion("too old")):
        cluster = Leaders(trouble)
        assert newest_times(cluster, PLACES, 5.0) == {PLACES[0]: 1_700}
        assert {row.timestamp for each in cluster.asked for topic in each.topics for row in topic.partitions} == {-3}
