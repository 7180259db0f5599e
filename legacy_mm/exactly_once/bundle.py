"""A bundle: the source partitions that share one transactional id at the target."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from legacy_mm.model import TopicPartition


class Bundle(NamedTuple):
    """The parts of a bundle that never change."""

    transactional_id: str
    positions: TopicPartition
    """The partition of the positions topic, at the target, that holds its positions and nobody else's."""


def bundle_of(partition: TopicPartition, bundles: int) -> int:
    """Return the number of the bundle of a source partition.

    It depends on nothing else, and `bundles` is fixed for a flow. So two owners of a partition use the same
    transactional id, and the coordinator lets only the later one commit.
    """
    return (crc32(partition.topic.encode()) + partition.partition) % bundles
