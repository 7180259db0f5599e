"""The MBeans of Kafka's own clients: consumers, producers, admin clients, and the members of Connect's groups.

A scraper that asks a bean for a list of attributes fails as a whole when one is missing, so all of them answer. Values
of those that are counted come from `metric_catalogue`; `UNCOUNTED` are the others. All attributes of release 3.9.1 are
there, some of which 4.0 removed. `tests/side_by_side` reads the beans of the real tools.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Literal

from legacy_mm.metrics.jmx import Attribute, Bean, JavaClass
from legacy_mm.metrics.registry import Fact

_Client = Literal["consumer", "producer", "admin", "member"]
_NAMES: dict[_Client, tuple[str, str]] = {
    "consumer": ("kafka.consumer", "consumer"),
    "producer": ("kafka.producer", "producer"),
    "admin": ("kafka.admin.client", "admin-client"),
    "member": ("kafka.connect", "connect"),
}
"""Client -> domain of its beans, and how their types begin."""


def _bean(client: _Client, group: str, keys: str, names: str, level: str | None = None) -> Bean:
    """Return a bean whose attributes are the catalogue's names with dashes."""
    attributes = tuple(Attribute(name, name.replace("-", "_")) for name in names.split())
    return Bean(level or client, f"{_NAMES[client][0]}:type={group},client-id={{client_id}}{keys}", attributes)


def _counted(names: str) -> str:
    return " ".join(f"{name}-total {name}-rate" for name in names.split())


def _spread(names: str) -> str:
    return " ".join(f"{name}-avg {name}-max" for name in names.split())


_TRAFFIC = _counted("request response outgoing-byte incoming-byte") + " request-size-avg "
_CONNECTIONS = "connection-count " + _counted("connection-creation connection-close network-io")
_NODE = _TRAFFIC + _spread("request-latency")
_CONSUMED = _counted("records-consumed bytes-consumed")
_FETCH = "consumer-fetch-manager-metrics"
_MEMBERSHIP = _counted("heartbeat join sync") + " rebalance-total rebalance-rate-per-hour last-rebalance-seconds-ago "

_VERSION = (
    Attribute("version", "version", "String"),
    Attribute("start-time-ms", "start_time_ms", "Long"),
)
_OLD_VERSION = (
    Attribute("Version", "version", "String", "java.lang.String"),
    Attribute("StartTimeMs", "start_time_ms", "Long", "java.lang.Long"),
)


def _of_every_client(client: _Client, own: str = "") -> tuple[Bean, ...]:
    """Return the beans that each client has; `own`: attributes beside those of its connections."""
    domain, prefix = _NAMES[client]
    return (
        Bean(client, f"{domain}:type=app-info,client-id={{client_id}}", _VERSION),
        Bean(client, f"{domain}:type=app-info,id={{client_id}}", _OLD_VERSION),
        _bean(client, f"{prefix}-metrics", "", f"{_TRAFFIC}{_CONNECTIONS} {own}"),
        _bean(client, f"{prefix}-node-metrics", ",node-id={node_id}", _NODE, f"{client}_node"),
        _bean(client, "kafka-metrics-count", "", ""),
    )


