"""Source offsets become target offsets: by the exact pairs where they are known, else by offset syncs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from legacy_mm.clock import Deadline
from legacy_mm.errors import CorruptRecords
from legacy_mm.kafka.internal_log import InternalLog
from legacy_mm.model import OffsetPair, TopicPartition
from legacy_mm.policies.offset_sync_store import NOT_TRANSLATABLE, OffsetSyncStore
from legacy_mm.protocol.mirror_records import OffsetSync

Exact = Callable[[TopicPartition, int], int | None]
"""Source partition and offset -> offset at the target, where every pair is known."""


class Translated(NamedTuple):
    """Where reading goes on at the target."""

    offset: int
    exact: bool
    """Else by an offset sync: nothing is missed, some records may be read again."""


class Translation:
    """What the topic of offset syncs says, read again and again by one thread."""

    def __init__(self, syncs: InternalLog, exact: Exact) -> None:
        self._syncs = syncs
        self._exact = exact
        self._stores: defaultdict[TopicPartition, OffsetSyncStore] = defaultdict(_store)

    def refresh(self, deadline: Deadline) -> None:
        """Read what is new; raises HostError. What is no offset sync is passed over."""
        for key, value in self._syncs.read(deadline):
            try:
                sync = OffsetSync.decode(key, value)
            except CorruptRecords:
                continue
            self._stores[TopicPartition(sync.topic, sync.partition)].add(sync.upstream, sync.downstream)

    def of(self, partition: TopicPartition, offset: int) -> Translated | None:
        """Where a group goes on that would read this offset of the source next; None: nobody can tell."""
        exact = self._exact(partition, offset)
        if exact is not None:
            return Translated(exact, exact=True)
        store = self._stores.get(partition)
        found = None if store is None else store.translate(offset)
        return None if found is None or found == NOT_TRANSLATABLE else Translated(found, exact=False)

    def syncs(self, partition: TopicPartition) -> tuple[OffsetPair, ...]:
        """The offset syncs that are used for a partition, the newest first; neighbours may be the same."""
        store = self._stores.get(partition)
        return () if store is None else store.slots


def _store() -> OffsetSyncStore:
    """Every sync counts: all are read before an offset is asked, and known checkpoints keep it from going back."""
    store = OffsetSyncStore(must_read_to_end=False)
    store.first_read_ended()
    return store
