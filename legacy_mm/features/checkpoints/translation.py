"""Translates source offsets to target offsets: by the exact pairs if they are known, otherwise by offset syncs.

It also says when a checkpoint is due, and which offsets a group at the target is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import OffsetPair, TopicPartition
from legacy_mm.clients.topics.internal_log import InternalLog, decoded
from legacy_mm.features.checkpoints.group_position import best, first_known
from legacy_mm.features.offset_syncs.offset_map import Nearest
from legacy_mm.features.offset_syncs.offset_sync_store import OffsetSyncStore
from legacy_mm.protocol.mirror_records import Checkpoint, OffsetSync


class StoredSyncs:
    """The content of the topic of offset syncs, read repeatedly by one thread.

    Every sync counts: all are read before a translation, and known checkpoints keep it from going back.
    """

    def __init__(self, log: InternalLog) -> None:
        self._log = log
        self._stores: defaultdict[TopicPartition, OffsetSyncStore] = defaultdict(OffsetSyncStore)

    def refresh(self, deadline: Deadline) -> None:
        """Read new syncs; raises HostError. A record that is no offset sync is ignored."""
        for sync in decoded(self._log.read(deadline), OffsetSync.decode):
            self._stores[TopicPartition(sync.topic, sync.partition)].add(sync.upstream, sync.downstream)

    def pairs(self, partition: TopicPartition) -> tuple[OffsetPair, ...]:
        """Return the offset syncs used for a partition, the newest first; neighbours may be the same."""
        store = self._stores.get(partition)
        return () if store is None else store.slots


class StoredCheckpoints:
    """Checkpoints that the mirror has written, read repeatedly by one thread."""

    def __init__(self, log: InternalLog | None) -> None:
        """Take the log; None: the mirror emits no checkpoints."""
        self._log = log
        self._known: dict[tuple[str, TopicPartition], OffsetPair] = {}

    def refresh(self, deadline: Deadline) -> None:
        """Read new checkpoints; raises HostError. A record that is no checkpoint is ignored."""
        for each in () if self._log is None else decoded(self._log.read(deadline), Checkpoint.decode):
            place = TopicPartition(each.topic, each.partition)
            self._known[each.group, place] = OffsetPair(each.upstream, each.downstream)

    def last(self, group: str, place: TopicPartition) -> OffsetPair | None:
        """Return the last checkpoint of a group for a partition of the target."""
        return self._known.get((group, place))


class Translation:
    """Offsets at which groups continue, for use by one thread."""

    def __init__(self, syncs: StoredSyncs, nearest: Callable[[TopicPartition, int], Nearest]) -> None:
        """Take the syncs; `nearest` returns what the exact map of a source partition knows of an offset."""
        self._syncs = syncs
        self._nearest = nearest

    def refresh(self, deadline: Deadline) -> None:
        """Read new syncs; raises HostError."""
        self._syncs.refresh(deadline)

    def translate(self, partition: TopicPartition, offset: int) -> int | None:
        """Return the target offset for a group that would read this source offset next; None if it is unknown.

        No record is missed from there; if the exact map does not know the offset, some records may be read again.
        """
        return best(offset, self._nearest(partition, offset), self._syncs.pairs(partition)).offset

    def first_known(self, partition: TopicPartition) -> int | None:
        """Return the lowest source offset of which a pair is known; None: nothing is known of the partition."""
        return first_known(self._nearest(partition, -1).first, self._syncs.pairs(partition))


def is_due(last: OffsetPair | None, new: OffsetPair) -> bool:
    """Return True if a checkpoint is due after the last one of the same group and partition.

    The target's offset must have grown, unless the group was rewound at the source.
    """
    return last is None or last.upstream > new.upstream or last.downstream < new.downstream


def offsets_to_set(
    committed: Mapping[TopicPartition, int], translated: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Return the translated offsets of a group that are committed for it at the target: never one that goes back.

    `committed`: the current offsets there of the group, which has no members.
    """
    return {
        partition: offset
        for partition, offset in translated.items()
        if partition not in committed or committed[partition] < offset
    }
