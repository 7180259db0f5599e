"""Producer properties (config-map 1.2, 1.5).

Two properties only tune, and are read by meaning unless the user says `literal`: one request in flight means order,
which an idempotent producer keeps with five; a small `batch.size` costs Java nothing but would cost us a request per
batch.
"""

from __future__ import annotations

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import FieldValues
from legacy_mm.words.java_clients.client_properties import common
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
    PartOf,
    PropertyReading,
    RefusedProperty,
    Rule,
    Rules,
    Text,
    Unit,
    config_exception,
    construction_exception,
    milliseconds,
)

_IN_FLIGHT = "max.in.flight.requests.per.connection"
_ORDERED_IN_FLIGHT = 5
"""The most requests in flight among which a broker keeps the order of an idempotent producer."""
_LEAST_BATCH = 983_040
_LEAST_REQUEST = 10
_MIB = 1 << 20
_BUFFER_MEMORY = 32 * _MIB
_MAX_REQUEST_SIZE = 1_048_576
_IN_FLIGHT_REASON = "1 means order, which idempotence with five keeps"
_PROPAGATION_REASON = "how long a missing topic is waited for; the largest number means for ever"
_AT_ONCE = "without effect: the batches of the source are sent as they come"
_BATCHES = "a lower bound of ours: larger batches cost both clusters less"
_IN_TURN = "each record goes to the next partition in turn"
_ALL = ("all", "-1")
_JAVA = "org.apache.kafka.clients.producer."
_MURMUR2, _RANDOM = "murmur2_random", "random"
_PARTITIONERS = {
    "": _MURMUR2,
    _JAVA + "internals.DefaultPartitioner": _MURMUR2,
    _JAVA + "UniformStickyPartitioner": _RANDOM,
    _JAVA + "RoundRobinPartitioner": _RANDOM,
}
_ACKS = Unit(lambda word: -1 if word in _ALL else int(word), lambda acks: "all" if acks == -1 else str(acks))
_PARTITIONER = Unit(str, {_MURMUR2: "", _RANDOM: _JAVA + "RoundRobinPartitioner"}.__getitem__)
_DELIVERY = milliseconds(never=INT_MAX)
_MAX_BLOCK = milliseconds(never=LONG_MAX)

_BYTES = ("", "org.apache.kafka.common.serialization.ByteArraySerializer")


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


def _idempotence(reading: PropertyReading) -> FieldValues:
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
    return {"produce.idempotent": on, "produce.in_flight": in_flight}


def _batch_size(reading: PropertyReading) -> FieldValues:
    size = reading.integer("batch.size", 16_384)
    if not reading.literal and size < _LEAST_BATCH:
        reading.note(
            f"batch.size={size} is read as a lower bound: {_LEAST_BATCH} is used "
            "(--producer.tuning literal takes the number)."
        )
        return {"produce.batch_bytes": _LEAST_BATCH}
    return {"produce.batch_bytes": size} if size else {"produce.batch_records": 1}


