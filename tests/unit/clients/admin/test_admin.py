"""How many things a broker is asked for at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.policies.changes import AddPartitions, CreateTopic, SetConfig
from tests.fixtures import client_settings

ADDRESS = client_settings.read_connection({"bootstrap.servers": "nowhere.invalid:1"})
TOPICS = [f"t{number}" for number in range(300)]


def test_a_controller_can_take_what_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def listed(cluster: Cluster, request: Any, **_: object) -> Any:
        """All brokers know the controller; properties are any broker's to set."""
        if not hasattr(request, "resources"):
            return SimpleNamespace(brokers=[None], controller_id=1)
        asked.append(sum(len(each.configs) for each in request.resources))
        names = [each.resource_name for each in request.resources]
        return SimpleNamespace(responses=[SimpleNamespace(resource_name=name, error_code=0) for name in names])

    def controlled(cluster: Cluster, node: int, request: Any) -> Any:
        asked.append(sum(getattr(each, "num_partitions", None) or each.count for each in request.topics))
        rows = [SimpleNamespace(name=each.name, error_code=0) for each in request.topics]
        return SimpleNamespace(topics=rows, results=rows)

    monkeypatch.setattr(Cluster, "call_any", listed)
    monkeypatch.setattr(Cluster, "call", controlled)
    target, deadline = (
        NativeAdmin("target", ADDRESS),
        Deadline.after(10.0),
    )
    for outcomes in (
        target.create_topics([CreateTopic(topic, 50, -1) for topic in TOPICS], deadline),
        target.add_partitions([AddPartitions(topic, 0, 50) for topic in TOPICS], deadline),
        target.alter([SetConfig(topic, f"p{number}", None, "1") for topic in TOPICS for number in range(50)], deadline),
    ):
        asked.clear()
        assert not [outcome for outcome in outcomes if outcome.error]
        assert sum(asked) == 50 * len(TOPICS)
        assert max(asked) <= 5_000
