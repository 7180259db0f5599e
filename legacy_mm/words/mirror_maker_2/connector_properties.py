"""The properties that MirrorMaker 2's connectors define, one row each, and how Connect reads their values.

Source: the ConfigDefs of Kafka 3.9.1, which has the names of 4.x and those that 4.0 removed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE

ConnectorKind = Literal["source", "checkpoint", "heartbeat"]
CONNECTORS: Mapping[ConnectorKind, str] = {
    "source": "MirrorSourceConnector",
    "heartbeat": "MirrorHeartbeatConnector",
    "checkpoint": "MirrorCheckpointConnector",
}
"""In the order in which the driver configures them."""

OWN_FLAGS = frozenset(flag.name for flag in EXACTLY_ONCE.flags)
"""Flags of this mirror that such a file may have beside them, for all flows or for one."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
_LIMITS = {"short": 2**15 - 1, "int": 2**31 - 1, "long": 2**63 - 1}
_LEAST = {"tasks.max": 1}


@dataclass(frozen=True, slots=True)
class ConnectorProperty:
    """One property: the connectors that define it, and its type and default there."""

    name: str
    connectors: str
    """First letters: s, c, h."""
    type: str = "string"
    """Words with `|` between them: it is one of them, in any case where they are capitals."""
    default: str = ""

    def belongs_to(self, connector: ConnectorKind) -> bool:
        """Return True if that connector defines it."""
        return connector[0] in self.connectors


def _rows(connectors: str, *rows: str) -> list[ConnectorProperty]:
    """Make rows of `name type default`; what is left out is a string, and empty."""
    return [ConnectorProperty(name, connectors, *rest) for name, *rest in (row.split(None, 2) for row in rows)]


