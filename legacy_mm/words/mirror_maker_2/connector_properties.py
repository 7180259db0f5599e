"""The properties that MirrorMaker 2's connectors define, one row each, and how Connect reads their values.

Source: the ConfigDefs of Kafka 3.9.1, which has the names of 4.x and those that 4.0 removed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.quotas.feature import QUOTAS
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.words.java_clients.client_properties.rule import trim

ConnectorKind = Literal["source", "checkpoint", "heartbeat"]
CONNECTORS: Mapping[ConnectorKind, str] = {
    "source": "MirrorSourceConnector",
    "heartbeat": "MirrorHeartbeatConnector",
    "checkpoint": "MirrorCheckpointConnector",
}
"""In the order in which the driver configures them."""
PACKAGE = "org.apache.kafka.connect.mirror."
_SUFFIX, _SINK = "Connector", "MirrorSinkConnector"
"""The end that a class may leave out in Connect; a class that KIP-382 promised and nobody delivered, whose flow is that
of the source connector."""

OWN_FLAGS = frozenset(
    flag.name for flag in (*EXACTLY_ONCE.flags, *START_FROM.flags, *QUOTAS.flags) if not flag.option.repeated
)
"""Flags of this mirror that such a file may have beside them, for all flows or for one."""
_OWN_FAMILIES = tuple(f"{flag.name}." for flag in START_FROM.flags if flag.option.repeated)
"""Beginnings of such flags that end with a name."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
_LIMITS = {"short": 2**15 - 1, "int": 2**31 - 1, "long": 2**63 - 1}
_BOUNDS: Mapping[str, tuple[float, float | None]] = {
    "tasks.max": (1, None),
    "transaction.boundary.interval.ms": (0, None),
    "sasl.login.refresh.window.factor": (0.5, 1.0),
    "sasl.login.refresh.window.jitter": (0.0, 0.25),
    "sasl.login.refresh.min.period.seconds": (0, 900),
    "sasl.login.refresh.buffer.seconds": (0, 3600),
    "sasl.oauthbearer.assertion.claim.exp.seconds": (0, 86400),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": (0, 3600),
}
"""The least and the most; None: as much as the type has."""
_NEVER_NULL = _BOUNDS.keys() - {"transaction.boundary.interval.ms"}


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
        "key.converter class",
        "value.converter class",
        "header.converter class",
        "transforms list",
        "predicates list",
        "config.action.reload none|restart restart",
        "errors.retry.timeout long 0",
        "errors.retry.delay.max.ms long 60000",
        "errors.tolerance none|all none",
        "errors.log.enable boolean false",
        "errors.log.include.messages boolean false",
        "enabled boolean true",
        "source.cluster.alias",
        "target.cluster.alias string target",
        "admin.timeout.ms long 60000",
        "replication.policy.class class org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
        "replication.policy.separator string .",
        "replication.policy.internal.topic.separator.enabled boolean true",
        "forwarding.admin.class class org.apache.kafka.clients.admin.ForwardingAdmin",
        "metric.reporters list org.apache.kafka.common.metrics.JmxReporter",
        "auto.include.jmx.reporter boolean true",
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
        "metric.names.formats list legacy",
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
_SECURITY_PROTOCOL = ConnectorProperty("security.protocol", "sch", "SASL_SSL|PLAINTEXT|SSL|SASL_PLAINTEXT", "PLAINTEXT")
CHECKED = (*ROWS, _SECURITY_PROTOCOL)
"""Rows whose values Connect checks: a connector has the last one, and its clients do not read it."""
OF_4_3 = (
    *_rows(
        "sch",
        "connector.plugin.version",
        "key.converter.plugin.version",
        "value.converter.plugin.version",
        "header.converter.plugin.version",
        "topic.creation.groups list",
        "exactly.once.support REQUIRED|REQUESTED requested",
        "transaction.boundary INTERVAL|POLL|CONNECTOR poll",
        "transaction.boundary.interval.ms long",
        "offsets.storage.topic",
        "config.providers list",
        "ssl.protocol string TLSv1.3",
        "ssl.provider",
        "ssl.cipher.suites list",
        "ssl.enabled.protocols list TLSv1.2,TLSv1.3",
        "ssl.keystore.type string JKS",
        "ssl.keystore.location",
        "ssl.keystore.password password",
        "ssl.key.password password",
        "ssl.keystore.key password",
        "ssl.keystore.certificate.chain password",
        "ssl.truststore.certificates password",
        "ssl.truststore.type string JKS",
        "ssl.truststore.location",
        "ssl.truststore.password password",
        "ssl.keymanager.algorithm string SunX509",
        "ssl.trustmanager.algorithm string PKIX",
        "ssl.endpoint.identification.algorithm string https",
        "ssl.secure.random.implementation",
        "ssl.engine.factory.class class",
        "sasl.kerberos.service.name",
        "sasl.kerberos.kinit.cmd string /usr/bin/kinit",
        "sasl.kerberos.ticket.renew.window.factor double 0.8",
        "sasl.kerberos.ticket.renew.jitter double 0.05",
        "sasl.kerberos.min.time.before.relogin long 60000",
        "sasl.login.refresh.window.factor double 0.8",
        "sasl.login.refresh.window.jitter double 0.05",
        "sasl.login.refresh.min.period.seconds short 60",
        "sasl.login.refresh.buffer.seconds short 300",
        "sasl.mechanism string GSSAPI",
        "sasl.jaas.config password",
        "sasl.client.callback.handler.class class",
        "sasl.login.callback.handler.class class",
        "sasl.login.class class",
        "sasl.login.connect.timeout.ms int",
        "sasl.login.read.timeout.ms int",
        "sasl.login.retry.backoff.max.ms long 10000",
        "sasl.login.retry.backoff.ms long 100",
        "sasl.oauthbearer.jwt.retriever.class class org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        "sasl.oauthbearer.jwt.validator.class class org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret password",
        "sasl.oauthbearer.assertion.algorithm ES256|RS256 RS256",
        "sasl.oauthbearer.assertion.claim.aud",
        "sasl.oauthbearer.assertion.claim.exp.seconds int 300",
        "sasl.oauthbearer.assertion.claim.iss",
        "sasl.oauthbearer.assertion.claim.jti.include boolean false",
        "sasl.oauthbearer.assertion.claim.nbf.seconds int 60",
        "sasl.oauthbearer.assertion.claim.sub",
        "sasl.oauthbearer.assertion.file",
        "sasl.oauthbearer.assertion.private.key.file",
        "sasl.oauthbearer.assertion.private.key.passphrase password",
        "sasl.oauthbearer.assertion.template.file",
        "sasl.oauthbearer.scope.claim.name string scope",
        "sasl.oauthbearer.sub.claim.name string sub",
        "sasl.oauthbearer.token.endpoint.url",
        "sasl.oauthbearer.jwks.endpoint.url",
        "sasl.oauthbearer.jwks.endpoint.refresh.ms long 3600000",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms long 10000",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms long 100",
        "sasl.oauthbearer.clock.skew.seconds int 30",
        "sasl.oauthbearer.expected.audience list",
        "sasl.oauthbearer.expected.issuer",
        "sasl.oauthbearer.header.urlencode boolean false",
    ),
    _SECURITY_PROTOCOL,
)
"""Further rows that Connect 4.3 says of a connector: of the framework, and of clients, which read none without
`source.cluster.` or `target.cluster.` before it."""
REQUIRED = ("name", "connector.class", "source.cluster.alias")
"""The properties without a default."""
ONE_CLASS = ("topic.filter.class", "config.property.filter.class", "group.filter.class", "forwarding.admin.class")
"""Properties whose class is always the default: only Java could run another one."""
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


