"""Values every layer speaks. Frozen, without behaviour beyond their own meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class TopicPartition(NamedTuple):
    """A partition of a topic at the source; printed as Kafka prints it: `orders-3`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


Offsets = Mapping[TopicPartition, int]
"""Per partition the *next* offset to read: one past the last one that counts."""


class OffsetPair(NamedTuple):
    """One position at the source and at the target."""

    upstream: int
    downstream: int


class OffsetRun(NamedTuple):
    """Records at consecutive source offsets that were written at consecutive target offsets."""

    upstream: int
    downstream: int
    length: int

    @property
    def end(self) -> OffsetPair:
        """One past its last record."""
        return OffsetPair(self.upstream + self.length, self.downstream + self.length)


class OffsetMapChunk(NamedTuple):
    """A part of what was ever added to an offset map, in that order."""

    number: int
    copied_until: int
    """What had been copied at most before it: one past the greatest source offset."""
    follows: OffsetRun | None
    """The last run of the chunk before; None: nothing before counts any more."""
    runs: tuple[OffsetRun, ...]
    """One of length 0: what lies between it and the next one was copied from there on, but not known where to."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A batch of source records, turned: one sequence per field, all of the same length."""

    topics: Sequence[str]
    partitions: Sequence[int]
    offsets: Sequence[int]
    timestamp_types: Sequence[int]
    """0 none, 1 the producer's, 2 the broker's."""
    timestamps: Sequence[int]
    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    headers: Sequence[tuple[tuple[str, bytes | None], ...]]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """One tuple for each record, with the fields in this order."""
        return zip(*(getattr(self, name) for name in self.__slots__), strict=True)

    def part(self, begin: int, end: int | None = None) -> Columns:
        """The records from one number to before another."""
        return Columns(*(getattr(self, name)[begin:end] for name in self.__slots__))


Outgoing = tuple[str, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...], int | None, int | None]
"""A record for the target: topic, key, value, headers, partition (None: by its key), timestamp (None: now)."""

EARLIEST = -2
LATEST = -1
"""Logical start offsets, with the numbers Kafka's ListOffsets uses."""


def describe_partitions(partitions: Iterable[TopicPartition]) -> str:
    """`[orders-0, orders-1]`, sorted, as Kafka's log lines have it."""
    return "[" + ", ".join(str(partition) for partition in sorted(partitions)) + "]"


def describe_offsets(offsets: Offsets) -> str:
    """`{orders-0=17, orders-1=4}`, sorted."""
    return "{" + ", ".join(f"{partition}={offsets[partition]}" for partition in sorted(offsets)) + "}"
