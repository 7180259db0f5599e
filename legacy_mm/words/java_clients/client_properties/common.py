"""Properties that consumer and producer share (config-map 1.4); the ranges are librdkafka's."""

from __future__ import annotations

import logging
import re

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.client_properties.rule import (
    INT_MAX,
    Boolean,
    Computed,
    Emitted,
    Forgotten,
    Harmless,
    Number,
    Ours,
    PropertyReading,
    Rule,
    Rules,
    Same,
    Setting,
    Side,
    Text,
    TextList,
    construction_exception,
)

_HOST_AND_PORT = re.compile(r".*?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)", re.DOTALL)
_THIS_HOST = re.compile(r"(?:\w+://)?:[0-9]+")
_PORTS = range(65536)
_JMX_REPORTER = "org.apache.kafka.common.metrics.JmxReporter"
BYTES_ONLY = "bytes are mirrored as they are"
_ONLY_METRICS = "it shapes the Java client's own metrics"
_SYSTEM_SIZE = "-1 is the system's choice, here 0"
_ONE_SETUP_TIME = "the longer of the two: one time covers TCP, TLS and login here"
_OBSERVERS = (
    "io.confluent.monitoring.clients.interceptor.MonitoringConsumerInterceptor",
    "io.confluent.monitoring.clients.interceptor.MonitoringProducerInterceptor",
)
"""Interceptors known to change no record."""

DEFAULTS = {
    "socket.timeout.ms": "30000",
    "reconnect.backoff.ms": "50",
    "reconnect.backoff.max.ms": "1000",
    "connections.max.idle.ms": "540000",
    "socket.keepalive.enable": "true",
}
"""librdkafka properties set when a file is silent: the Java clients' defaults, where librdkafka's differ."""
OURS = {"log.connection.close": Ours("false", "brokers close idle connections; that is no news")}


def _bootstrap_servers(reading: PropertyReading) -> Emitted:
    servers = [word for word in reading.words("bootstrap.servers") if word]
    if not servers:
        raise construction_exception(reading.side, "No resolvable bootstrap urls given in bootstrap.servers")
    return {"bootstrap.servers": ",".join(_host_and_port(reading.side, server) for server in servers)}


def _host_and_port(side: Side, server: str) -> str:
    """Return the server without a scheme: `SSL://[::1]:9092` becomes `[::1]:9092`.

    Java drops any scheme and demands a port; a server without a host is this host.
    """
    match = _HOST_AND_PORT.fullmatch(server)
    if match is None or not (match[1] or _THIS_HOST.fullmatch(server)):
        raise construction_exception(side, f"Invalid url in bootstrap.servers: {server}")
    host, port = match[1] or "localhost", int(match[2].lstrip("0")[:6] or 0)
    if port not in _PORTS:
        raise construction_exception(side, f"Invalid port in bootstrap.servers: {server}")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _reconnect_backoff(reading: PropertyReading) -> Emitted:
    first = reading.clamp("reconnect.backoff.ms", reading.integer("reconnect.backoff.ms", 50), 0, 3_600_000)
    # a file that sets only the first means a constant pause (Java's rule)
    default = first if reading.given("reconnect.backoff.ms") else 1000
    most = reading.clamp(
        "reconnect.backoff.max.ms",
        reading.integer("reconnect.backoff.max.ms", default),
        0,
        3_600_000,
    )
    return {
        "reconnect.backoff.ms": str(min(first, most)),
        "reconnect.backoff.max.ms": str(most),
    }


def _retry_backoff(reading: PropertyReading) -> Emitted:
    emitted = {}
    if reading.given("retry.backoff.ms"):
        first = reading.clamp("retry.backoff.ms", reading.integer("retry.backoff.ms", 100), 1, 300_000)
        emitted["retry.backoff.ms"] = str(first)
        if first > 1000:
            # before 3.7 the pause was constant; librdkafka would cap it at its maximum
            emitted["retry.backoff.max.ms"] = str(first)
    if reading.given("retry.backoff.max.ms"):
        most = reading.integer("retry.backoff.max.ms", 1000)
        emitted["retry.backoff.max.ms"] = str(reading.clamp("retry.backoff.max.ms", most, 1, 300_000))
    return emitted


def _connection_setup(reading: PropertyReading) -> Emitted:
    # ours covers TCP, TLS and SASL in one time, Java's only TCP, doubled up to the maximum
    least = reading.integer("socket.connection.setup.timeout.ms", 10_000)
    most = reading.integer("socket.connection.setup.timeout.max.ms", 30_000)
    return {"socket.connection.setup.timeout.ms": str(min(max(1000, least, most), INT_MAX))}


