"""Consumer properties (config-map 1.1, 1.5).

What the membership and the streams decide - positions, commits, client and instance ids - is a
`Setting`, so that a file cannot make the clients do it behind their backs.
"""

from __future__ import annotations

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import FieldValues
from legacy_mm.words.java_clients.client_properties import common
from legacy_mm.words.java_clients.client_properties.rule import (
    MS,
    Boolean,
    ClientField,
    Computed,
    Forgotten,
    Harmless,
    Number,
    PartOf,
    PropertyReading,
    Rule,
    Rules,
    Setting,
    Text,
    TextList,
    Unit,
    config_exception,
)

_PACKAGE = "org.apache.kafka.clients.consumer."
_EAGER = {_PACKAGE + "RangeAssignor": "range", _PACKAGE + "RoundRobinAssignor": "roundrobin"}
_COOPERATIVE = {_PACKAGE + "CooperativeStickyAssignor": "cooperative-sticky"}
_STICKY = _PACKAGE + "StickyAssignor"
_JAVA_NAMES = {word: name for name, word in (_EAGER | _COOPERATIVE).items()}
_INTERNAL = "internal to the Java client"
_BACKLOG, _LEAST_BACKLOG = 16 << 20, 1 << 20
"""The most bytes that all streams together fetch ahead, and the least share of one."""
_NO_TOPICS = "a pattern subscription creates no topic, in Java neither"
_BYTES = ("", "org.apache.kafka.common.serialization.ByteArrayDeserializer")

_JAVA_ASSIGNORS = Unit(tuple, lambda words: ",".join(_JAVA_NAMES.get(word, word) for word in words))
_COMMITTED = Unit(
    lambda word: word == "read_committed", lambda committed: "read_committed" if committed else "read_uncommitted"
)


def _assignors(reading: PropertyReading) -> FieldValues:
    if _next_generation(reading):
        return {}
    names = reading.words("partition.assignment.strategy")
    if not names:
        raise config_exception("partition.assignment.strategy must not be empty")
    for name in names:
        if "." not in name:
            raise ConfigurationError(
                "org.apache.kafka.common.KafkaException: Failed to construct kafka consumer\n"
                f"Caused by: org.apache.kafka.common.KafkaException: {name} ClassNotFoundException exception occurred\n"
                f"Caused by: java.lang.ClassNotFoundException: {name}"
            )
        if name not in _EAGER and name not in _COOPERATIVE and name != _STICKY:
            raise ConfigurationError(f"partition.assignment.strategy: {name} is not supported, because it is Java code")
    # librdkafka refuses a mix, and ours has no other than eager; of Java's own mix the eager protocol is in force
    chosen = [_EAGER[name] for name in names if name in _EAGER]
    chosen = chosen or [_COOPERATIVE[name] for name in names if name in _COOPERATIVE]
    if not chosen:
        raise ConfigurationError(
            f"partition.assignment.strategy: {_STICKY} is not supported, because neither our membership "
            f"nor librdkafka's has it; use {_PACKAGE}RoundRobinAssignor"
        )
    if _STICKY in names:
        reading.note(f"{_STICKY} is left out of partition.assignment.strategy.")
    return {"membership.assignors": tuple(dict.fromkeys(chosen))}


def _next_generation(reading: PropertyReading) -> bool:
    return reading.text("group.protocol", "classic") == "consumer"


def _membership_times(reading: PropertyReading) -> FieldValues:
    """Check one against the other; with the next protocol the broker knows both."""
    session, heartbeat = reading.integer("session.timeout.ms", 45_000), reading.integer("heartbeat.interval.ms", 3_000)
    if _next_generation(reading):
        return {}
    if heartbeat >= session:
        raise ConfigurationError(
            "java.lang.IllegalArgumentException: Heartbeat must be set lower than the session timeout"
        )
    times = {"membership.session_timeout": session, "membership.heartbeat_interval": heartbeat}
    return {path: max(time, 1) / 1000 for path, time in times.items()}


