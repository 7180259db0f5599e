"""Connect's topic of configurations: the connectors of all workers of a group, as Connect itself keeps them.

The last record of a key counts. Ours are those that Connect writes, so that its workers take the connectors over; the
configurations of tasks are left alone, because a connector makes them anew when it starts. Source: Kafka's
`KafkaConfigBackingStore`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.clients.topics.compacted_topic import CompactedTopic
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter
from legacy_mm.connect.entities import Config, TargetState
from legacy_mm.policies.changes import CreateTopic

_CLIENT = "legacy_mm-configs"
_CONNECTOR, _TARGET, _RESTART = "connector-", "target-state-", "restart-connector-"
_TASKS = "commit-"
"""The key of the number of a connector's tasks."""
_TARGETS: Mapping[Any, TargetState] = {each.value: each for each in TargetState}
_POLICY, _COMPACT = "cleanup.policy", "compact"
_TIMEOUT, _KNOWN_BY, _RETRY_BACKOFF = 20.0, 10.0, 0.2


@dataclass(frozen=True, slots=True)
class RestartWish:
    """A restart that somebody has asked for; `offset` tells one from another."""

    offset: int
    include_tasks: bool
    only_failed: bool


@dataclass(frozen=True, slots=True)
class StoredConnectors:
    """Holds what the topic says at present."""

    configs: Mapping[str, Config] = field(default_factory=dict, repr=False)
    targets: Mapping[str, TargetState] = field(default_factory=dict)
    restarts: Mapping[str, RestartWish] = field(default_factory=dict)

    def target(self, name: str) -> TargetState:
        """Return what a connector is to do: run, unless somebody has said otherwise."""
        return self.targets.get(name, TargetState.STARTED)


class ConfigTopic:
    """The topic of one group of workers. For one thread at a time."""

    def __init__(self, connection: ConnectionSettings, topic: str, replication_factor: int) -> None:
        """Take the way to the workers' cluster. Raise HostError for settings of no client."""
        self.name = topic
        self._replication_factor = replication_factor
        self._admin = NativeAdmin("target", connection)
        self._latest = CompactedTopic(connection, topic, _CLIENT, stays_connected=True)
        self._failed: list[str] = []
        self._writer = InternalTopicWriter(connection, topic, self._told, give_up_seconds=_TIMEOUT)

    def prepare(self) -> None:
        """Make the topic if it is missing; raise HostError, and ConfigurationError for one that Connect refuses."""
        deadline = Deadline.after(_TIMEOUT)
        partitions = self._admin.topics(deadline).get(self.name, 0)
        if not partitions:
            self._make(deadline)
        elif partitions > 1:
            raise ConfigurationError(
                f"Topic '{self.name}' supplied via the 'config.storage.topic' property is required to have a single "
                "partition in order to guarantee consistency of connector configurations, but found "
                f"{partitions} partitions."
            )
        found, _ = self._admin.properties({self.name}, deadline)
        policy = next((each.value for each in found.get(self.name, ()) if each.name == _POLICY), _COMPACT)
        if policy != _COMPACT:
            raise ConfigurationError(
                f"Topic '{self.name}' supplied via the 'config.storage.topic' property is required to have "
                f"'{_POLICY}={_COMPACT}' to guarantee consistency and durability of connector configurations, but "
                f"found the topic currently has '{_POLICY}={policy}'."
            )

    def read(self) -> StoredConnectors:
        """Return what the topic says up to its present end; raise HostError."""
        configs: dict[str, Config] = {}
        targets: dict[str, TargetState] = {}
        restarts: dict[str, RestartWish] = {}
        for key, record in self._latest.read(_TIMEOUT).items():
            kind, name = _parts(key.decode(errors="replace"))
            content = _content(record)
            if kind == _CONNECTOR and isinstance(properties := content.get("properties"), dict):
                configs[name] = {str(each): str(text) for each, text in properties.items() if text is not None}
            elif kind == _TARGET and (target := _TARGETS.get(content.get("state.v2", content.get("state")))):
                targets[name] = target
            elif kind == _RESTART and content:
                words = content.get("include-tasks", False), content.get("only-failed", False)
                restarts[name] = RestartWish(record.offset, *map(bool, words))
        return StoredConnectors(configs, targets, restarts)

    def put(self, name: str, config: Config, target: TargetState | None = None) -> None:
        """Keep a connector; `target`: what it is to do, of one that is new. Raise HostError."""
        records = {} if target is None else {f"{_TARGET}{name}": _state(target)}
        self._write({**records, f"{_CONNECTOR}{name}": {"properties": dict(config)}})

    def forget(self, name: str) -> None:
        """Forget a connector and what it was to do. Raise HostError."""
        self._write({f"{_CONNECTOR}{name}": None, f"{_TARGET}{name}": None})

    def put_target(self, name: str, target: TargetState) -> None:
        """Keep what a connector is to do; of one that is stopped Connect forgets the tasks. Raise HostError."""
        no_tasks = {f"{_TASKS}{name}": {"tasks": 0}} if target is TargetState.STOPPED else {}
        self._write({**no_tasks, f"{_TARGET}{name}": _state(target)})

    def ask_for_restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> None:
        """Tell all workers to restart a connector. Raise HostError."""
        self._write({f"{_RESTART}{name}": {"include-tasks": include_tasks, "only-failed": only_failed}})

    def close(self) -> None:
        """Close the clients, once nobody reads."""
        self._writer.close()
        self._latest.close()

    def _make(self, deadline: Deadline) -> None:
        wanted = CreateTopic(self.name, 1, self._replication_factor, {_POLICY: _COMPACT})
        for outcome in self._admin.create_topics([wanted], deadline):
            if outcome.error:
                raise HostError(f"topic {self.name}, which keeps the connectors, cannot be made: {outcome.error}")
        known_by = Deadline.after(_KNOWN_BY)
        while self.name not in self._admin.topics(deadline):
            if known_by.expired():
                raise HostError(f"topic {self.name}, which keeps the connectors, was made, and no broker knows it yet")
            sleep(_RETRY_BACKOFF)

    def _told(self, _: bytes, reason: str | None) -> None:
        if reason is not None:
            self._failed.append(reason)

    def _write(self, records: Mapping[str, Mapping[str, Any] | None]) -> None:
        self._failed.clear()
        for key, value in records.items():
            self._writer.send(
                key.encode(), None if value is None else json.dumps(value, separators=(",", ":")).encode()
            )
        if not self._writer.flush(Deadline.after(_TIMEOUT)) or self._failed:
            why = (self._failed or ["timed out"])[0]
            raise HostError(f"connectors cannot be kept in topic {self.name}: {why}")


def _state(target: TargetState) -> dict[str, str]:
    """Return the words for a state; workers before 3.5 know no STOPPED and pause instead."""
    old = TargetState.PAUSED if target is TargetState.STOPPED else target
    return {"state": old.value, "state.v2": target.value}


def _parts(key: str) -> tuple[str, str]:
    for kind in (_CONNECTOR, _TARGET, _RESTART):
        if key.startswith(kind):
            return kind, key.removeprefix(kind)
    return "", key


def _content(record: LogRecord) -> Mapping[str, Any]:
    """Return the object in a record; nothing for one that was deleted, or that is none."""
    try:
        found = json.loads(record.value or b"null")
    except ValueError:
        return {}
    if isinstance(found, dict) and set(found) == {"schema", "payload"}:  # of a worker with schemas in its topics
        found = found["payload"]
    return found if isinstance(found, dict) else {}
