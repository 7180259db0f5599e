"""Fill topics: fast uniform load, and small topics of every kind. Rule: the same seed, the same bytes.

Producers place keyed records by murmur2 as Java clients do; null keys are spread at random.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from confluent_kafka import KafkaException, Producer

from legacy_mm.audit.cluster_access import (
    create_topic,
    end_offsets,
    list_topics,
    read_all,
    wait_until,
)
from legacy_mm.audit.record_comparison import ObservedHeaders, partition_of

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MILLISECONDS_2001 = 1_000_000_000_000
NEVER_EXPIRE = {"retention.ms": "-1"}
FLUSH_TIMEOUT = 120.0
FLUSH_SECONDS_A_PARTITION = 0.1  # librdkafka sends a request for each, and a topic may have 5,000
BATCH_BYTES = 131_072
BATCH_BYTES_OF_LARGE = 1_000_000
DIFFERENT_VALUES = 5_000
DIFFERENT_KEYS = 100_000

ClientValue = str | int | float | bool

# An idempotent producer needs half a second for its id; small topics keep order without one.
PLAIN: dict[str, ClientValue] = {
    "enable.idempotence": False,
    "max.in.flight.requests.per.connection": 1,
}


@dataclass(frozen=True, slots=True)
class Item:
    """A record to write; partition -1 lets the producer choose, timestamp 0 means now."""

    key: bytes | None = None
    value: bytes | None = None
    headers: ObservedHeaders = ()
    timestamp: int = 0
    partition: int = -1


@dataclass(frozen=True, slots=True)
class Loaded:
    """Numbers of records written: `visible` records can be read committed, `written` with aborted ones."""

    topic: str
    kind: str
    visible: int
    written: int
    partitions: int = 4
    config: Mapping[str, str] = field(default_factory=dict)  # for creating the same topic elsewhere


def load(
    bootstrap: str,
    topic: str,
    count: int,
    size: int,
    *,
    codec: str = "none",
    keyed: bool = True,
    headers: ObservedHeaders = (),
    seed: int = 7,
    partitions: int = 4,
    one_by_one: bool = False,
    idempotent: bool = True,
    batch_bytes: int = 0,
) -> Loaded:
    """Write `count` records with text-like values of `size` bytes; makes the topic if there is none.

    `one_by_one`: partition after partition, for full batches where there are thousands of partitions.
    Brokers before 0.11 know no `idempotent` producer. `batch_bytes`: the most of a batch before compression, if not
    enough for good speed.
    """
    if topic not in list_topics(bootstrap):
        create_topic(bootstrap, topic, partitions)
    values = text_values(size, seed=seed)
    keys = [b"key-%08d" % number for number in range(min(count, DIFFERENT_KEYS))]
    batch_bytes = batch_bytes or (BATCH_BYTES_OF_LARGE if size >= 5_000 else BATCH_BYTES)
    writer = _producer(bootstrap, codec, batch_bytes=batch_bytes, settings={} if idempotent else PLAIN)
    if one_by_one:
        keys.sort(key=lambda key: partition_of(key, partitions))
    attached = list(headers)
    for number in range(count):
        at = number * len(keys) // count if one_by_one else number % DIFFERENT_KEYS
        key = keys[at] if keyed else None
        value = values[number % DIFFERENT_VALUES]
        _produce(writer, topic, key=key, value=value, headers=attached)
        if number % 10_000 == 0:
            writer.poll(0)
    finish(writer, FLUSH_TIMEOUT + FLUSH_SECONDS_A_PARTITION * partitions)
    return Loaded(topic, f"{codec}, {size} bytes", count, count, partitions)


@functools.lru_cache(maxsize=4)
def text_values(size: int, *, seed: int = 7) -> Sequence[bytes]:
    """Return values that compress like text: words out of 2,000."""
    source = random.Random(seed)
    words = [source.randbytes(6).hex() for _ in range(2_000)]
    number = max(1, min(DIFFERENT_VALUES, 50_000_000 // max(size, 1)))
    made = [" ".join(source.choices(words, k=size // 13 + 1))[:size].encode() for _ in range(number)]
    return tuple(made[index % number] for index in range(DIFFERENT_VALUES))


def load_kinds(bootstrap: str, prefix: str, *, seed: int = 7, without: Collection[str] = ()) -> list[Loaded]:
    """Write one small topic of every kind, named `<prefix>-<kind>`; describes each.

    `without` names kinds that the broker is too old for.
    """
    source = random.Random(seed)
    rows: dict[str, tuple[str, Iterable[Item], Mapping[str, str]]] = {
        "keyed": ("keyed", _keyed(source, 2_000), {}),
        "null-keys": ("null keys", _null_keys(source, 3_000), {}),
        "tombstones": ("keys with null values", _tombstones(source, 400), {}),
        "empty-bytes": ("empty keys and values", _empty(200), {}),
        "headers": ("headers", _headers(400), {}),
        "old": ("old timestamps", _old(source, 400), {}),
        "big": ("records near 1 MB", _big(source, 8), {}),
        "append-time": ("log append time", _keyed(source, 400), {"message.timestamp.type": "LogAppendTime"}),
        "empty": ("empty topic", (), {}),
    }
    out = [
        _write(bootstrap, f"{prefix}-{name}", kind, items, config=config)
        for name, (kind, items, config) in rows.items()
        if name not in without
    ]
    for codec in CODECS:
        if (name := f"codec-{codec}") not in without:
            out.append(_write(bootstrap, f"{prefix}-{name}", f"codec {codec}", _keyed(source, 1_000), codec=codec))
            little = f"small batches, codec {codec}"
            items = _keyed(source, 1_000)
            out.append(_write(bootstrap, f"{prefix}-little-{codec}", little, items, codec=codec, batch_bytes=1_000))
    if "transactions" not in without:
        out.append(_write_transactions(bootstrap, f"{prefix}-transactions", source))
    if "compacted" not in without:
        out.append(load_compacted(bootstrap, f"{prefix}-compacted", source))
    return out


def load_compacted(bootstrap: str, topic: str, source: random.Random | None = None) -> Loaded:
    """Load batches of 60 records, some without a value, half made obsolete by later batches; wait for the cleaner."""
    source = source or random.Random(7)
    config = {
        **NEVER_EXPIRE,
        "cleanup.policy": "compact",
        "segment.ms": "1000",
        "min.cleanable.dirty.ratio": "0.01",
        "delete.retention.ms": "3600000",
    }
    create_topic(bootstrap, topic, 1, config=config)
    writer = _producer(bootstrap, "none", settings=PLAIN)
    for batch in range(8):
        # A timestamp that is 10 s later than the segment's first rolls the segment at once.
        timestamp = MILLISECONDS_2001 + batch * 10_000
        keys = [b"key-%d" % source.randrange(150) for _ in range(60)]
        items = [
            Item(key, b"round %d " % batch + key if at % 6 else None, timestamp=timestamp + at)
            for at, key in enumerate(keys)
        ]
        _produce_all(writer, topic, items)
        finish(writer)
    end = end_offsets(bootstrap, topic)[0]
    left = wait_until(lambda: _count_if_below(bootstrap, topic, end // 2), 120.0, f"the cleaner to work on {topic}")
    return Loaded(topic, "compacted", left, end, partitions=1, config=config)


def finish(writer: Producer, seconds: float = FLUSH_TIMEOUT) -> None:
    """Flush; TimeoutError when not everything was acknowledged."""
    if left := writer.flush(seconds):
        raise TimeoutError(f"{left} records were not acknowledged within {seconds:g} s")


def _write(
    bootstrap: str,
    topic: str,
    kind: str,
    items: Iterable[Item],
    *,
    codec: str = "none",
    batch_bytes: int = BATCH_BYTES,
    config: Mapping[str, str] | None = None,
) -> Loaded:
    settings = {**NEVER_EXPIRE, **(config or {})}
    create_topic(bootstrap, topic, config=settings)
    writer = _producer(bootstrap, codec, batch_bytes=batch_bytes, settings=PLAIN)
    count = _produce_all(writer, topic, items)
    finish(writer)
    return Loaded(topic, kind, count, count, config=settings)


def _write_transactions(bootstrap: str, topic: str, source: random.Random) -> Loaded:
    """Write committed, aborted, committed, aborted: markers and dead records between the living."""
    create_topic(bootstrap, topic, config=NEVER_EXPIRE)
    settings: dict[str, ClientValue] = {"transactional.id": f"{topic}-writer"}
    writer = _producer(bootstrap, "none", settings=settings)
    writer.init_transactions(FLUSH_TIMEOUT)
    visible = written = 0
    for number in range(4):
        writer.begin_transaction()
        count = _produce_all(writer, topic, _keyed(source, 150))
        finish(writer)  # an abort would purge records that were not sent yet
        written += count
        if number % 2:
            writer.abort_transaction(FLUSH_TIMEOUT)
        else:
            writer.commit_transaction(FLUSH_TIMEOUT)
            visible += count
    return Loaded(topic, "transactions", visible, written, config=NEVER_EXPIRE)


def _count_if_below(bootstrap: str, topic: str, limit: int) -> int:
    count = len(read_all(bootstrap, topic))
    return count if count <= limit else 0


def _producer(
    bootstrap: str, codec: str, *, batch_bytes: int = BATCH_BYTES, settings: Mapping[str, ClientValue] | None = None
) -> Producer:
    fixed: dict[str, ClientValue] = {
        "bootstrap.servers": bootstrap,
        "log_level": 0,
        "compression.type": codec,
        "partitioner": "murmur2_random",
        "sticky.partitioning.linger.ms": 0,
        "linger.ms": 20,
        "batch.size": batch_bytes,
        "message.max.bytes": 10_000_000,
        "queue.buffering.max.messages": 2_000_000,
        "queue.buffering.max.kbytes": 1 << 20,
        "delivery.report.only.error": True,
        "enable.idempotence": True,
    }
    # A callback that raises makes poll and flush raise.
    return Producer({**fixed, **(settings or {}), "on_delivery": _raise_on_error})


def _raise_on_error(error: object, message: object) -> None:
    if error is not None:
        raise KafkaException(error)


def _produce_all(writer: Producer, topic: str, items: Iterable[Item]) -> int:
    count = 0
    for item in items:
        _produce(
            writer,
            topic,
            key=item.key,
            value=item.value,
            headers=list(item.headers),
            timestamp=item.timestamp,
            partition=item.partition,
        )
        count += 1
    return count


def _produce(
    writer: Producer,
    topic: str,
    *,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[tuple[str, bytes | None]] = (),
    timestamp: int = 0,
    partition: int = -1,
) -> None:
    while True:
        try:
            writer.produce(
                topic,
                value,
                key,
                partition=partition,
                timestamp=timestamp,
                headers=headers,  # type: ignore[arg-type]
            )
            return
        except BufferError:  # the queue is full: let it drain
            writer.poll(0.1)


def _keyed(source: random.Random, count: int) -> Iterator[Item]:
    for number in range(count):
        yield Item(b"key-%d" % source.randrange(300), b"%d " % number + source.randbytes(20).hex().encode())


def _null_keys(source: random.Random, count: int) -> Iterator[Item]:
    for number in range(count):
        yield Item(None, b"%d " % number + source.randbytes(250).hex().encode())


def _tombstones(source: random.Random, count: int) -> Iterator[Item]:
    for number in range(count):
        yield Item(b"key-%d" % source.randrange(40), None if number % 3 == 0 else b"%d" % number)


def _empty(count: int) -> Iterator[Item]:
    for number in range(count):
        key = (b"", b"key", None)[number % 3]
        yield Item(key, (b"", None, b"value %d" % number)[number // 3 % 3])


def _headers(count: int) -> Iterator[Item]:
    kinds: tuple[ObservedHeaders, ...] = (
        (("trace", b"1"),),
        (("twice", b"first"), ("twice", b"second"), ("other", b"")),
        (("null", None), ("twice", None), ("twice", b"x")),
        (("Größe", "größer".encode()), ("binary", bytes(range(256)))),
        (),
    )
    for number in range(count):
        yield Item(b"key-%d" % (number % 50), b"%d" % number, kinds[number % len(kinds)])


def _old(source: random.Random, count: int) -> Iterator[Item]:
    for number in range(count):
        # Not in order, as real late events are not; and one at the first millisecond of 1970.
        timestamp = MILLISECONDS_2001 + source.randrange(10**9) if number else 1
        yield Item(b"key-%d" % (number % 50), b"%d" % number, timestamp=timestamp)


def _big(source: random.Random, count: int) -> Iterator[Item]:
    for number in range(count):
        yield Item(b"key-%d" % number, source.randbytes(1_000_000))