_CONSUMER = (
    *_of_every_client("consumer"),
    _bean(
        "consumer",
        _FETCH,
        "",
        _CONSUMED
        + f" {_counted('fetch')} {_spread('fetch-latency fetch-throttle-time')}"
        + " fetch-size-avg records-per-request-avg records-lag-max records-lead-min",
    ),
    _bean("consumer", _FETCH, ",topic={dotless_topic}", _CONSUMED, "consumer_topic"),
    _bean(
        "consumer",
        _FETCH,
        ",topic={dotless_topic},partition={partition}",
        "records-lag records-lag-avg records-lag-max records-lead records-lead-avg records-lead-min",
        "consumer_partition",
    ),
)
_PRODUCER_ONLY = (
    f"{_counted('record-send record-error')}"
    f" {_spread('batch-size record-queue-time request-latency produce-throttle-time')}"
    " record-size-avg records-per-request-avg requests-in-flight buffer-total-bytes buffer-available-bytes"
    " waiting-threads metadata-age"
)
_PRODUCER = (
    *_of_every_client("producer", _PRODUCER_ONLY),
    _bean(
        "producer",
        "producer-topic-metrics",
        ",topic={topic}",
        _counted("record-send record-error byte"),
        "producer_topic",
    ),
)
_COORDINATOR = _bean(
    "consumer",
    "consumer-coordinator-metrics",
    "",
    _MEMBERSHIP + _counted("commit") + " assigned-partitions " + _spread("commit-latency"),
)
_WORKERS_COORDINATOR = replace(
    member := _bean("member", "connect-coordinator-metrics", "", _MEMBERSHIP),
    attributes=(*member.attributes, *(Attribute(f"assigned-{what}", "connectors") for what in ("connectors", "tasks"))),
)


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Attributes of beans that this program does not count, and their answers."""

    beans: str
    """Object names without the values of their labels, blanks between several."""
    attributes: str
    reason: str
    value: Fact | float = math.nan
    java_class: JavaClass = "Double"
    declared: str = "double"


_EACH_CLIENT = " ".join(f"{domain}:type={prefix}-metrics" for domain, prefix in _NAMES.values())
_EACH_NODE = " ".join(f"{domain}:type={prefix}-node-metrics,node-id" for domain, prefix in _NAMES.values())
_EACH_INFO, _EACH_OLD_VERSION, _EACH_COUNT = (
    " ".join(f"{domain}:type={kind}" for domain, _ in _NAMES.values())
    for kind in ("app-info", "app-info,id", "kafka-metrics-count")
)
_OF_MEMBER = "kafka.consumer:type=consumer-coordinator-metrics"
_EACH_MEMBER = f"{_OF_MEMBER} kafka.connect:type=connect-coordinator-metrics"
_FETCHES = f"kafka.consumer:type={_FETCH}"
_OF_PRODUCER = "kafka.producer:type=producer-metrics"
_TOPIC = "kafka.producer:type=producer-topic-metrics,topic"
_NO_COMMIT = "no commit of Kafka's is in this client; Kafka's own clients say so in a build without one"

UNCOUNTED = (
    Uncounted(_EACH_INFO, "commit-id", _NO_COMMIT, "unknown", "String"),
    Uncounted(_EACH_OLD_VERSION, "CommitId", _NO_COMMIT, "unknown", "String", "java.lang.String"),
    Uncounted(
        _EACH_COUNT,
        "count",
        "it counts objects inside the Java client",
    ),
    Uncounted(
        f"{_EACH_CLIENT} {_EACH_NODE}", "request-size-max", "requests are counted and added up, not measured one by one"
    ),
    Uncounted(
        _EACH_CLIENT,
        "io-ratio io-time-ns-avg io-time-ns-total io-wait-ratio io-wait-time-ns-avg io-wait-time-ns-total "
        "io-waittime-total iotime-total select-rate select-total",
        "the network loop of the Java client; here threads wait for connections",
    ),
    Uncounted(
        _EACH_CLIENT,
        "failed-authentication-rate failed-authentication-total failed-reauthentication-rate "
        "failed-reauthentication-total reauthentication-latency-avg reauthentication-latency-max "
        "successful-authentication-no-reauth-total successful-authentication-rate successful-authentication-total "
        "successful-reauthentication-rate successful-reauthentication-total",
        "connections are counted, not logins",
    ),
    Uncounted(
        "kafka.consumer:type=consumer-metrics",
        "commit-sync-time-ns-total committed-time-ns-total last-poll-seconds-ago poll-idle-ratio-avg "
        "time-between-poll-avg time-between-poll-max",
        "the poll loop of the Java consumer; here membership and copying are two processes, and commits do not wait",
    ),
    Uncounted(
        _EACH_MEMBER,
        "heartbeat-response-time-max join-time-avg join-time-max sync-time-avg sync-time-max "
        "last-heartbeat-seconds-ago rebalance-latency-avg rebalance-latency-max rebalance-latency-total "
        "failed-rebalance-total failed-rebalance-rate-per-hour",
        "these requests are counted, but not timed one by one, and nobody tells which rebalance failed",
    ),
    Uncounted(
        _OF_MEMBER,
        "partition-assigned-latency-avg partition-assigned-latency-max partition-lost-latency-avg "
        "partition-lost-latency-max partition-revoked-latency-avg partition-revoked-latency-max",
        "they time a Java rebalance listener",
    ),
    Uncounted(_FETCHES, "fetch-size-max", "fetches are counted and added up, not measured one by one"),
    Uncounted(
        f"{_FETCHES},topic",
        "fetch-size-avg fetch-size-max records-per-request-avg",
        "one fetch carries many topics, and is counted once",
    ),
    Uncounted(f"{_FETCHES},topic,partition", "preferred-read-replica", "leaders are read", -1, "Integer"),
    Uncounted(
        _OF_PRODUCER,
        "txn-abort-time-ns-total txn-begin-time-ns-total txn-commit-time-ns-total txn-init-time-ns-total "
        "txn-send-offsets-time-ns-total",
        "there are no transactions",
        0.0,
    ),
    Uncounted(
        _OF_PRODUCER,
        "bufferpool-wait-ratio bufferpool-wait-time-ns-total bufferpool-wait-time-total buffer-exhausted-rate "
        "buffer-exhausted-total batch-split-rate batch-split-total flush-time-ns-total metadata-wait-time-ns-total",
        "the buffer pool of the Java producer; waiting-threads tells whether a stream waits",
    ),
    Uncounted(_OF_PRODUCER, "record-size-max", "records are counted and added up, not measured one by one"),
    Uncounted(
        f"{_OF_PRODUCER} {_TOPIC}",
        "record-retry-rate record-retry-total",
        "retries of produce requests are not counted",
    ),
    Uncounted(_OF_PRODUCER, "compression-rate-avg", "a batch that is sent as it is was not opened"),
    Uncounted(_TOPIC, "compression-rate", "a batch that is sent as it is was not opened"),
)
_LABEL = re.compile(r",?([\w-]+)=(\{\w+\}|[^,]*)")


def family(pattern: str) -> str:
    """Return the object name without the values of its labels, and without the client's id."""
    domain, _, labels = pattern.partition(":")
    kept = [
        name if value.startswith("{") else f"{name}={value}"
        for name, value in _LABEL.findall(labels)
        if name != "client-id"
    ]
    return f"{domain}:{','.join(kept)}"


