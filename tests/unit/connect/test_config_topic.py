"""Connect's topic of configurations, in the words of Connect's own workers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.connect import config_topic
from legacy_mm.connect.config_topic import ConfigTopic, RestartWish
from legacy_mm.connect.entities import TargetState
from tests.unit.flow_settings import flow_settings

NAME = "connect-configs"


class Cluster:
    """A topic in memory, and what was asked of it."""

    def __init__(self) -> None:
        self.partitions = {NAME: 1}
        self.policy = "compact"
        self.records: dict[bytes, LogRecord] = {}
        self.created: list[Any] = []
        self.refusal = ""
        self.closed: list[str] = []

    def admin(self, *_: Any) -> Any:
        row = SimpleNamespace(name="cleanup.policy", value=self.policy)
        return SimpleNamespace(
            topics=lambda deadline: self.partitions,
            properties=lambda topics, deadline: ({NAME: [row]}, {}),
            create_topics=self._create,
        )

    def latest(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace(read=lambda silence: self.records, close=lambda: self.closed.append("reader"))

    def writer(self, connection: Any, topic: str, told: Any, **_: Any) -> Any:
        def send(key: bytes, value: bytes | None) -> bool:
            self.put(key.decode(), value)
            told(key, self.refusal or None)
            return True

        return SimpleNamespace(send=send, flush=lambda deadline: True, close=lambda: self.closed.append("writer"))

    def put(self, key: str, value: bytes | None) -> None:
        self.records.pop(key.encode(), None)
        self.records[key.encode()] = LogRecord(len(self.records), 1, False, key.encode(), value, ())

    def json(self) -> dict[str, Any]:
        return {key.decode(): json.loads(record.value or b"null") for key, record in self.records.items()}

    def _create(self, wanted: Any, deadline: Deadline) -> Any:
        self.created += wanted
        if not self.refusal:
            self.partitions[NAME] = 1
        return [SimpleNamespace(error=self.refusal)]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    monkeypatch.setattr(config_topic, "NativeAdmin", found.admin)
    monkeypatch.setattr(config_topic, "CompactedTopic", found.latest)
    monkeypatch.setattr(config_topic, "InternalTopicWriter", found.writer)
    return found


@pytest.fixture
def topic(cluster: Cluster) -> ConfigTopic:
    return ConfigTopic(flow_settings().target.connection, NAME, 3)


def test_what_a_worker_of_connect_has_written_is_read(cluster: Cluster, topic: ConfigTopic) -> None:
    rows: Mapping[str, bytes | None] = {
        "session-key": b'{"key":"x"}',
        "connector-a": b'{"properties":{"name":"a","tasks.max":"2","left.out":null}}',
        "connector-b->c": b'{"schema":{},"payload":{"properties":{"name":"b"}}}',
        "connector-gone": None,
        "connector-broken": b"{",
        "target-state-a": b'{"state":"PAUSED","state.v2":"STOPPED"}',
        "target-state-b->c": b'{"state":"PAUSED"}',
        "target-state-x": b'{"state":"DANCING"}',
        "task-a-0": b'{"properties":{"task.assigned.partitions":"t-0"}}',
        "commit-a": b'{"tasks":1}',
        "restart-connector-a": b'{"include-tasks":true,"only-failed":false}',
    }
    for key, value in rows.items():
        cluster.put(key, value)
    found = topic.read()
    assert found.configs == {"a": {"name": "a", "tasks.max": "2"}, "b->c": {"name": "b"}}
    assert found.targets == {"a": TargetState.STOPPED, "b->c": TargetState.PAUSED}
    assert found.restarts == {"a": RestartWish(10, include_tasks=True, only_failed=False)}


def test_what_is_kept_is_in_connect_s_words(cluster: Cluster, topic: ConfigTopic) -> None:
    topic.put("a", {"name": "a"}, TargetState.PAUSED)
    assert list(cluster.json()) == ["target-state-a", "connector-a"], "the state first: nobody runs it before"
    topic.put_target("a", TargetState.STOPPED)
    topic.ask_for_restart("a", include_tasks=True, only_failed=True)
    assert cluster.json() == {
        "connector-a": {"properties": {"name": "a"}},
        "commit-a": {"tasks": 0},
        "target-state-a": {"state": "PAUSED", "state.v2": "STOPPED"},
        "restart-connector-a": {"include-tasks": True, "only-failed": True},
    }
    topic.put_target("a", TargetState.STARTED)
    assert cluster.json()["target-state-a"] == {"state": "STARTED", "state.v2": "STARTED"}
    topic.forget("a")
    assert (cluster.json()["connector-a"], cluster.json()["target-state-a"]) == (None, None)
    topic.close()
    assert cluster.closed == ["writer", "reader"]


def test_a_record_that_cannot_be_written_is_an_error(cluster: Cluster, topic: ConfigTopic) -> None:
    cluster.refusal = "not authorized"
    with pytest.raises(HostError, match="connectors cannot be kept in topic connect-configs: not authorized"):
        topic.put("a", {})
    cluster.refusal = ""
    topic.put("a", {})


def test_a_topic_that_is_missing_is_made(cluster: Cluster, topic: ConfigTopic) -> None:
    topic.prepare()
    assert cluster.created == []
    cluster.partitions.clear()
    topic.prepare()
    ((made),) = cluster.created
    assert (made.topic, made.partitions, made.replication_factor) == (NAME, 1, 3)
    assert made.configs == {"cleanup.policy": "compact"}


def test_a_topic_that_cannot_keep_connectors_is_refused(cluster: Cluster, topic: ConfigTopic) -> None:
    """In Connect's words."""
    cluster.partitions[NAME] = 5
    with pytest.raises(ConfigurationError, match="required to have a single partition .* but found 5 partitions"):
        topic.prepare()
    cluster.partitions.clear()
    cluster.refusal = "Topic creation is not allowed"
    with pytest.raises(HostError, match="which keeps the connectors, cannot be made: Topic creation is not allowed"):
        topic.prepare()
    cluster.partitions[NAME], cluster.policy = 1, "delete"
    refused = ConfigTopic(flow_settings().target.connection, NAME, 3)
    with pytest.raises(ConfigurationError, match="topic currently has 'cleanup.policy=delete'"):
        refused.prepare()
