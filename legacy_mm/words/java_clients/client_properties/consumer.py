"""Consumer properties (config-map 1.1, 1.5); the ranges are librdkafka's.

What the membership and the streams decide - positions, commits, client and instance ids - is a
`Setting`, so that a file cannot make the clients do it behind their backs.
"""

from __future__ import annotations

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.client_properties import common
from legacy_mm.words.java_clients.client_properties.rule import (
    Boolean,
    Computed,
    Emitted,
    Forgotten,
    Harmless,
    Number,
    Ours,
    PartOf,
    PropertyReading,
    Renamed,
    Rule,
    Rules,
    Same,
    Setting,
    Text,
    TextList,
    boolean,
    config_exception,
)

_PACKAGE = "org.apache.kafka.clients.consumer."
_EAGER = {_PACKAGE + "RangeAssignor": "range", _PACKAGE + "RoundRobinAssignor": "roundrobin"}
_COOPERATIVE = {_PACKAGE + "CooperativeStickyAssignor": "cooperative-sticky"}
_STICKY = _PACKAGE + "StickyAssignor"
_MAX_POLL_INTERVAL = 300_000
_SESSION_TIMEOUT = 45_000
_HEARTBEAT_INTERVAL = 3_000
_DAY = 86_400_000
_INTERNAL = "internal to the Java client"
_QUEUE_KBYTES, _LEAST_QUEUE_KBYTES = 16_384, 1_024
_NO_TOPICS = "a pattern subscription creates no topic, in Java neither"
_FETCH_SIZE = "from 1000 to 2147483135, which is all that a membership kept by librdkafka takes"

_BYTES = ("", "org.apache.kafka.common.serialization.ByteArrayDeserializer")

DEFAULTS = {
    **common.DEFAULTS,
    "isolation.level": "read_uncommitted",
    "check.crcs": "true",
    "enable.auto.commit": "false",
    "allow.auto.create.topics": "false",
    "partition.assignment.strategy": "range",
    "receive.message.max.bytes": "2147483647",
}
OURS = {
    **common.OURS,
    "queued.max.messages.kbytes": Ours(str(_QUEUE_KBYTES), "how much all streams together fetch ahead"),
    "fetch.queue.backoff.ms": Ours("20", "how long a stream that is full pauses"),
}


def _assignors(reading: PropertyReading) -> Emitted:
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
    return {"partition.assignment.strategy": ",".join(dict.fromkeys(chosen))}


def _next_generation(reading: PropertyReading) -> bool:
    return reading.text("group.protocol", "classic") == "consumer"


def _max_poll_interval_ms(reading: PropertyReading) -> int:
    # at least the session timeout: librdkafka, which keeps some memberships, demands it, Java does not
    given = reading.integer("max.poll.interval.ms", _MAX_POLL_INTERVAL)
    session = min(reading.integer("session.timeout.ms", _SESSION_TIMEOUT), 3_600_000)
    if _next_generation(reading):
        session = 1
    return max(min(given, _DAY), session)


def _membership_times(reading: PropertyReading) -> Emitted:
    session = reading.integer("session.timeout.ms", _SESSION_TIMEOUT)
    heartbeat = reading.integer("heartbeat.interval.ms", _HEARTBEAT_INTERVAL)
    interval = _max_poll_interval_ms(reading)
    emitted = {}
    if reading.given("max.poll.interval.ms") or interval != _MAX_POLL_INTERVAL:
        given = reading.integer("max.poll.interval.ms", _MAX_POLL_INTERVAL)
        reading.clamp("max.poll.interval.ms", given, interval, _DAY)
        emitted["max.poll.interval.ms"] = str(interval)
    if _next_generation(reading):
        return emitted
    if heartbeat >= session:
        raise ConfigurationError(
            "java.lang.IllegalArgumentException: Heartbeat must be set lower than the session timeout"
        )
    if reading.given("session.timeout.ms"):
        emitted["session.timeout.ms"] = str(reading.clamp("session.timeout.ms", session, 1, 3_600_000))
    if reading.given("heartbeat.interval.ms"):
        emitted["heartbeat.interval.ms"] = str(reading.clamp("heartbeat.interval.ms", heartbeat, 1, 3_600_000))
    return emitted