def _backlog(reading: PropertyReading) -> FieldValues:
    size = {"fetch.max_bytes": max(reading.integer("fetch.max.bytes", 52_428_800), 1000)}
    return size | {"fetch.backlog_bytes": max(_LEAST_BACKLOG, _BACKLOG // reading.streams)}


def _group_protocol(reading: PropertyReading) -> FieldValues:
    if reading.given("group.remote.assignor") and not _next_generation(reading):
        raise config_exception("group.remote.assignor cannot be set when group.protocol=CLASSIC")
    return {"membership.protocol": reading.text("group.protocol")} if reading.given("group.protocol") else {}


RULES: Rules = (
    *common.RULES,
    Rule("allow.auto.create.topics", Boolean(), Harmless(_NO_TOPICS)),
    Rule("auto.commit.interval.ms", Number(0), Setting("counts only with enable.auto.commit=true")),
    Rule(
        "auto.offset.reset",
        Text(("latest", "earliest", "none")),
        Setting("where copying begins without a committed offset, and behind a gap"),
    ),
    Rule("check.crcs", Boolean(), ClientField("fetch.check_crcs")),
    Rule("client.id", Text(), Setting("always <group.id>-<stream>, as the legacy tool had it")),
    Rule("client.rack", Text(), ClientField("fetch.rack")),
    Rule("default.api.timeout.ms", Number(0), Setting("how long a question to the cluster may take")),
    Rule(
        "enable.auto.commit",
        Boolean(),
        Setting("true commits copied records at auto.commit.interval.ms, if that is the shorter interval"),
    ),
    Rule("exclude.internal.topics", Boolean(), Setting("false lets the pattern find internal topics, too")),
    Rule(
        "fetch.max.bytes",
        Number(0),
        Computed(_backlog, always=True),
        reason="at least 1000",
        field=ClientField("fetch.max_bytes"),
    ),
    Rule("fetch.max.wait.ms", Number(0), ClientField("fetch.max_wait", MS)),
    Rule(
        "fetch.min.bytes",
        Number(0),
        ClientField("fetch.min_bytes", low=1),
        reason="with 0 brokers would answer at once that there is nothing",
    ),
    Rule("group.id", Text(), ClientField("membership.group_id")),
    Rule("group.instance.id", Text(non_empty=True), Setting("the name of a static member")),
    Rule(
        "group.protocol",
        Text(("CONSUMER", "CLASSIC"), any_case=True),
        Computed(_group_protocol, always=True),
        reason="with CONSUMER librdkafka keeps the membership, with CLASSIC the mirror itself",
        field=ClientField("membership.protocol"),
    ),
    Rule("group.remote.assignor", Text(), common.further("group.remote.assignor")),
    Rule(
        "heartbeat.interval.ms",
        Number(),
        PartOf("session.timeout.ms"),
        field=ClientField("membership.heartbeat_interval", MS),
    ),
    Rule(
        "isolation.level",
        Text(("read_committed", "read_uncommitted")),
        ClientField("fetch.committed_only", _COMMITTED),
    ),
    Rule("max.partition.fetch.bytes", Number(0), ClientField("fetch.partition_bytes", low=1)),
    Rule(
        "max.poll.interval.ms",
        Number(1),
        ClientField("membership.max_poll_interval", MS),
        reason="a membership that librdkafka keeps has at least session.timeout.ms and at most one day",
    ),
    Rule("max.poll.records", Number(1), Harmless("records are handed on as they come")),
    Rule(
        "partition.assignment.strategy",
        TextList(),
        Computed(_assignors),
        reason="range and roundrobin are ours, the cooperative one is librdkafka's; of a mixed list the eager ones are "
        "in force, as in Java",
        field=ClientField("membership.assignors", _JAVA_ASSIGNORS),
    ),
    Rule("request.timeout.ms", Number(0), ClientField("connection.socket_timeout", MS, low=10)),
    Rule(
        "session.timeout.ms",
        Number(),
        Computed(_membership_times, always=True),
        reason="above heartbeat.interval.ms",
        field=ClientField("membership.session_timeout", MS),
    ),
    Rule("key.deserializer", Text(), Harmless(common.BYTES_ONLY, _BYTES)),
    Rule("value.deserializer", Text(), Harmless(common.BYTES_ONLY, _BYTES)),
    Rule("internal.leave.group.on.close", Boolean(), Harmless(_INTERNAL)),
    Rule("internal.throw.on.fetch.stable.offset.unsupported", Boolean(), Harmless(_INTERNAL)),
    Rule("share.acknowledgement.mode", Text(), Forgotten(later=True)),
    Rule("share.acquire.mode", Text(), Forgotten(later=True)),
    Rule("fetch.buffer.bytes", Text(), Forgotten()),
    Rule("heartbeat.frequency", Text(), Forgotten()),
    Rule("total.memory.bytes", Text(), Forgotten()),
)
"""Rows of every name a Java consumer has had."""
