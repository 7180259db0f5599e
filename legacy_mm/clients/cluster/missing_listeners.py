"""Partitions whose leader is a broker that lacks the client's listener: it runs, and no client of ours reaches it."""

from __future__ import annotations

from collections.abc import Collection

from legacy_mm.base.model import TopicPartition, describe_partitions
from legacy_mm.logs import events

_MOST_NAMED = 10
"""The number in Java's line."""


class MissingListeners:
    """Says which partitions they are, each time that others are found."""

    def __init__(self, client: str) -> None:
        self._client = client
        self._reported: frozenset[TopicPartition] = frozenset()

    def note(self, partitions: frozenset[TopicPartition]) -> None:
        """Say these, unless they were the last that were said."""
        if partitions and partitions != self._reported:
            named = _first(partitions)
            events.emit(events.LISTENER_MISSING, client=self._client, count=len(partitions), partitions=named)
        self._reported = partitions


def listener_problem(partitions: Collection[TopicPartition]) -> str:
    """Return the problem of these partitions in Java's words, and what to do."""
    return events.WITHOUT_LISTENER.format(count=len(partitions), partitions=_first(partitions))


def _first(partitions: Collection[TopicPartition]) -> str:
    return describe_partitions(sorted(partitions)[:_MOST_NAMED])