def _fetch_sizes(reading: PropertyReading) -> Emitted:
    queue = {"queued.max.messages.kbytes": str(max(_LEAST_QUEUE_KBYTES, _QUEUE_KBYTES // reading.streams))}
    if not reading.given("fetch.max.bytes"):
        return queue
    size = reading.integer("fetch.max.bytes", 52_428_800)
    size = reading.clamp("fetch.max.bytes", size, 1000, 2_147_483_135)
    # the consumer reads this producer-sounding property too, and demands it be the smaller one
    smaller = {"message.max.bytes": str(size)} if size < 1_000_000 else {}
    return {**queue, "fetch.max.bytes": str(size), **smaller}


def _auto_create(reading: PropertyReading) -> Emitted:
    # Java creates no topic for a pattern subscription, whatever the file says
    return {"allow.auto.create.topics": boolean(False)}


def _group_protocol(reading: PropertyReading) -> Emitted:
    if reading.given("group.remote.assignor") and not _next_generation(reading):
        raise config_exception("group.remote.assignor cannot be set when group.protocol=CLASSIC")
    return {"group.protocol": reading.text("group.protocol")} if reading.given("group.protocol") else {}


RULES: Rules = (
    *common.RULES,
    Rule("allow.auto.create.topics", Boolean(), Computed(_auto_create), reason=_NO_TOPICS),
    Rule("auto.commit.interval.ms", Number(0), Setting("counts only with enable.auto.commit=true")),
    Rule(
        "auto.offset.reset",
        Text(("latest", "earliest", "none")),
        Setting("where copying begins without a committed offset, and behind a gap"),
    ),
    Rule("check.crcs", Boolean(), Same()),
    Rule("client.id", Text(), Setting("always <group.id>-<stream>, as the legacy tool had it")),
    Rule("client.rack", Text(), Same()),
    Rule("default.api.timeout.ms", Number(0), Setting("how long a question to the cluster may take")),
    Rule(
        "enable.auto.commit",
        Boolean(),
        Setting("true commits copied records at auto.commit.interval.ms, if that is the shorter interval"),
    ),
    Rule("exclude.internal.topics", Boolean(), Setting("false lets the pattern find internal topics, too")),
    Rule("fetch.max.bytes", Number(0), Computed(_fetch_sizes, always=True), reason=_FETCH_SIZE),
    Rule("fetch.max.wait.ms", Number(0), Renamed("fetch.wait.max.ms", 0, 300_000)),
    Rule("fetch.min.bytes", Number(0), Same(1, 100_000_000)),
    Rule("group.id", Text(), Same()),
    Rule("group.instance.id", Text(non_empty=True), Setting("the name of a static member")),
    Rule(
        "group.protocol",
        Text(("CONSUMER", "CLASSIC"), any_case=True),
        Computed(_group_protocol, always=True),
        reason="with CONSUMER librdkafka keeps the membership, with CLASSIC the mirror itself",
    ),
    Rule("group.remote.assignor", Text(), Same()),
    Rule("heartbeat.interval.ms", Number(), PartOf("max.poll.interval.ms")),
    Rule("isolation.level", Text(("read_committed", "read_uncommitted")), Same()),
    Rule("max.partition.fetch.bytes", Number(0), Renamed("fetch.message.max.bytes", 1, 1_000_000_000)),
    Rule(
        "max.poll.interval.ms",
        Number(1),
        Computed(_membership_times, always=True),
        reason="at least session.timeout.ms and at most one day: a membership kept by librdkafka takes no other",
    ),
    Rule("max.poll.records", Number(1), Harmless("records are handed on as they come")),
    Rule(
        "partition.assignment.strategy",
        TextList(),
        Computed(_assignors),
        reason="range and roundrobin are ours, the cooperative one is librdkafka's; of a mixed list the eager ones are "
        "in force, as in Java",
    ),
    Rule("request.timeout.ms", Number(0), Renamed("socket.timeout.ms", 10, 300_000)),
    Rule("session.timeout.ms", Number(), PartOf("max.poll.interval.ms")),
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