def _complete(bean: Bean) -> Bean:
    """Return the bean with the attributes that this program does not count."""
    uncounted = [
        Attribute(name, "", row.java_class, row.declared, row.value)
        for row in UNCOUNTED
        if family(bean.pattern) in row.beans.split()
        for name in row.attributes.split()
    ]
    return replace(bean, attributes=(*bean.attributes, *uncounted))


CONSUMER, PRODUCER = tuple(map(_complete, _CONSUMER)), tuple(map(_complete, _PRODUCER))
COORDINATOR = _complete(_COORDINATOR)
"""The membership of a consumer."""
ADMIN = tuple(map(_complete, _of_every_client("admin")))
MEMBER = tuple(map(_complete, (*_of_every_client("member"), _WORKERS_COORDINATOR)))
"""A member of the group of Kafka Connect's workers."""
WORKER = tuple(
    _complete(Bean("worker", f"kafka.connect:type={kind}", attributes))
    for kind, attributes in (("app-info", _VERSION), ("kafka-metrics-count", ()))
)
"""A worker, whether it is in a group or not."""
CONSUMER_SINCE_4 = tuple(
    replace(bean, pattern=bean.pattern.replace("dotless_topic", "topic"))
    for bean in CONSUMER
    if "dotless_topic" in bean.pattern
)
"""Beans that a consumer has besides since 4.1: topics by their own names."""
PRODUCER_SINCE_4 = tuple(
    replace(bean, attributes=(*bean.attributes, Attribute("txn-prepare-time-ns-total", constant=0.0)))
    if family(bean.pattern) == _OF_PRODUCER
    else bean
    for bean in PRODUCER
)
