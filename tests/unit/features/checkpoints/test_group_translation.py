"""Where a group goes on when nothing is known of its partition; both clusters are stand-ins."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import GroupOffsets, JoinedChunk, OffsetMapChunk, OffsetRun, TopicPartition
from legacy_mm.features.checkpoints import group_translation
from legacy_mm.features.checkpoints.group_position import GroupPosition, How
from legacy_mm.features.checkpoints.group_translation import (
    ClusterView,
    GroupTranslation,
    Known,
    Position,
    Source,
)
from legacy_mm.features.checkpoints.translation import StoredCheckpoints, StoredSyncs
from legacy_mm.features.offset_syncs.exact_offsets import StoredMaps
from legacy_mm.protocol.mirror_records import Checkpoint, OffsetSync
from legacy_mm.protocol.offset_map_records import OffsetMapRecord
from tests.fakes.groups import FakeGroups
from tests.fakes.inspector import FakeInspector
from tests.fakes.internal_topic import FakeInternalTopic

HERE, THERE = TopicPartition("t", 0), TopicPartition("t", 1)


class Cluster:
    """Its groups, and its topics with one partition; `ends`: question by question, the last one stays."""

    def __init__(self, *ends: tuple[int, int], committed: int = 0, mirrored: int | None = None) -> None:
        self.inspector = FakeInspector({"t": 1}, ends)
        self.groups = FakeGroups(g={HERE: committed}, mirror={} if mirrored is None else {HERE: mirrored})

    def mirrored(self, deadline: Deadline) -> GroupOffsets:
        """Where the mirror is."""
        return self.groups.offsets_of("mirror", deadline)

    def commit_others(self, offsets: Mapping[str, int | None]) -> None:
        """Group -> what it has committed of a second partition."""
        self.inspector.counts["t"] = 2
        for group, offset in offsets.items():
            self.groups.committed[group] |= {} if offset is None else {THERE: offset}


@pytest.mark.parametrize(
    ("committed", "target", "expected"),
    [
        (50, (0, 100), GroupPosition(How.UNKNOWN)),
        (100, (0, 100), GroupPosition(How.NOTHING_TO_READ, 100)),
        (50, (70, 70), GroupPosition(How.NOTHING_TO_READ, 70)),
    ],
    ids=["the copy may hold unread records", "all was read", "the copy is empty"],
)
def test_a_source_that_retention_has_emptied(
    committed: int, target: tuple[int, int], expected: GroupPosition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_translation, "has_records", lambda *_, **__: False)
    found = answered(Cluster((100, 100), committed=committed), Cluster(target))
    assert (found.how, found.offset) == (expected.how, expected.offset)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [(((0, 59), (0, 60)), (How.EXACT, 60)), (((0, 59), (0, 59)), (How.COPY_RECREATED, None))],
    ids=["it was copied meanwhile", "the copy was made again"],
)
def test_nobody_goes_on_behind_the_end_of_the_copy(
    ends: tuple[tuple[int, int], ...], expected: tuple[How, int | None]
) -> None:
    sync = OffsetSync(*HERE, 50, 60).encode()
    run = OffsetMapRecord(*HERE, 0, OffsetMapChunk(0, 0, None, (OffsetRun(50, 60, 10),))).encode()
    found = answered(Cluster((0, 100), committed=50), Cluster(*ends), FakeInternalTopic(sync), FakeInternalTopic(run))
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
    found = answered(Cluster((begin, 60), committed=20), Cluster((0, 70)), maps=FakeInternalTopic(run))
    assert (found.how, found.offset) == expected


def test_a_map_that_begins_with_a_joined_run_is_not_exact_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_translation, "has_records", lambda *_, **__: False)
    joined = JoinedChunk(0, 3, OffsetRun(70, 90, 5), None, (OffsetRun(50, 60, 20, 8),))
    newer = OffsetMapChunk(4, 0, joined.until_run, (OffsetRun(80, 100, 5),))
    records = [OffsetMapRecord(*HERE, place, chunk).encode() for place, chunk in ((32, joined), (4, newer))]
    found = answered(Cluster((0, 85), committed=20), Cluster((0, 105)), maps=FakeInternalTopic(*records))
    assert (found.how, found.offset) == (How.NEAREST_PAIR, 60)


@pytest.mark.parametrize(
    ("committed", "mirrored", "left", "expected"),
    [
        (100, 100, (), (How.AT_THE_END, 70)),
        (99, 100, (), (How.AT_THE_END, 70)),  # a marker stands last
        (99, 100, (99,), (How.UNKNOWN, None)),
        (100, 98, (98,), (How.UNKNOWN, None)),
        (100, None, (5,), (How.UNKNOWN, None)),
    ],
    ids=["at the end", "behind a marker", "the group is not", "the mirror is not", "the mirror never was"],
)
def test_the_ends_answer_where_all_is_read_and_copied(
    committed: int,
    mirrored: int | None,
    left: tuple[int, ...],
    expected: tuple[How, int | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a partition that has been idle since offsets are written down."""
    records = (*range(5, 50), *left)
    holds = lambda _, topic, partition, since, until, **__: any(since <= each < until for each in records)  # noqa: E731
    monkeypatch.setattr(group_translation, "has_records", holds)
    found = answered(Cluster((0, 100), committed=committed, mirrored=mirrored), Cluster((0, 70)))
    assert (found.how, found.offset) == expected


