"""The kept clients that ask for offsets."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from legacy_mm.audit import cluster_access


class _Consumer:
    """Knows the partition, but no leader of it, while it is the first that was made."""

    made = 0

    def __init__(self, settings: dict[str, Any]) -> None:
        _Consumer.made += 1
        self.number = _Consumer.made

    def list_topics(self, topic: str, timeout: float) -> Any:
        return SimpleNamespace(topics={topic: SimpleNamespace(error=None, partitions={0: None})})

    def get_watermark_offsets(self, place: TopicPartition, timeout: float, cached: bool) -> tuple[int, int]:
        if self.number == 1:
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION))
        return 3, 7


@pytest.fixture(autouse=True)
def consumers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(cluster_access, "Consumer", _Consumer)
    monkeypatch.setattr(_Consumer, "made", 0)
    cluster_access.forget_clients()
    yield
    cluster_access.forget_clients()


def test_a_client_whose_cache_has_no_leader_is_replaced() -> None:
    """librdkafka asks no broker again for a partition whose leader its cache calls unknown."""
    assert cluster_access.end_offsets("broker:9092", "orders") == {0: 7}
    assert _Consumer.made == 2
