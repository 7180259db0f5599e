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
from legacy_mm.model import OffsetMapChunk, OffsetRun, TopicPartition
from legacy_mm.policies.group_position import Answer, How
from legacy_mm.protocol.mirror_records import OffsetSync
from legacy_mm.protocol.offset_map_records import OffsetMapRecord
from legacy_mm.wire.groups import CommittedOffset

HERE = TopicPartition("t", 0)


class Records:
    """An internal topic."""

    def __init__(self, *held: tuple[bytes, bytes]) -> None:
        self._held = held

    def read(self, deadline: Deadline) -> tuple[tuple[bytes, bytes], ...]:
        return self._held


NOTHING: Any = Records()


class Cluster:
    """Its groups, and its topics with one partition; `ends`: question by question, the last one stays."""

    def __init__(self, *ends: tuple[int, int], committed: int = 0) -> None:
        self._ends = list(ends)
        self._committed = committed

    def offsets(self, groups: list[str], deadline: Deadline) -> Any:
        return {"g": {HERE: CommittedOffset(self._committed, "")}}, {}

    def partitions(self, deadline: Deadline) -> dict[str, int]:
        return {"t": 1}

    def log_ends(self, places: Collection[TopicPartition], deadline: Deadline) -> Any:
        return dict.fromkeys(places, self._ends.pop(0) if len(self._ends) > 1 else self._ends[0])


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
    found = answered(Cluster((100, 100), committed=committed), Cluster(target))
    assert (found.how, found.offset) == (expected.how, expected.offset)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [(((0, 59), (0, 60)), (How.EXACT, 60)), (((0, 59), (0, 59)), (How.COPY_MADE_AGAIN, None))],
    ids=["it was copied meanwhile", "the copy was made again"],
)
def test_nobody_goes_on_behind_the_end_of_the_copy(
    ends: tuple[tuple[int, int], ...], expected: tuple[How, int | None]
) -> None:
    sync = OffsetSync(*HERE, 50, 60).encode()
    run = OffsetMapRecord(*HERE, 0, OffsetMapChunk(0, 0, None, (OffsetRun(50, 60, 10),))).encode()
    found = answered(Cluster((0, 100), committed=50), Cluster(*ends), Records(sync), Records(run))
    assert (found.how, found.offset) == expected


@pytest.mark.parametrize(
    ("begin", "first_record", "expected"),
    [(0, 50, (How.EXACT, 60)), (0, 49, (How.TOO_OLD, None)), (21, 50, (How.TOO_OLD, None))],
    ids=["nothing stands before the first copy", "a record does", "what stood there was deleted"],
)
def test_a_group_before_the_first_record_that_was_copied(
    begin: int, first_record: int, expected: tuple[How, int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a reset to the beginning of a compacted topic."""
    holds = lambda _, topic, partition, since, until, **__: since <= first_record < until  # noqa: E731
    monkeypatch.setattr(group_translation, "has_records", holds)
    run = OffsetMapRecord(*HERE, 0, OffsetMapChunk(0, 0, None, (OffsetRun(50, 60, 10),))).encode()
    found = answered(Cluster((begin, 60), committed=20), Cluster((0, 70)), maps=Records(run))
    assert (found.how, found.offset) == expected


def answered(source: Cluster, target: Cluster, syncs: Any = NOTHING, maps: Any = NOTHING) -> Answer:
    """Where the group goes on, by what these topics hold."""
    known = Known(StoredSyncs(syncs), StoredMaps(maps))
    translation = GroupTranslation(
        Source(source, source, {}, "mirror", committed_only=False),  # type: ignore[arg-type]
        ClusterView(target, target),  # type: ignore[arg-type]
        known,
        lambda topics: {topic: topic for topic in topics},
    )
    (position,) = translation.positions("g", Deadline.after(5))
    return position.answer
