"""The topics of a cluster that is not there. mypy holds them to the protocol `TopicLister`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from typing_extensions import override

from legacy_mm.clients.api import TopicLister


class FakeTopicLister(TopicLister):
    """Lists its topics, and matches those that begin with an a; topic `ab` is recreated before the second look."""

    def __init__(self) -> None:
        self.looks = 0

    @override
    def topics(self) -> list[str]:
        return ["__consumer_offsets", "a", "ab", "b"]

    @override
    def topic_ids(self, topics: Collection[str]) -> dict[str, str]:
        self.looks += 1
        return {topic: f"{topic}-{min(self.looks, 2) if topic == 'ab' else 1}" for topic in topics}

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """As a pattern does."""
        return frozenset(name for name in names if name.startswith("a"))
