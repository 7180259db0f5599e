"""The topics of the demo: rows of `samples/demo/topics.toml`, written to a cluster. Rule: no clock, no chance.

The same file gives the same bytes, so that two runs of the demo show the same checksums.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from confluent_kafka import KafkaException, Producer

from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.load import DIFFERENT_VALUES, Item, text_values
from legacy_mm.audit.record_comparison import ObservedHeaders
from legacy_mm.base.errors import ConfigurationError

MILLISECONDS_APART = 10
FLUSH_TIMEOUT = 60
POLL_EVERY = 5_000


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic of the sample file."""

    name: str
    mirrored: bool
    partitions: int
    records: int
    keys: int  # different ones; 0 = all keys are null
    value_bytes: int
    compression_type: str
    headers: tuple[str, ...] = ()
    tombstone_every: int = 0  # 0 = none
    first_timestamp: int = 0

    def __str__(self) -> str:
        kinds = [f"{self.keys:,} keys" if self.keys else "null keys"]
        kinds += ["headers"] if self.headers else []
        kinds += ["tombstones"] if self.tombstone_every else []
        kinds += [self.compression_type] if self.compression_type != "none" else []
        return f"{self.name} ({', '.join(kinds)})"


def read_rows(path: Path) -> list[TopicRow]:
    """Return the rows of a sample file; ConfigurationError names the fault in it."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        start: datetime = content["first_timestamp"]
        return [
            TopicRow(
                **{**row, "headers": tuple(row.get("headers", ()))},
                first_timestamp=int(start.timestamp() * 1000),
            )
            for row in content["topic"]
        ]
    except (KeyError, TypeError, AttributeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be used: {error}") from error


def items(row: TopicRow, numbers: range | None = None) -> Iterator[Item]:
    """Yield the records of a topic, all or these; values contain their number, so that each is different."""
    values = text_values(row.value_bytes)
    for number in range(row.records) if numbers is None else numbers:
        empty = row.tombstone_every and number % row.tombstone_every == 0
        yield Item(
            key=b"key-%06d" % (number * 7919 % row.keys) if row.keys else None,
            value=None if empty else b"%08d %s" % (number, values[number % DIFFERENT_VALUES]),
            headers=_headers(row.headers, number),
            timestamp=row.first_timestamp + number * MILLISECONDS_APART,
        )


def write_topic(bootstrap: str, row: TopicRow) -> int:
    """Create a topic and write its records; the bytes of its keys and values."""
    create_topic(bootstrap, row.name, row.partitions)
    return write_items(bootstrap, row)


def write_items(bootstrap: str, row: TopicRow, numbers: range | None = None) -> int:
    """Write the records of a topic that is there, all or these; the bytes of their keys and values."""
    writer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "compression.type": row.compression_type,
            "partitioner": "murmur2_random",  # places keys as Java clients do
            "enable.idempotence": True,
            "linger.ms": 20,
            "batch.size": 131_072,
            "queue.buffering.max.messages": 1_000_000,
            "delivery.report.only.error": True,
            "on_delivery": _raise_on_error,
        }
    )
    size = 0
    for number, item in enumerate(items(row, numbers)):
        headers: list[tuple[str, str | bytes | None]] = list(item.headers)
        writer.produce(row.name, item.value, item.key, timestamp=item.timestamp, headers=headers)
        size += len(item.key or b"") + len(item.value or b"")
        if number % POLL_EVERY == 0:
            writer.poll(0)
    for _ in range(FLUSH_TIMEOUT):  # one second each, so that Ctrl-C is noticed
        if not writer.flush(1.0):
            return size
    raise TimeoutError(f"{row.name} at {bootstrap} was not acknowledged within {FLUSH_TIMEOUT} s")


def _headers(names: tuple[str, ...], number: int) -> ObservedHeaders:
    # Each fourth record has a header without a value, which is not the same as an empty one.
    return tuple(
        (name, None if (number + place) % 4 == 0 else b"%s-%d" % (name.encode(), number))
        for place, name in enumerate(names)
    )


def _raise_on_error(error: object, message: object) -> None:
    if error is not None:
        raise KafkaException(error)
