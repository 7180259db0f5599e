"""Producer properties (config-map 1.2, 1.5); the ranges are librdkafka's.

Two properties only tune, and are read by meaning unless the user says `literal`: one request in
flight means order, which an idempotent producer keeps with five (librdkafka sends one partition
per request, so one in flight would be bound by the round trip); a small `batch.size` costs Java
nothing but would cost us a request per batch.
"""

from __future__ import annotations

from legacy_mm.base.property_names import MOST_PROPAGATION_MS
from legacy_mm.words.java_clients.client_properties import common
from legacy_mm.words.java_clients.client_properties.rule import (
    INT_MAX,
    LONG_MAX,
    Boolean,
    Computed,
    Emitted,
    Forgotten,
    Harmless,
    Mapped,
    Number,
    Ours,
    PartOf,
    PropertyReading,
    RefusedProperty,
    Renamed,
    Rule,
    Rules,
    Same,
    Text,
    boolean,
    config_exception,
    construction_exception,
)

_IN_FLIGHT = "max.in.flight.requests.per.connection"
_ORDERED_IN_FLIGHT = 5
"""The most requests in flight among which a broker keeps the order of an idempotent producer."""
_LEAST_BATCH = 983_040
_MIB = 1 << 20
_BUFFER_MEMORY = 32 * _MIB
_MAX_REQUEST_SIZE = 1_048_576
_LINGER = 1
"""Milliseconds, without effect: the engine sends at once."""
_IN_FLIGHT_REASON = "1 means order, which idempotence with five keeps"
_PROPAGATION_REASON = "how long a missing topic is waited for; this value, and what is more, means for ever"
_IN_TURN = "each record goes to the next partition in turn"
_ALL = ("all", "-1")
_JAVA = "org.apache.kafka.clients.producer."
_MURMUR2 = "murmur2_random"

_BYTES = ("", "org.apache.kafka.common.serialization.ByteArraySerializer")

DEFAULTS = {
    **common.DEFAULTS,
    "acks": "all",
    "retries": str(INT_MAX),
    "message.timeout.ms": "0",
    "partitioner": _MURMUR2,
    "message.max.bytes": str(_MAX_REQUEST_SIZE),
    "request.timeout.ms": "30000",
    "client.id": "producer-1",
}
OURS = {
    **common.OURS,
    _IN_FLIGHT: Ours(str(_ORDERED_IN_FLIGHT), _IN_FLIGHT_REASON),
    "queue.buffering.max.messages": Ours("0", "only buffer.memory bounds the queue, as in Java"),
    "topic.metadata.propagation.max.ms": Ours(str(MOST_PROPAGATION_MS), _PROPAGATION_REASON),
    "linger.ms": Ours(str(_LINGER), "without effect: the batches of the source are sent as they come"),
    "sticky.partitioning.linger.ms": Ours("0", "null keys are spread per record: no partition stays empty"),
}


def idempotent(reading: PropertyReading) -> bool:
    """Return True for an idempotent producer, as Java decides: by name, or else if the file has no obstacle."""
    obstacles = _obstacles(reading)
    if reading.boolean("enable.idempotence", False) and obstacles:
        raise config_exception(obstacles[0][1])
    return reading.boolean("enable.idempotence", not obstacles)


def _obstacles(reading: PropertyReading) -> list[tuple[str, str]]:
    """Return Java's message for each obstacle: without idempotence, and if idempotence was asked for."""
    obstacles = []
    acks = reading.text("acks", "all")
    if acks not in _ALL:
        obstacles.append(
            (
                f"Idempotence will be disabled because acks is set to {acks}, not set to 'all'.",
                "Must set acks to all in order to use the idempotent producer. Otherwise we "
                "cannot guarantee idempotence.",
            )
        )
    if reading.integer("retries", INT_MAX) == 0:
        obstacles.append(
            (
                "Idempotence will be disabled because retries is set to 0.",
                "Must set retries to non-zero when using the idempotent producer.",
            )
        )
    in_flight = reading.integer(_IN_FLIGHT, 1)
    if in_flight > _ORDERED_IN_FLIGHT:
        obstacles.append(
            (
                f"Idempotence will be disabled because {_IN_FLIGHT} is set to {in_flight}, which is greater than 5.",
                f"Must set {_IN_FLIGHT} to at most 5 to use the idempotent producer.",
            )
        )
    return obstacles


