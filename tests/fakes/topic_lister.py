"""The topics of a cluster that is not there. mypy holds them to the protocol `TopicLister`."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import override

from legacy_mm.clients.admin.cluster_admin import TopicLister


class FakeTopicLister(TopicLister):
    """Lists its topics, and matches those that begin with an a; topic `ab` is recreated before the second look."""

    def __init__(self) -> None:
        self.looks = 0
        self.closed = False

    @override
    def topics(self) -> dict[str, str]:
        self.looks += 1
        names = ["__consumer_offsets", "a", "ab", "b"]
        return {name: f"{name}-{min(self.looks, 2) if name == 'ab' else 1}" for name in names}

    @override
    def close(self) -> None:
        self.closed = True

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """As a pattern does."""
        return frozenset(name for name in names if name.startswith("a"))