ROWS = (
    *_rows(
        "sch",
        "name",
        "connector.class",
        "tasks.max int 1",
        "tasks.max.enforce boolean true",
        "key.converter",
        "value.converter",
        "header.converter",
        "transforms list",
        "predicates list",
        "config.action.reload NONE|RESTART restart",
        "errors.retry.timeout long 0",
        "errors.retry.delay.max.ms long 60000",
        "errors.tolerance NONE|ALL none",
        "errors.log.enable boolean false",
        "errors.log.include.messages boolean false",
        "enabled boolean true",
        "source.cluster.alias",
        "target.cluster.alias string target",
        "admin.timeout.ms long 60000",
        "replication.policy.class class org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
        "replication.policy.separator string .",
        "replication.policy.internal.topic.separator.enabled boolean true",
        "forwarding.admin.class",
        "metric.reporters list",
        "auto.include.jmx.reporter boolean true",
        "metric.names.formats list legacy",
    ),
    *_rows(
        "sc",
        "topics list .*",
        "topics.exclude list",
        "topics.blacklist list",
        "topic.filter.class class org.apache.kafka.connect.mirror.DefaultTopicFilter",
        "consumer.poll.timeout.ms long 1000",
        "offset-syncs.topic.location source|target source",
        "emit.offset-syncs.enabled boolean true",
    ),
    *_rows(
        "s",
        "config.properties.exclude list",
        "config.properties.blacklist list",
        "config.property.filter.class class org.apache.kafka.connect.mirror.DefaultConfigPropertyFilter",
        "use.incremental.alter.configs string requested",
        "refresh.topics.enabled boolean true",
        "refresh.topics.interval.seconds long 600",
        "sync.topic.configs.enabled boolean true",
        "sync.topic.configs.interval.seconds long 600",
        "sync.topic.acls.enabled boolean true",
        "sync.topic.acls.interval.seconds long 600",
        "replication.factor int 2",
        "offset-syncs.topic.replication.factor short 3",
        "offset.lag.max long 100",
        "heartbeats.replication.enabled boolean true",
        "add.source.alias.to.metrics boolean false",
    ),
    *_rows(
        "c",
        "groups list .*",
        "groups.exclude list",
        "groups.blacklist list",
        "group.filter.class class org.apache.kafka.connect.mirror.DefaultGroupFilter",
        "refresh.groups.enabled boolean true",
        "refresh.groups.interval.seconds long 600",
        "emit.checkpoints.enabled boolean true",
        "emit.checkpoints.interval.seconds long 60",
        "sync.group.offsets.enabled boolean false",
        "sync.group.offsets.interval.seconds long 60",
        "checkpoints.topic.replication.factor short 3",
    ),
    *_rows(
        "h",
        "emit.heartbeats.enabled boolean true",
        "emit.heartbeats.interval.seconds long 1",
        "heartbeats.topic.replication.factor short 3",
    ),
)
BY_NAME: Mapping[str, ConnectorProperty] = {row.name: row for row in ROWS}
CHECKED = (*ROWS, ConnectorProperty("security.protocol", "sch", "PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL", "PLAINTEXT"))
"""Rows whose values Connect checks: a connector has the last one, and its clients do not read it."""
WORKER_ROWS = _rows(
    "",
    "offset.storage.replication.factor short",
    "config.storage.replication.factor short",
    "status.storage.replication.factor short",
    "offset.storage.partitions int",
    "status.storage.partitions int",
    "offset.flush.interval.ms long",
    "offset.flush.timeout.ms long",
    "session.timeout.ms int",
    "heartbeat.interval.ms int",
    "rebalance.timeout.ms int",
    "task.shutdown.graceful.timeout.ms long",
    "worker.sync.timeout.ms int",
    "worker.unsync.backoff.ms int",
)
"""Properties of a worker without whose numbers it does not start."""
CLIENT_FAMILIES = ("producer", "consumer", "admin")
FLOW_PREFIXES = tuple(
    f"{before}{client}.{after}"
    for client in CLIENT_FAMILIES
    for before, after in (("", ""), ("source.", ""), ("target.", ""), ("", "override."))
)
"""Beginnings of the keys of a flow that reach one of its clients."""
OF_SOURCE_CONNECTORS = (
    "exactly.once.support",
    "transaction.boundary",
    "transaction.boundary.interval.ms",
    "offsets.storage.topic",
    "use.defaults.from",
    "connector.client.config.override.policy",
    "listeners",
)
"""Further keys that reach a connector only as `A->B.key`."""
OPEN_FAMILIES = (
    "transforms.",
    "predicates.",
    "topic.creation.",
    "source.cluster.",
    "target.cluster.",
    "replication.policy.",
)
CONVERTER_FAMILIES = ("key.converter.", "value.converter.", "header.converter.")
"""Beginnings of the keys of a converter's own properties."""
RENAMED: Mapping[str, str] = {
    "topics.blacklist": "topics.exclude",
    "groups.blacklist": "groups.exclude",
    "config.properties.blacklist": "config.properties.exclude",
}
"""Names that 4.0 dropped -> today's."""
_SECURITY = ("ssl.", "sasl.")


def is_client_name(name: str) -> bool:
    """Return True for the names that the driver copies to all clients of a cluster."""
    return name in ("bootstrap.servers", "security.protocol") or name.startswith(_SECURITY)


def _whole(kind: str, text: str, least: int | None) -> int:
    limit = _LIMITS[kind]
    if not _NUMBER.fullmatch(text) or not -limit - 1 <= int(text) <= limit:
        raise ValueError(f"Not a number of type {kind.upper()}")
    if least is not None and int(text) < least:
        raise ValueError(f"Value must be at least {least}")
    return int(text)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text.lower() == "true"


def _one_of(words: Sequence[str], text: str) -> str:
    if text not in words and text.upper() not in words:
        raise ValueError(f"String must be one of: {', '.join(words)}")
    return text


def read(row: ConnectorProperty, text: str) -> object:
    """Return the value as Connect types it, blanks trimmed; raises ValueError in Connect's words."""
    if "|" in row.type:
        return _one_of(row.type.split("|"), text.strip())
    if row.type in _LIMITS:
        return _whole(row.type, text.strip(), _LEAST.get(row.name))
    return _boolean(text.strip()) if row.type == "boolean" else text.strip()


def java_boolean(text: str | None) -> bool:
    """Return what `Boolean.parseBoolean` makes of a text: the driver does not trim."""
    return text is not None and text.lower() == "true"
