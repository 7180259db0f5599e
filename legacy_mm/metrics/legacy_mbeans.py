"""The legacy tool's MBeans: every name and every attribute of release 3.9.1.

A scraper that asks a bean for a list of attributes fails as a whole when one is missing, so all of them answer.
`_COUNTED` are the beans whose values come from `metrics.catalogue`, `UNCOUNTED` those not counted.
`tests/side_by_side/test_mbeans.py` reads the real tool's beans and holds both tables to them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from legacy_mm.metrics.jmx import Attribute, Bean, JavaClass
from legacy_mm.metrics.registry import Fact


def _client(side: str, group: str, keys: str, names: str, level: str | None = None) -> Bean:
    """Return a bean of Kafka's clients, whose attributes are the catalogue's names with dashes."""
    attributes = tuple(Attribute(name, name.replace("-", "_")) for name in names.split())
    return Bean(level or side, f"kafka.{side}:type={group},client-id={{client_id}}{keys}", attributes)


def _counted(names: str) -> str:
    return " ".join(f"{name}-total {name}-rate" for name in names.split())


def _spread(names: str) -> str:
    return " ".join(f"{name}-avg {name}-max" for name in names.split())


_TRAFFIC = _counted("request response outgoing-byte incoming-byte") + " request-size-avg "
_CONNECTIONS = "connection-count " + _counted("connection-creation connection-close network-io")
_NODE = _TRAFFIC + _spread("request-latency")
_CONSUMED = _counted("records-consumed bytes-consumed")
_FETCH = "consumer-fetch-manager-metrics"

_VERSION = (
    Attribute("version", "version", "String"),
    Attribute("start-time-ms", "start_time_ms", "Long"),
)
_OLD_VERSION = (
    Attribute("Version", "version", "String", "java.lang.String"),
    Attribute("StartTimeMs", "start_time_ms", "Long", "java.lang.Long"),
)

_COUNTED = (
    Bean(
        "mirror",
        "kafka.tools:type=MirrorMaker,name=MirrorMaker-numDroppedMessages",
        (Attribute("Value", "records_dropped_total", "Integer", "java.lang.Object"),),
    ),
    *(Bean(side, f"kafka.{side}:type=app-info,client-id={{client_id}}", _VERSION) for side in ("consumer", "producer")),
    *(Bean(side, f"kafka.{side}:type=app-info,id={{client_id}}", _OLD_VERSION) for side in ("consumer", "producer")),
    _client("consumer", "consumer-metrics", "", _TRAFFIC + _CONNECTIONS),
    _client("consumer", "consumer-node-metrics", ",node-id={node_id}", _NODE, "consumer_node"),
    _client(
        "consumer",
        "consumer-coordinator-metrics",
        "",
        _counted("commit heartbeat join sync")
        + " assigned-partitions rebalance-total rebalance-rate-per-hour last-rebalance-seconds-ago "
        + _spread("commit-latency"),
    ),
    _client(
        "consumer",
        _FETCH,
        "",
        _CONSUMED
        + f" {_counted('fetch')} {_spread('fetch-latency fetch-throttle-time')}"
        + " fetch-size-avg records-per-request-avg records-lag-max records-lead-min",
    ),
    _client("consumer", _FETCH, ",topic={dotless_topic}", _CONSUMED, "consumer_topic"),
    _client(
        "consumer",
        _FETCH,
        ",topic={dotless_topic},partition={partition}",
        "records-lag records-lag-avg records-lag-max records-lead records-lead-avg records-lead-min",
        "consumer_partition",
    ),
    _client(
        "producer",
        "producer-metrics",
        "",
        _TRAFFIC
        + f"{_CONNECTIONS} {_counted('record-send record-error')}"
        + f" {_spread('batch-size record-queue-time request-latency produce-throttle-time')}"
        + " record-size-avg records-per-request-avg requests-in-flight buffer-total-bytes buffer-available-bytes"
        + " waiting-threads metadata-age",
    ),
    _client("producer", "producer-node-metrics", ",node-id={node_id}", _NODE, "producer_node"),
    _client(
        "producer",
        "producer-topic-metrics",
        ",topic={topic}",
        _counted("record-send record-error byte"),
        "producer_topic",
    ),
    *(_client(side, "kafka-metrics-count", "", "") for side in ("consumer", "producer")),
    Bean(
        "mirror", "kafka:type=kafka.Log4jController", (Attribute("Loggers", "loggers", "ArrayList", "java.util.List"),)
    ),
)


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Attributes of the legacy tool's beans that this program does not count, and their answers."""

    beans: str
    """Object names without the values of their labels, blanks between several."""
    attributes: str
    reason: str
    value: Fact | float = math.nan
    java_class: JavaClass = "Double"
    declared: str = "double"


