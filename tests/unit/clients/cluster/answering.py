"""Brokers that are functions: they answer Metadata requests, and count them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net.connection_errors import ConnectionLost

ORDERS = TopicPartition("orders", 0)
PROPERTIES = {
    "bootstrap.servers": "one:1, [::1]:2",
    "reconnect.backoff.ms": "0",
    "retry.backoff.ms": "100",
    "topic.metadata.refresh.interval.ms": "1000",
}


class Asked:
    """Answers Metadata requests, and counts them."""

    def __init__(self) -> None:
        self.topics: list[str] = []
        self.times = 0
        self.error = 0

    def __call__(self, request: Any) -> Any:
        self.times += 1
        self.topics = [topic.name for topic in request.topics]
        partition = SimpleNamespace(partition_index=0, leader_id=1, leader_epoch=self.times, error_code=0)
        partitions = [] if self.error else [partition]
        rows = [
            SimpleNamespace(name=topic.name, topic_id=UUID(int=1), error_code=self.error, partitions=partitions)
            for topic in request.topics
        ]
        brokers = [SimpleNamespace(node_id=1, host="one", port=1, rack="r")]
        return SimpleNamespace(version=9, brokers=brokers, topics=rows)


class Connected:
    """A connection to a broker that answers, as long as it is open."""

    def __init__(self) -> None:
        self.open = True

    def call(self, request: Any, patience: float) -> Any:
        if not self.open:
            raise ConnectionLost("closed")
        return Asked()(request)

    def is_open(self) -> bool:
        return self.open

    def close(self) -> None:
        self.open = False
