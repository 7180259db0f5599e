"""What all clients of librdkafka share."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from legacy_mm.kafka import client
from legacy_mm.kafka.client import LibrdkafkaTopicLister, admin_properties


class Unanswered:
    """librdkafka's own, whose answers nobody waits for."""

    def __init__(self, properties: Any) -> None:
        self._admin = AdminClient(properties)

    def describe_topics(self, topics: Any, request_timeout: float) -> dict[str, Any]:
        self._admin.describe_topics(topics, request_timeout=request_timeout)
        return {}


@pytest.mark.parametrize("default_api_timeout_ms", [1, 60_000, 3_600_001, 2**31 - 1])
def test_topics_are_described_whatever_the_time_for_an_answer(
    monkeypatch: pytest.MonkeyPatch, default_api_timeout_ms: int
) -> None:
    """librdkafka takes an hour at most; more, as people write for "never", ended the mirror at its first look."""
    monkeypatch.setattr(client, "AdminClient", Unanswered)
    lister = LibrdkafkaTopicLister({"bootstrap.servers": "127.0.0.1:1"}, default_api_timeout_ms / 1000)
    assert lister.topic_ids(["t"]) == {}


def test_what_a_file_says_about_the_way_to_the_brokers_counts_for_every_client() -> None:
    way = {
        "bootstrap.servers": "one:1",
        "broker.address.family": "v4",
        "api.version.request": "false",
        "broker.version.fallback": "0.9.0.1",
    }
    assert admin_properties({**way, "group.id": "g", "fetch.min.bytes": "1"}) == way
