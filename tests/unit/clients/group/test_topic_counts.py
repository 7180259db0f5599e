"""The numbers of partitions that members share out, also while a source is away."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.clients.group.topic_counts import TopicCounts
from legacy_mm.clients.net.connection_errors import ClusterUnreachable


class FakeMetadata:
    """What a source tells: the numbers of `at_source`, after a refresh."""

    def __init__(self, **at_source: int) -> None:
        self.at_source = at_source
        self.is_away = False
        self.watched: set[str] = set()
        self.refreshes = self.stales = 0
        self._known: dict[str, int] = {}

    def watch(self, topics: Collection[str]) -> None:
        self.watched |= set(topics)

    def refresh(self) -> None:
        self.refreshes += 1
        if self.is_away:
            raise ClusterUnreachable("away")
        self._known = {topic: count for topic, count in self.at_source.items() if topic in self.watched}

    def partitions(self, topic: str) -> int:
        return self._known.get(topic, 0)

    def stale(self) -> None:
        self.stales += 1


def counts_of(metadata: FakeMetadata) -> TopicCounts:
    source: Any = SimpleNamespace(metadata=metadata)
    return TopicCounts(source)


def test_the_present_numbers_are_asked_for_each_time() -> None:
    metadata = FakeMetadata(orders=4)
    counts = counts_of(metadata)
    assert counts.present({"orders", "new"}) == {"orders": 4, "new": 0}
    metadata.at_source["orders"] = 6
    assert counts.present({"orders"}) == {"orders": 6}
    metadata.is_away = True
    with pytest.raises(ClusterUnreachable):
        counts.present({"orders"})


def test_what_is_known_needs_no_source() -> None:
    metadata = FakeMetadata(orders=4)
    counts = counts_of(metadata)
    metadata.is_away = True
    assert counts.known({"orders"}) == {"orders": 0}
    metadata.is_away = False
    assert counts.known({"orders"}) == {"orders": 4}
    metadata.is_away = True
    before = metadata.refreshes
    assert counts.known({"orders"}) == {"orders": 4}
    assert metadata.refreshes == before


def test_partitions_that_were_added_are_seen_by_who_has_shared_them_out() -> None:
    metadata = FakeMetadata(orders=4)
    counts = counts_of(metadata)
    assert not counts.have_grown()
    counts.share(counts.present({"orders"}))
    assert not counts.have_grown()
    metadata.at_source["orders"] = 6
    metadata.refresh()
    assert counts.have_grown()
    counts.share(None)
    assert not counts.have_grown()


def test_a_topic_without_partitions_is_looked_for() -> None:
    metadata = FakeMetadata()
    counts = counts_of(metadata)
    counts.share(counts.present({"new"}))
    assert not counts.have_grown()
    assert metadata.stales == 1