def _buffer_memory(reading: PropertyReading) -> FieldValues:
    total = reading.integer("buffer.memory", _BUFFER_MEMORY)
    # a share must hold the largest record the whole could, or that record would never fit
    record = min(reading.integer("max.request.size", _MAX_REQUEST_SIZE), 1_000_000_000)
    share = max(total // reading.streams, min(total, max(_MIB, record)))
    return {"produce.buffer_bytes": max(1, share)}


def _compression(reading: PropertyReading) -> FieldValues:
    kind = reading.text("compression.type", "none")
    emitted: FieldValues = {"produce.compression": kind} if reading.given("compression.type") else {}
    name = f"compression.{kind}.level"
    if not reading.given(name):
        return emitted
    level = reading.integer(name, -1)
    # Java's default 9 of lz4 means the fast compressor
    return {**emitted, "produce.compression_level": -1 if (kind, level) == ("lz4", 9) else level}


def _timeouts(reading: PropertyReading) -> FieldValues:
    request = reading.integer("request.timeout.ms", 30_000)
    linger = reading.integer("linger.ms", 0)
    delivery = reading.integer("delivery.timeout.ms", INT_MAX)
    if delivery < min(linger + request, INT_MAX):
        raise construction_exception(
            "producer", "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms"
        )
    found: dict[str, float] = {"produce.delivery_timeout": _DELIVERY.ours(max(delivery, 1))}
    if reading.given("request.timeout.ms"):
        # a client's patience with a broker, and the broker's with its replicas
        found["connection.socket_timeout"] = max(request, _LEAST_REQUEST) / 1000
        found["produce.request_timeout"] = max(request, 1) / 1000
    if reading.given("linger.ms"):
        found["produce.linger"] = min(linger, INT_MAX) / 1000
    return found


def _client_id(reading: PropertyReading) -> FieldValues:
    return {"connection.client_id": reading.text("client.id") or "producer-1"}


def _partitioner(reading: PropertyReading) -> FieldValues:
    name = reading.text("partitioner.class")
    if name not in _PARTITIONERS:
        raise ConfigurationError(f"partitioner.class={name} is not supported; possible are {', '.join(_PARTITIONERS)}")
    # an own partitioner class decides alone, in Java too
    ignores_keys = not name and reading.boolean("partitioner.ignore.keys", False)
    return {"produce.partitioner": _RANDOM if ignores_keys else _PARTITIONERS[name]}


RULES: Rules = (
    *common.RULES,
    Rule("acks", Text(("all", "-1", "0", "1")), ClientField("produce.acks", _ACKS)),
    Rule(
        "batch.size",
        Number(0),
        Computed(_batch_size),
        reason=_BATCHES,
        field=ClientField("produce.batch_bytes"),
        ours=_BATCHES,
    ),
    Rule(
        "buffer.memory",
        Number(0, long=True),
        Computed(_buffer_memory, always=True),
        reason="each stream has its share, large enough for max.request.size",
        field=ClientField("produce.buffer_bytes"),
    ),
    Rule(
        "client.id",
        Text(),
        Computed(_client_id, always=True),
        reason="an empty name is producer-1",
        field=ClientField("connection.client_id"),
    ),
    Rule(
        "compression.type",
        Text(("none", "gzip", "snappy", "lz4", "zstd")),
        Computed(_compression),
        reason="with its level; without it whole batches keep the codec of the source",
        field=ClientField("produce.compression"),
    ),
    Rule("compression.gzip.level", Number(-1, 9), PartOf("compression.type")),
    Rule("compression.lz4.level", Number(1, 17), PartOf("compression.type")),
    Rule("compression.zstd.level", Number(-131_072, 22), PartOf("compression.type")),
    Rule(
        "delivery.timeout.ms",
        Number(0),
        Computed(_timeouts, always=True),
        reason="the largest number means for ever; at least 1",
        field=ClientField("produce.delivery_timeout", _DELIVERY),
    ),
    Rule(
        "linger.ms",
        Number(0, long=True),
        PartOf("delivery.timeout.ms"),
        reason=_AT_ONCE,
        field=ClientField("produce.linger", MS),
        ours=_AT_ONCE,
    ),
    Rule(
        "request.timeout.ms",
        Number(0),
        PartOf("delivery.timeout.ms"),
        reason=f"the time for an answer, at least {_LEAST_REQUEST}, and for a broker to hear its replicas",
        field=ClientField("connection.socket_timeout", MS),
    ),
    Rule(
        "enable.idempotence",
        Boolean(),
        Computed(_idempotence, always=True),
        reason="on unless acks, retries or the requests in flight forbid it, as in Java",
        field=ClientField("produce.idempotent"),
    ),
    Rule(
        _IN_FLIGHT,
        Number(1),
        PartOf("enable.idempotence"),
        reason=_IN_FLIGHT_REASON,
        field=ClientField("produce.in_flight"),
        ours=_IN_FLIGHT_REASON,
    ),
    Rule("retries", Number(0), ClientField("produce.retries")),
    Rule(
        "max.block.ms",
        Number(0, long=True),
        ClientField("produce.missing_topic_timeout", _MAX_BLOCK, high=LONG_MAX),
        reason=_PROPAGATION_REASON,
    ),
    Rule("max.request.size", Number(0), ClientField("produce.max_request_bytes", low=1000)),
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
        Computed(_partitioner),
        reason=f"RoundRobinPartitioner, UniformStickyPartitioner: {_IN_TURN}",
        field=ClientField("produce.partitioner", _PARTITIONER),
    ),
    Rule("partitioner.ignore.keys", Boolean(), Computed(_partitioner), reason=_IN_TURN),
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
