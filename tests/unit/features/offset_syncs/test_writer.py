"""What becomes of the pairs that copy jobs report: offset syncs, selected and in order. No broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import UNKNOWN, CopiedRun
from legacy_mm.features.offset_syncs.exact_offsets import ExactOffsets, StoredMaps
from legacy_mm.features.offset_syncs.writer import OffsetSyncs
from legacy_mm.logs.events import OFFSETS_LOST
from legacy_mm.protocol.mirror_records import OffsetSync
from tests.fakes.internal_topic import FakeInternalTopic

SECONDS = 20.0
ONE, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


def decoded(topic: FakeInternalTopic) -> list[OffsetSync]:
    return [OffsetSync.decode(*pair) for pair in topic.written]


def exact(topic: FakeInternalTopic) -> ExactOffsets:
    return ExactOffsets(StoredMaps(topic), topic)


@pytest.fixture
def troubles(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What was told."""
    told = OFFSETS_LOST
    return lambda: [vars(line)["fields"]["reason"] for line in caplog.records if vars(line).get("event") == told]


@pytest.fixture
def syncs_topic() -> FakeInternalTopic:
    return FakeInternalTopic()


@pytest.fixture
def maps_topic() -> FakeInternalTopic:
    return FakeInternalTopic()


@pytest.fixture
def syncs(syncs_topic: FakeInternalTopic, maps_topic: FakeInternalTopic) -> Iterator[OffsetSyncs]:
    """With a lag of 10 and a flush once an hour."""
    thread = OffsetSyncs(syncs_topic, 10, 3600.0, exact(maps_topic))
    thread.start()
    yield thread
    thread.finish(Deadline.after(SECONDS))


def test_pairs_become_syncs_and_the_newest_is_noted_at_the_end(
    syncs: OffsetSyncs, syncs_topic: FakeInternalTopic
) -> None:
    syncs.started({ONE: 0, OTHER: 0})
    syncs.copied([CopiedRun("t", 0, 0, 100, 1), CopiedRun("t", 2, 0, 0, 1)])
    wait_until(lambda: decoded(syncs_topic) == [OffsetSync("t", 0, 0, 100)], SECONDS, "the first record")
    assert syncs.assigned() == {ONE, OTHER}
    syncs.copied([CopiedRun("t", 0, 1, 101, 5)])
    syncs.ended([ONE])
    syncs.finish(Deadline.after(SECONDS))
    assert decoded(syncs_topic)[1:] == [OffsetSync("t", 0, 5, 105)]
    assert syncs.assigned() == frozenset()


def test_a_record_whose_place_is_unknown_has_no_sync(syncs: OffsetSyncs, syncs_topic: FakeInternalTopic) -> None:
    syncs.started({ONE: 0})
    syncs.copied([CopiedRun("t", 0, 0, UNKNOWN, 5), CopiedRun("t", 0, 5, 100, 1)])
    syncs.finish(Deadline.after(SECONDS))
    assert decoded(syncs_topic) == [OffsetSync("t", 0, 5, 100)]


def test_syncs_that_find_no_room_wait(syncs: OffsetSyncs, syncs_topic: FakeInternalTopic) -> None:
    """Those of a partition that have waited longer, too."""
    syncs_topic.full = True
    syncs.started({ONE: 0, OTHER: 0})
    syncs.copied([CopiedRun("t", 0, 0, 0, 1), CopiedRun("t", 1, 7, 3, 1)])
    wait_until(lambda: syncs_topic.turned_away, SECONDS, "the first round")
    syncs.copied([CopiedRun("t", 0, 50, 1, 1)])
    syncs_topic.full = False
    wait_until(lambda: len(syncs_topic.written) == 3, SECONDS, "all of them")
    found = decoded(syncs_topic)
    assert [each for each in found if each.partition == 0] == [OffsetSync("t", 0, 0, 0), OffsetSync("t", 0, 50, 1)]
    assert OffsetSync("t", 1, 7, 3) in found


def test_what_should_not_happen_is_told_and_later_pairs_do_not_pile_up(
    syncs: OffsetSyncs,
    syncs_topic: FakeInternalTopic,
    troubles: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(syncs_topic, "send", lambda key, value: 1 // 0)
    syncs.started({ONE: 0})
    syncs.copied([CopiedRun("t", 0, 0, 0, 1)])
    syncs.join(SECONDS)
    assert [words.partition(":")[0] for words in troubles()] == ["ZeroDivisionError"]
    syncs.copied([CopiedRun("t", 0, 1, 1, 1)])
    assert syncs._news.empty()
