"""The numbers of partitions that a group's topics have at the source, as its members share them out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost


class TopicCounts:
    """The numbers that were shared out last, and whether they still hold. For one thread."""

    def __init__(self, source: Cluster) -> None:
        self._source = source
        self._shared: Mapping[str, int] | None = None

    def present(self, topics: Collection[str]) -> dict[str, int]:
        """Return the numbers that the source has now; raise ConnectionLost and ClusterUnreachable."""
        self._source.metadata.watch(topics)
        self._source.metadata.refresh()
        return self._counts(topics)

    def known(self, topics: Collection[str]) -> dict[str, int]:
        """Return the numbers as far as they are known: a source that is away keeps no group from sharing others."""
        self._source.metadata.watch(topics)
        if not all(self._counts(topics).values()):
            with suppress(ConnectionLost, ClusterUnreachable):
                self._source.metadata.refresh()
        return self._counts(topics)

    def _counts(self, topics: Collection[str]) -> dict[str, int]:
        return {topic: self._source.metadata.partitions(topic) for topic in topics}

    def share(self, counts: Mapping[str, int] | None) -> None:
        """Note what was shared out; None: another member watches the topics."""
        self._shared = counts

    def have_grown(self) -> bool:
        """Return True when partitions were added since; look for topics that have none."""
        if self._shared is None:
            return False
        if any(self._source.metadata.partitions(topic) > count for topic, count in self._shared.items()):
            return True
        if not all(self._shared.values()):
            self._source.metadata.stale()
        return False
