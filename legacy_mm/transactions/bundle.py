"""A bundle: the source partitions that share one transactional id at the target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.coordinator_partition import coordinator_partition

BUNDLES = 24
"""The number of a flow's bundles, for ever: two numbers would give a source partition two owners."""
_STATE_PARTITIONS = 50
FLOW = -1
"""The number of the bundle that holds the flow's record instead of positions."""


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


def by_bundle(partitions: Iterable[TopicPartition], bundles: int) -> dict[int, list[TopicPartition]]:
    """Return the partitions of each bundle that has some, in the order of their numbers."""
    found: dict[int, list[TopicPartition]] = {}
    for partition in sorted(partitions):
        found.setdefault(bundle_of(partition, bundles), []).append(partition)
    return dict(sorted(found.items()))


def state_partition(transactional_id: str) -> int:
    """Return the partition of `__transaction_state` that keeps an id, for people who look for it.

    It is so with 50 partitions, the default of `transaction.state.log.num.partitions`: Java's hash of the id.
    """
    return coordinator_partition(transactional_id, _STATE_PARTITIONS)