_CLIENTS = "kafka.consumer:type=consumer-metrics kafka.producer:type=producer-metrics "
_NODES = "kafka.consumer:type=consumer-node-metrics,node-id kafka.producer:type=producer-node-metrics,node-id"
_BOTH_INFOS = "kafka.consumer:type=app-info{0} kafka.producer:type=app-info{0}"
_COORDINATOR = "kafka.consumer:type=consumer-coordinator-metrics"
_FETCHES = f"kafka.consumer:type={_FETCH}"
_PRODUCER = "kafka.producer:type=producer-metrics"
_TOPIC = "kafka.producer:type=producer-topic-metrics,topic"
_NO_COMMIT = "no commit of Kafka's is in this client; Kafka's own clients say so in a build without one"

UNCOUNTED = (
    Uncounted(_BOTH_INFOS.format(""), "commit-id", _NO_COMMIT, "unknown", "String"),
    Uncounted(_BOTH_INFOS.format(",id"), "CommitId", _NO_COMMIT, "unknown", "String", "java.lang.String"),
    Uncounted(
        "kafka.consumer:type=kafka-metrics-count kafka.producer:type=kafka-metrics-count",
        "count",
        "it counts objects inside the Java client",
    ),
    Uncounted(_CLIENTS + _NODES, "request-size-max", "requests are counted and added up, not measured one by one"),
    Uncounted(
        _CLIENTS,
        "io-ratio io-time-ns-avg io-time-ns-total io-wait-ratio io-wait-time-ns-avg io-wait-time-ns-total "
        "io-waittime-total iotime-total select-rate select-total",
        "the network loop of the Java client; here threads wait for connections",
    ),
    Uncounted(
        _CLIENTS,
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
        _COORDINATOR,
        "heartbeat-response-time-max join-time-avg join-time-max sync-time-avg sync-time-max "
        "last-heartbeat-seconds-ago rebalance-latency-avg rebalance-latency-max rebalance-latency-total "
        "failed-rebalance-total failed-rebalance-rate-per-hour",
        "these requests are counted, but not timed one by one, and nobody tells which rebalance failed",
    ),
    Uncounted(
        _COORDINATOR,
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
        _PRODUCER,
        "txn-abort-time-ns-total txn-begin-time-ns-total txn-commit-time-ns-total txn-init-time-ns-total "
        "txn-send-offsets-time-ns-total",
        "there are no transactions",
        0.0,
    ),
    Uncounted(
        _PRODUCER,
        "bufferpool-wait-ratio bufferpool-wait-time-ns-total bufferpool-wait-time-total buffer-exhausted-rate "
        "buffer-exhausted-total batch-split-rate batch-split-total flush-time-ns-total metadata-wait-time-ns-total",
        "the buffer pool of the Java producer; waiting-threads tells whether a stream waits",
    ),
    Uncounted(_PRODUCER, "record-size-max", "records are counted and added up, not measured one by one"),
    Uncounted(
        f"{_PRODUCER} {_TOPIC}",
        "record-retry-rate record-retry-total",
        "retries of produce requests are not counted",
    ),
    Uncounted(_PRODUCER, "compression-rate-avg", "a batch that is sent as it is was not opened"),
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


BEANS = tuple(map(_complete, _COUNTED))
