"""A bundle: the source partitions that share one transactional id at the target; and the names of a flow's bundles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple
from zlib import crc32

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.coordinator_partition import coordinator_partition

BUNDLES = 24
"""The number of a flow's bundles, for ever: two numbers would give a source partition two owners."""
_STATE_PARTITIONS = 50
FLOW = -1
"""The number of the bundle that holds the flow's record instead of positions."""
PREFIX = "legacy-mm"
"""All names begin with it, so that one rule for a prefix gives all rights."""
_PLAIN = re.compile(r"[A-Za-z0-9-]+")
_LONGEST = 60
"""The most letters of a group or an alias in a name; a topic's has room for all three."""
_DIGITS = 12


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


@dataclass(frozen=True, slots=True)
class FlowBundles:
    """A flow that a group copies."""

    group: str
    source: str
    """The alias of the source cluster."""
    target: str

    @property
    def name(self) -> str:
        """The part that no other flow has: `group.source.target` if all are plain, else with a digest.

        Brokers take dots and underscores in names of topics for the same.
        """
        parts = (self.group, self.source, self.target)
        if all(len(each) <= _LONGEST and _PLAIN.fullmatch(each) for each in parts):
            return ".".join(parts)
        readable = [re.sub(r"[^A-Za-z0-9-]", "-", each)[:_LONGEST] for each in parts]
        return ".".join((*readable, sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]))

    @property
    def positions_topic(self) -> str:
        """The topic; no mirror copies a topic with such an end."""
        return f"{PREFIX}-positions.{self.name}.internal"

    def bundle(self, number: int) -> Bundle:
        """Return a bundle by its number; FLOW is the one whose transactions write the flow's record."""
        last = "flow" if number == FLOW else str(number)
        place = TopicPartition(self.positions_topic, max(number, 0))
        return Bundle(f"{PREFIX}.{self.name}.{last}", place)