def _idempotence(reading: PropertyReading) -> Emitted:
    on = idempotent(reading)
    if not on and not reading.given("enable.idempotence"):
        for said, _ in _obstacles(reading):
            reading.note(said)
    in_flight = reading.integer(_IN_FLIGHT, 1)
    by_meaning = not reading.given(_IN_FLIGHT) or not reading.literal
    if on and in_flight == 1 and by_meaning:
        in_flight = _ORDERED_IN_FLIGHT
        if reading.given(_IN_FLIGHT):
            reading.note(
                f"{_IN_FLIGHT}=1 is read as: keep the order. The idempotent producer does so with "
                "5 (--producer.tuning literal takes the number)."
            )
    in_flight = reading.clamp(_IN_FLIGHT, in_flight, 1, 1_000_000)
    return {"enable.idempotence": boolean(on), _IN_FLIGHT: str(in_flight)}


def _batch_size(reading: PropertyReading) -> Emitted:
    size = reading.integer("batch.size", 16_384)
    if not reading.literal and size < _LEAST_BATCH:
        reading.note(
            f"batch.size={size} is read as a lower bound: {_LEAST_BATCH} is used "
            "(--producer.tuning literal takes the number)."
        )
        return {"batch.size": str(_LEAST_BATCH)}
    return {"batch.size": str(size)} if size else {"batch.num.messages": "1"}


