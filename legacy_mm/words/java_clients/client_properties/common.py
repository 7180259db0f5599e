"""Properties that consumer and producer share (config-map 1.4)."""

from __future__ import annotations

import logging
import re
from math import inf

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import FieldValues, SecurityProtocol
from legacy_mm.words.java_clients.client_properties.rule import (
    INT_MAX,
    LONG_MAX,
    MS,
    Boolean,
    ClientField,
    Computed,
    Forgotten,
    Harmless,
    Number,
    PropertyReading,
    Rule,
    Rules,
    Setting,
    Side,
    Text,
    TextList,
    Unit,
    canonical,
    construction_exception,
    milliseconds,
)

_HOST_AND_PORT = re.compile(r".*?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)", re.DOTALL)
_THIS_HOST = re.compile(r"(?:\w+://)?:[0-9]+")
_PORTS = range(65536)
_JMX_REPORTER = "org.apache.kafka.common.metrics.JmxReporter"
BYTES_ONLY = "bytes are mirrored as they are"
_ONLY_METRICS = "it shapes the Java client's own metrics"
_SYSTEM_SIZE = "-1 is the system's choice"
_ONLY_LIBRDKAFKA = "only a membership that librdkafka keeps reads it"
_ONE_SETUP_TIME = "the longer of the two: one time covers TCP, TLS and login here"
_SETUP = ClientField("connection.setup_timeout", MS)
_BUFFER = Unit(lambda size: max(size, 0), lambda size: str(size or -1))
_IDLE = Unit(lambda idle: min(idle, INT_MAX) / 1000 if idle > 0 else inf, milliseconds(never=-1).java)
PROTOCOL = Unit(SecurityProtocol, lambda protocol: str(protocol.name))
_OBSERVERS = (
    "io.confluent.monitoring.clients.interceptor.MonitoringConsumerInterceptor",
    "io.confluent.monitoring.clients.interceptor.MonitoringProducerInterceptor",
)
"""Interceptors known to change no record."""


def _bootstrap_servers(reading: PropertyReading) -> FieldValues:
    servers = [word for word in reading.words("bootstrap.servers") if word]
    if not servers:
        raise construction_exception(reading.side, "No resolvable bootstrap urls given in bootstrap.servers")
    return {"connection.bootstrap_servers": tuple(_host_and_port(reading.side, server) for server in servers)}


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


def _reconnect_backoff(reading: PropertyReading) -> FieldValues:
    first = reading.integer("reconnect.backoff.ms", 50)
    # a file that sets only the first means a constant pause (Java's rule)
    most = reading.integer("reconnect.backoff.max.ms", first if reading.given("reconnect.backoff.ms") else 1000)
    paths = {"connection.reconnect_backoff": min(first, most), "connection.reconnect_backoff_max": most}
    return {path: min(pause, INT_MAX) / 1000 for path, pause in paths.items()}


def _connection_setup(reading: PropertyReading) -> FieldValues:
    # ours covers TCP, TLS and SASL in one time, Java's only TCP, doubled up to the maximum
    least = reading.integer("socket.connection.setup.timeout.ms", 10_000)
    most = reading.integer("socket.connection.setup.timeout.max.ms", 30_000)
    return {_SETUP.path: min(max(1000, least, most), INT_MAX) / 1000}


def further(name: str, low: int | None = None, high: int = INT_MAX) -> ClientField:
    """Return the meaning of a property that librdkafka has by this name, and we have not."""
    return ClientField(f"further.{name}", Unit(canonical, str), low, high)


def _interceptors(reading: PropertyReading) -> FieldValues:
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
        field=ClientField("connection.bootstrap_servers"),
    ),
    Rule(
        "security.protocol",
        Text(("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"), any_case=True),
        ClientField("connection.protocol", PROTOCOL),
    ),
    Rule(
        "client.dns.lookup",
        Text(("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")),
        ClientField("connection.dns_lookup"),
    ),
    Rule(
        "config.providers",
        TextList(),
        Setting("values kept elsewhere, ${provider:path:key}"),
    ),
    Rule(
        "connections.max.idle.ms",
        Number(long=True),
        ClientField("connection.max_idle", _IDLE, high=LONG_MAX),
        reason="0 means never, as a negative number does",
    ),
    Rule("enable.metrics.push", Boolean(), further("enable.metrics.push"), reason=_ONLY_LIBRDKAFKA),
    Rule(
        "interceptor.classes",
        TextList(),
        Computed(_interceptors),
        reason="they are not run; one that is not known to leave records as they are needs --interceptors ignore",
    ),
    Rule(
        "metadata.max.age.ms",
        Number(0, long=True),
        ClientField("connection.metadata_max_age", MS, low=1000),
        reason="at least a second: the clusters are asked so often at most",
    ),
    Rule("metadata.recovery.rebootstrap.trigger.ms", Text(), Forgotten(later=True)),
    Rule(
        "metadata.recovery.strategy",
        Text(("REBOOTSTRAP", "NONE"), any_case=True),
        further("metadata.recovery.strategy"),
        reason=_ONLY_LIBRDKAFKA,
    ),
    Rule("auto.include.jmx.reporter", Boolean(), Harmless(_ONLY_METRICS)),
    Rule("metric.reporters", TextList(), Harmless("its classes are Java code", ("", _JMX_REPORTER))),
    Rule("metrics.num.samples", Number(1), Harmless(_ONLY_METRICS)),
    Rule("metrics.recording.level", Text(("INFO", "DEBUG", "TRACE")), Harmless(_ONLY_METRICS)),
    Rule("metrics.sample.window.ms", Number(0, long=True), Harmless(_ONLY_METRICS)),
    Rule(
        "receive.buffer.bytes", Number(-1), ClientField("connection.receive_buffer_bytes", _BUFFER), ours=_SYSTEM_SIZE
    ),
    Rule("send.buffer.bytes", Number(-1), ClientField("connection.send_buffer_bytes", _BUFFER), ours=_SYSTEM_SIZE),
    Rule(
        "reconnect.backoff.ms",
        Number(0, long=True),
        Computed(_reconnect_backoff),
        reason="never above reconnect.backoff.max.ms",
        field=ClientField("connection.reconnect_backoff", MS),
    ),
    Rule(
        "reconnect.backoff.max.ms",
        Number(0, long=True),
        Computed(_reconnect_backoff),
        reason="without it reconnect.backoff.ms is a constant pause, as in Java",
        field=ClientField("connection.reconnect_backoff_max", MS),
    ),
    Rule(
        "retry.backoff.ms",
        Number(0, long=True),
        ClientField("connection.retry_backoff", MS, low=1),
        reason="above 1000 the pause is constant, as it was before Kafka 3.7",
    ),
    Rule(
        "retry.backoff.max.ms",
        Number(0, long=True),
        further("retry.backoff.max.ms", low=1, high=300_000),
        reason=_ONLY_LIBRDKAFKA,
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
        field=_SETUP,
    ),
    Rule("principal.builder.class", Text(), Forgotten()),
)
