"""How many things librdkafka's admin client is asked for at once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from legacy_mm.clients.librdkafka import admin
from legacy_mm.clients.librdkafka.admin import LibrdkafkaAdmin
from legacy_mm.clock import Deadline
from legacy_mm.config import property_names
from legacy_mm.policies.changes import AddPartitions, CreateTopic, SetConfig

TOPICS = [f"t{number}" for number in range(300)]


class Client:
    """An admin client that can do everything, and notes how much it was asked for at once."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def _done(self, items: Sequence[Any], sizes: Sequence[int]) -> dict[Any, Future[None]]:
        self.asked.append(sum(sizes))
        done: Future[None] = Future()
        done.set_result(None)
        return dict.fromkeys(items, done)

    def create_topics(self, new: Sequence[Any], **_: Any) -> dict[Any, Future[None]]:
        return self._done([each.topic for each in new], [each.num_partitions for each in new])

    def create_partitions(self, new: Sequence[Any], request_timeout: float) -> dict[Any, Future[None]]:
        return self._done([each.topic for each in new], [each.new_total_count for each in new])

    def incremental_alter_configs(self, resources: Sequence[Any], **_: Any) -> dict[Any, Future[None]]:
        return self._done(resources, [len(each.incremental_configs) for each in resources])


def test_a_controller_can_take_what_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    client, deadline = Client(), Deadline.after(10.0)
    monkeypatch.setattr(admin, "AdminClient", lambda properties: client)
    target = LibrdkafkaAdmin("target", property_names.read_connection({"bootstrap.servers": "nowhere.invalid:1"}))
    for outcomes in (
        target.create_topics([CreateTopic(topic, 50, -1) for topic in TOPICS], deadline),
        target.add_partitions([AddPartitions(topic, 0, 50) for topic in TOPICS], deadline),
        target.alter([SetConfig(topic, f"p{number}", None, "1") for topic in TOPICS for number in range(50)], deadline),
    ):
        client.asked.clear()
        assert not [outcome for outcome in outcomes if outcome.error]
        assert sum(client.asked) == 50 * len(TOPICS)
        assert max(client.asked) <= 5_000
