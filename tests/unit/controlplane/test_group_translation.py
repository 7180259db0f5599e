"""Where a group goes on when nothing is known of its partition; both clusters are stand-ins."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from legacy_mm.clock import Deadline
from legacy_mm.controlplane import group_translation
from legacy_mm.controlplane.exact_offsets import StoredMaps
from legacy_mm.controlplane.group_translation import ClusterView, GroupTranslation, Known, Source
from legacy_mm.controlplane.translation import StoredSyncs
from legacy_mm.model import TopicPartition
from legacy_mm.policies.group_position import Answer, How
from legacy_mm.wire.groups import CommittedOffset

HERE = TopicPartition("t", 0)


class Nothing:
    """A log without records."""

    def read(self, deadline: Deadline) -> list[Any]:
        return []


class Cluster:
    """Its groups, and its topics with one partition."""

    def __init__(self, ends: tuple[int, int], committed: int = 0) -> None:
        self._ends = ends
        self._committed = committed

    def offsets(self, groups: list[str], deadline: Deadline) -> Any:
        return {"g": {HERE: CommittedOffset(self._committed, "")}}, {}

    def partitions(self, deadline: Deadline) -> dict[str, int]:
        return {"t": 1}

    def log_ends(self, places: Collection[TopicPartition], deadline: Deadline) -> Any:
        return dict.fromkeys(places, self._ends)


@pytest.mark.parametrize(
    ("committed", "target", "expected"),
    [
        (50, (0, 100), Answer(How.UNKNOWN)),
        (100, (0, 100), Answer(How.NOTHING_TO_READ, 100)),
        (50, (70, 70), Answer(How.NOTHING_TO_READ, 70)),
    ],
    ids=["the copy may hold unread records", "all was read", "the copy is empty"],
)
def test_a_source_that_retention_has_emptied(
    committed: int, target: tuple[int, int], expected: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_translation, "has_records", lambda *_, **__: False)
    source, copy = Cluster((100, 100), committed), Cluster(target)
    nothing: Any = Nothing()
    translation = GroupTranslation(
        Source(source, source, {}, "mirror", committed_only=False),  # type: ignore[arg-type]
        ClusterView(copy, copy),  # type: ignore[arg-type]
        Known(StoredSyncs(nothing), StoredMaps(nothing)),
        lambda topics: {topic: topic for topic in topics},
    )
    (position,) = translation.positions("g", Deadline.after(5))
    assert (position.answer.how, position.answer.offset) == (expected.how, expected.offset)