@pytest.mark.parametrize(
    ("other_group", "other_mirror", "how"),
    [(30, 30, How.AT_THE_END), (29, 30, How.UNKNOWN), (30, 29, How.UNKNOWN), (None, 30, How.UNKNOWN)],
)
def test_every_partition_of_the_topic_must_be_read(
    other_group: int | None, other_mirror: int, how: How, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records may have changed their partition before partitions were preserved."""
    monkeypatch.setattr(group_translation, "has_records", lambda _, topic, number, since, until, **__: since < until)
    source = Cluster((0, 30), committed=30, mirrored=30)
    source.commit_others({"g": other_group, "mirror": other_mirror})
    (found, *_) = positions(source, Cluster((0, 70)))
    assert found.answer.how is how


@pytest.mark.parametrize(
    ("upstream", "downstream", "expected"),
    [
        (20, 25, (How.CHECKPOINT, 25)),
        (15, 25, (How.CHECKPOINT, 25)),
        (21, 25, (How.TOO_OLD, None)),  # the group went back since
        (20, 60, (How.TOO_OLD, None)),  # of a former copy
        (20, 71, (How.TOO_OLD, None)),  # behind the end
    ],
)
def test_what_the_mirror_has_told_of_the_group(
    upstream: int, downstream: int, expected: tuple[How, int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exact map keeps the newest runs only."""
    monkeypatch.setattr(group_translation, "has_records", lambda *_, **__: True)
    run = OffsetMapRecord(*HERE, 0, OffsetMapChunk(0, 0, None, (OffsetRun(50, 60, 10),))).encode()
    told = Checkpoint("g", *HERE, upstream, downstream, "").encode()
    source, target = Cluster((0, 60), committed=20), Cluster((0, 70))
    found = answered(source, target, maps=FakeInternalTopic(run), checkpoints=FakeInternalTopic(told))
    assert (found.how, found.offset) == expected


def test_a_group_before_all_that_is_known_may_begin_at_the_copy_s_first_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group_translation, "has_records", lambda *_, **__: True)
    run = OffsetMapRecord(*HERE, 0, OffsetMapChunk(0, 0, None, (OffsetRun(50, 60, 10),))).encode()
    source, target = Cluster((0, 60), committed=20), Cluster((7, 70))
    (found, *_) = positions(source, target, maps=FakeInternalTopic(run), from_first=True)
    assert (found.answer.how, found.answer.offset) == (How.FIRST_RECORD, 7)


def answered(
    source: Cluster,
    target: Cluster,
    syncs: FakeInternalTopic | None = None,
    maps: FakeInternalTopic | None = None,
    checkpoints: FakeInternalTopic | None = None,
) -> GroupPosition:
    """Where the group goes on in the first partition."""
    return positions(source, target, syncs, maps, checkpoints)[0].answer


def positions(
    source: Cluster,
    target: Cluster,
    syncs: FakeInternalTopic | None = None,
    maps: FakeInternalTopic | None = None,
    checkpoints: FakeInternalTopic | None = None,
    *,
    from_first: bool = False,
) -> list[Position]:
    """Where the group goes on, by what these topics hold."""
    logs = [each or FakeInternalTopic() for each in (syncs, maps, checkpoints)]
    known = Known(StoredSyncs(logs[0]), StoredMaps(logs[1]), StoredCheckpoints(logs[2]))
    translation = GroupTranslation(
        Source(source.groups, source.inspector, ConnectionSettings(), source.mirrored, committed_only=False),
        ClusterView(target.groups, target.inspector),
        known,
        lambda topics: {topic: topic for topic in topics},
    )
    return translation.positions("g", Deadline.after(5), from_first=from_first)