def is_own_flag(name: str) -> bool:
    """Return True for a flag of this mirror that such a file may have."""
    return name in OWN_FLAGS or name.startswith(_OWN_FAMILIES)


def flags_among(lines: Mapping[str, str]) -> dict[str, str]:
    """Return the flags of this mirror."""
    return {name: text for name, text in lines.items() if is_own_flag(name)}


def is_client_name(name: str) -> bool:
    """Return True for the names that the driver copies to all clients of a cluster."""
    return name in ("bootstrap.servers", "security.protocol") or name.startswith(_SECURITY)


def kind_of(class_name: str) -> ConnectorKind | None:
    """Return the connector that a class is, whole or by its short names; None: it is none of MirrorMaker 2."""
    name = class_name.rpartition(".")[2].removesuffix(_SUFFIX)
    named = {text.removesuffix(_SUFFIX): kind for kind, text in CONNECTORS.items()}
    return "source" if name == _SINK.removesuffix(_SUFFIX) else named.get(name)


def typed(row: ConnectorProperty, text: str) -> object:
    """Return the value as Connect types it, blanks trimmed; raises ValueError in Connect's words."""
    trimmed = trim(text)
    if row.type in _LIMITS:
        limit = _LIMITS[row.type]
        if not _NUMBER.fullmatch(trimmed) or not -limit - 1 <= int(trimmed) <= limit:
            raise ValueError(f"Not a number of type {row.type.upper()}")
        return int(trimmed)
    if row.type == "double":
        try:
            return float(trimmed)
        except ValueError:
            raise ValueError("Not a number of type DOUBLE") from None
    if row.type == "boolean":
        if trimmed.lower() not in ("true", "false"):
            raise ValueError("Expected value to be either true or false")
        return trimmed.lower() == "true"
    return trimmed


def objection(row: ConnectorProperty, value: object) -> str:
    """Return what Connect has against a value of the right type, in its words; empty: nothing. None: there is none."""
    if "|" in row.type:
        words = row.type.split("|")
        any_case = row.type.isupper()
        if value not in words and (not any_case or str(value).upper() not in words):
            return f"String must be one of{' (case insensitive)' if any_case else ''}: {', '.join(words)}"
    if row.name in _BOUNDS:
        least, most = _BOUNDS[row.name]
        if not isinstance(value, int | float):
            return "" if row.name not in _NEVER_NULL else "Value must be non-null"
        if value < least:
            return f"Value must be at least {least}"
        if most is not None and value > most:
            return f"Value must be no more than {most}"
    return ""


def read(row: ConnectorProperty, text: str) -> object:
    """Return a value that Connect takes, as it types it; raises ValueError in Connect's words."""
    value = typed(row, text)
    if why := objection(row, value):
        raise ValueError(why)
    return value


def java_boolean(text: str | None) -> bool:
    """Return what `Boolean.parseBoolean` makes of a text: the driver does not trim."""
    return text is not None and text.lower() == "true"