def _idle_time(reading: PropertyReading) -> Emitted:
    idle = reading.integer("connections.max.idle.ms", 540_000)
    return {"connections.max.idle.ms": str(min(max(idle, 0), INT_MAX))}


def _metadata_age(reading: PropertyReading) -> Emitted:
    # librdkafka's own metadata.max.age.ms is a false friend: the expiry of its cache
    age = reading.integer("metadata.max.age.ms", 300_000)
    return {"topic.metadata.refresh.interval.ms": str(reading.clamp("metadata.max.age.ms", age, 1000, 3_600_000))}


def _socket_buffer(java: str) -> Computed:
    def emit(reading: PropertyReading) -> Emitted:
        size = reading.integer(java, -1)
        chosen = 0 if size == -1 else reading.clamp(java, size, 0, 100_000_000)
        return {f"socket.{java}": str(chosen)}

    return Computed(emit)


def _interceptors(reading: PropertyReading) -> Emitted:
    for name in filter(None, reading.words("interceptor.classes")):
        if name not in _OBSERVERS and not reading.ignore_interceptors:
            raise ConfigurationError(
                f"interceptor.classes is not supported: {name} is Java code that may change records. If it only traces "
                "or counts, start with --interceptors ignore"
            )
        reading.note(f"interceptor.classes: {name} is not run here.", logging.WARNING)
    return {}


RULES: Rules = (
    Rule(
        "bootstrap.servers",
        TextList(),
        Computed(_bootstrap_servers, always=True),
        reason="host and port of each; a scheme before them does not count, in Java neither",
    ),
    Rule(
        "security.protocol",
        Text(("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"), any_case=True),
        Same(),
    ),
    Rule(
        "client.dns.lookup",
        Text(("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")),
        Same(),
    ),
    Rule(
        "config.providers",
        TextList(),
        Setting("values kept elsewhere, ${provider:path:key}"),
    ),
    Rule(
        "connections.max.idle.ms",
        Number(long=True),
        Computed(_idle_time),
        reason="a negative number means never, here 0",
    ),
    Rule("enable.metrics.push", Boolean(), Same()),
    Rule(
        "interceptor.classes",
        TextList(),
        Computed(_interceptors),
        reason="they are not run; one that is not known to leave records as they are needs --interceptors ignore",
    ),
    Rule(
        "metadata.max.age.ms",
        Number(0, long=True),
        Computed(_metadata_age),
        reason="called topic.metadata.refresh.interval.ms here: librdkafka's metadata.max.age.ms is another thing",
    ),
    Rule("metadata.recovery.rebootstrap.trigger.ms", Text(), Forgotten(later=True)),
    Rule("metadata.recovery.strategy", Text(("REBOOTSTRAP", "NONE"), any_case=True), Same()),
    Rule("auto.include.jmx.reporter", Boolean(), Harmless(_ONLY_METRICS)),
    Rule("metric.reporters", TextList(), Harmless("its classes are Java code", ("", _JMX_REPORTER))),
    Rule("metrics.num.samples", Number(1), Harmless(_ONLY_METRICS)),
    Rule("metrics.recording.level", Text(("INFO", "DEBUG", "TRACE")), Harmless(_ONLY_METRICS)),
    Rule("metrics.sample.window.ms", Number(0, long=True), Harmless(_ONLY_METRICS)),
    Rule("receive.buffer.bytes", Number(-1), _socket_buffer("receive.buffer.bytes"), reason=_SYSTEM_SIZE),
    Rule("send.buffer.bytes", Number(-1), _socket_buffer("send.buffer.bytes"), reason=_SYSTEM_SIZE),
    Rule(
        "reconnect.backoff.ms",
        Number(0, long=True),
        Computed(_reconnect_backoff),
        reason="never above reconnect.backoff.max.ms",
    ),
    Rule(
        "reconnect.backoff.max.ms",
        Number(0, long=True),
        Computed(_reconnect_backoff),
        reason="an hour at most; without it reconnect.backoff.ms is a constant pause, as in Java",
    ),
    Rule(
        "retry.backoff.ms",
        Number(0, long=True),
        Computed(_retry_backoff),
        reason="above 1000 the pause is constant, as it was before Kafka 3.7",
    ),
    Rule(
        "retry.backoff.max.ms",
        Number(0, long=True),
        Computed(_retry_backoff),
        reason="from 1 to 300000",
    ),
    Rule(
        "socket.connection.setup.timeout.ms",
        Number(long=True),
        Computed(_connection_setup),
        reason=_ONE_SETUP_TIME,
    ),
    Rule(
        "socket.connection.setup.timeout.max.ms",
        Number(long=True),
        Computed(_connection_setup),
        reason=_ONE_SETUP_TIME,
    ),
    Rule("principal.builder.class", Text(), Forgotten()),
)
