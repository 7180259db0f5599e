"""Writers that the flows of one process share where they write to the same topic of the same cluster.

Twenty flows into one cluster have one connection for their heartbeats, and those of one moment go as one batch.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter, OnResult


class TopicWriter(Protocol):
    """Writes records to one topic."""

    def send(self, key: bytes, value: bytes, timestamp: int | None = None) -> bool:
        """Queue a record; False when so many wait that there is no room for it."""

    def waiting(self) -> int:
        """Return the number of records that are neither written nor given up."""

    def close(self) -> None:
        """Discard waiting records without a report."""


class SharedWriters:
    """The writers of one process. Each flow opens its own share, and closes it."""

    def __init__(self, make: Callable[[ConnectionSettings, str, OnResult], InternalTopicWriter] | None = None) -> None:
        self._make = make or InternalTopicWriter
        self._lock = threading.Lock()
        self._open: list[_Shared] = []

    def open(self, settings: ConnectionSettings, topic: str, on_result: OnResult) -> TopicWriter:
        """Return a share in the writer of this topic, for keys that no other flow has; raise HostError as it does."""
        with self._lock:
            found = next((each for each in self._open if (each.settings, each.topic) == (settings, topic)), None)
            if found is None:
                found = _Shared(settings, topic)
                found.writer = self._make(settings, topic, found.on_result)
                self._open.append(found)
            share = _Share(self, found, on_result)
            found.shares.append(share)
            return share

    def leave(self, shared: _Shared, share: _Share) -> None:
        """Close the writer with its last share."""
        with self._lock:
            shared.shares.remove(share)
            if shared.shares:
                return
            self._open.remove(shared)
        shared.writer.close()


class _Shared:
    """A writer, and who has a share in it."""

    writer: InternalTopicWriter

    def __init__(self, settings: ConnectionSettings, topic: str) -> None:
        self.settings = settings
        self.topic = topic
        self.shares: list[_Share] = []

    def on_result(self, key: bytes, reason: str | None) -> None:
        """Pass a result on to the share that has sent the record."""
        for share in list(self.shares):
            if share.is_told(key):
                share.on_result(key, reason)


class _Share:
    """The writer as one flow sees it."""

    def __init__(self, owner: SharedWriters, shared: _Shared, on_result: OnResult) -> None:
        self._owner = owner
        self._shared = shared
        self.on_result = on_result
        self._under_way: Counter[bytes] = Counter()

    def send(self, key: bytes, value: bytes, timestamp: int | None = None) -> bool:
        self._under_way[key] += 1
        has_room = self._shared.writer.send(key, value, timestamp)
        if not has_room:
            self._under_way[key] -= 1
        return has_room

    def waiting(self) -> int:
        self._shared.writer.waiting()
        return self._under_way.total()

    def is_told(self, key: bytes) -> bool:
        """Return True if this share has sent the record of this result."""
        mine = self._under_way[key] > 0
        self._under_way[key] -= mine
        return mine

    def close(self) -> None:
        self._owner.leave(self._shared, self)