def _buffer_memory(reading: PropertyReading) -> Emitted:
    total = reading.integer("buffer.memory", _BUFFER_MEMORY)
    # a share must hold the largest record the whole could, or that record would never fit
    record = min(reading.integer("max.request.size", _MAX_REQUEST_SIZE), 1_000_000_000)
    share = max(total // reading.streams, min(total, max(_MIB, record)))
    return {"queue.buffering.max.kbytes": str(max(1, min(-(-share // 1024), INT_MAX)))}


def _compression(reading: PropertyReading) -> Emitted:
    kind = reading.text("compression.type", "none")
    emitted = {"compression.type": kind} if reading.given("compression.type") else {}
    name = f"compression.{kind}.level"
    if not reading.given(name):
        return emitted
    level = reading.integer(name, -1)
    if kind == "lz4":
        # Java's default 9 means the fast compressor
        level = -1 if level == 9 else min(level, 12)
    elif kind == "zstd":
        level = reading.clamp(name, level, 1, 12)
    return {**emitted, "compression.level": str(level)}


def _timeouts(reading: PropertyReading) -> Emitted:
    request = reading.integer("request.timeout.ms", 30_000)
    linger = reading.integer("linger.ms", 0)
    delivery = reading.integer("delivery.timeout.ms", INT_MAX)
    if delivery < min(linger + request, INT_MAX):
        raise construction_exception(
            "producer", "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms"
        )
    emitted = {}
    if reading.given("request.timeout.ms"):
        # request.timeout.ms alone is a false friend: only the broker's patience with its replicas
        wait = reading.clamp("request.timeout.ms", request, 10, 300_000)
        emitted["socket.timeout.ms"] = str(wait)
        emitted["request.timeout.ms"] = str(max(1, min(request, 900_000)))
    # 0 means for ever here and at once in Java; the largest number means for ever in Java
    infinite = delivery == INT_MAX
    emitted["message.timeout.ms"] = "0" if infinite else str(max(delivery, 1))
    chosen = linger if reading.given("linger.ms") else _LINGER
    chosen = reading.clamp("linger.ms", chosen, 0, 900_000)
    emitted["linger.ms"] = str(chosen if infinite else min(chosen, max(delivery, 1) - 1))
    return emitted


def _max_block(reading: PropertyReading) -> Emitted:
    # how long a missing target topic may be waited for; the legacy tool's default is for ever
    wait = reading.integer("max.block.ms", LONG_MAX)
    return {"topic.metadata.propagation.max.ms": str(min(wait, MOST_PROPAGATION_MS))}


def _client_id(reading: PropertyReading) -> Emitted:
    return {"client.id": reading.text("client.id") or DEFAULTS["client.id"]}


def _ignore_keys(reading: PropertyReading) -> Emitted:
    if not reading.boolean("partitioner.ignore.keys", False):
        return {}
    # an own partitioner class decides alone, in Java too
    return {} if reading.text("partitioner.class") else {"partitioner": "random"}


RULES: Rules = (
    *common.RULES,
    Rule("acks", Text(("all", "-1", "0", "1")), Same()),
    Rule(
        "batch.size",
        Number(0),
        Computed(_batch_size),
        reason="a lower bound of ours: larger batches cost both clusters less",
    ),
    Rule(
        "buffer.memory",
        Number(0, long=True),
        Computed(_buffer_memory, always=True),
        reason="each stream has its share, large enough for max.request.size",
    ),
    Rule("client.id", Text(), Computed(_client_id), reason="an empty name is producer-1"),
    Rule(
        "compression.type",
        Text(("none", "gzip", "snappy", "lz4", "zstd")),
        Computed(_compression),
        reason="with its level; without it whole batches keep the codec of the source",
    ),
    Rule("compression.gzip.level", Number(-1, 9), PartOf("compression.type")),
    Rule("compression.lz4.level", Number(1, 17), PartOf("compression.type")),
    Rule("compression.zstd.level", Number(-131_072, 22), PartOf("compression.type")),
    Rule(
        "delivery.timeout.ms",
        Number(0),
        Computed(_timeouts, always=True),
        reason="the largest number means for ever, here 0; 0 means at once, here 1",
    ),
    Rule("linger.ms", Number(0, long=True), PartOf("delivery.timeout.ms"), reason="below delivery.timeout.ms"),
    Rule(
        "request.timeout.ms",
        Number(0),
        PartOf("delivery.timeout.ms"),
        reason="called socket.timeout.ms here; request.timeout.ms is only the broker's patience with its replicas",
    ),
    Rule(
        "enable.idempotence",
        Boolean(),
        Computed(_idempotence, always=True),
        reason="on unless acks, retries or the requests in flight forbid it, as in Java",
    ),
    Rule(_IN_FLIGHT, Number(1), PartOf("enable.idempotence"), reason=_IN_FLIGHT_REASON),
    Rule("retries", Number(0), Same()),
    Rule("max.block.ms", Number(0, long=True), Computed(_max_block), reason=_PROPAGATION_REASON),
    Rule("max.request.size", Number(0), Renamed("message.max.bytes", 1000, 1_000_000_000)),
    Rule("metadata.max.idle.ms", Number(5000, long=True), Harmless("batches keep to Java's five minutes")),
    Rule(
        "partitioner.adaptive.partitioning.enable",
        Boolean(),
        Harmless("null keys go to partitions that have a leader", ("true",)),
    ),
    Rule(
        "partitioner.availability.timeout.ms",
        Number(0, long=True),
        Harmless("null keys go to partitions that have a leader", ("0",)),
    ),
    Rule(
        "partitioner.class",
        Text(),
        Mapped(
            "partitioner",
            {
                "": _MURMUR2,
                _JAVA + "internals.DefaultPartitioner": _MURMUR2,
                _JAVA + "UniformStickyPartitioner": "random",
                _JAVA + "RoundRobinPartitioner": "random",
            },
        ),
        reason=f"RoundRobinPartitioner, UniformStickyPartitioner: {_IN_TURN}",
    ),
    Rule("partitioner.ignore.keys", Boolean(), Computed(_ignore_keys), reason=_IN_TURN),
    Rule("transaction.timeout.ms", Number(), Harmless("transactions only")),
    Rule("transaction.two.phase.commit.enable", Text(), Forgotten(later=True)),
    Rule(
        "transactional.id",
        Text(),
        RefusedProperty("no transaction would ever begin, and the legacy tool ended at the first record"),
    ),
    Rule("key.serializer", Text(), Harmless(common.BYTES_ONLY, _BYTES)),
    Rule("value.serializer", Text(), Harmless(common.BYTES_ONLY, _BYTES)),
    Rule("block.on.buffer.full", Text(), Forgotten("max.block.ms")),
    Rule("metadata.fetch.timeout.ms", Text(), Forgotten("max.block.ms")),
    Rule("timeout.ms", Text(), Forgotten("request.timeout.ms")),
    Rule("internal.auto.downgrade.txn.commit", Text(), Forgotten()),
)
"""Rows of every name a Java producer has had."""
