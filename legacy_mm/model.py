"""Values every layer speaks. Frozen, without behaviour beyond their own meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class TopicPartition(NamedTuple):
    """A partition of a topic at the source; printed as Kafka prints it: `orders-3`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


Offsets = Mapping[TopicPartition, int]
"""Per partition the *next* offset to read: one past the last one that counts."""

EARLIEST = -2
LATEST = -1
"""Logical start offsets, with the numbers Kafka's ListOffsets uses."""


def describe_partitions(partitions: Iterable[TopicPartition]) -> str:
    """`[orders-0, orders-1]`, sorted, as Kafka's log lines have it."""
    return "[" + ", ".join(str(partition) for partition in sorted(partitions)) + "]"


def describe_offsets(offsets: Offsets) -> str:
    """`{orders-0=17, orders-1=4}`, sorted."""
    return "{" + ", ".join(f"{partition}={offsets[partition]}" for partition in sorted(offsets)) + "}"
