"""Exact maps of offsets: written down, taken over by another process, and holes that stay holes. No broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import CopiedRun
from legacy_mm.features.offset_syncs.exact_offsets import ExactOffsets, StoredMaps
from legacy_mm.features.offset_syncs.offset_map import Nearest
from legacy_mm.features.offset_syncs.writer import OffsetSyncs
from legacy_mm.logs.events import DUTY_FAILED
from tests.fakes.internal_topic import FakeInternalTopic

SECONDS = 20.0
ONE, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


def exact(topic: FakeInternalTopic) -> ExactOffsets:
    return ExactOffsets(StoredMaps(topic), topic)


def at_target(maps: ExactOffsets, offset: int) -> int | None:
    pair = maps.nearest(ONE, offset).pair
    return pair and pair.downstream


@pytest.fixture
def troubles(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What was told."""
    return lambda: [vars(line)["fields"]["reason"] for line in caplog.records if vars(line).get("event") == DUTY_FAILED]


@pytest.fixture
def syncs_topic() -> FakeInternalTopic:
    return FakeInternalTopic()


@pytest.fixture
def maps_topic() -> FakeInternalTopic:
    return FakeInternalTopic()


def test_maps_are_written_down_and_go_on_in_another_process(maps_topic: FakeInternalTopic) -> None:
    first = exact(maps_topic)
    first.started({ONE: 10})
    first.copied([CopiedRun("t", 0, 10, 0, 5), CopiedRun("t", 0, 20, 5, 5)])
    assert [at_target(first, offset) for offset in (9, 10, 14, 15, 19, 22, 25, 99)] == [*(None, 0, 4, 5, 5, 7, 10, 10)]
    first.save([ONE])
    second = exact(maps_topic.again())
    second.started({ONE: 25, OTHER: 0})
    second.copied([CopiedRun("t", 0, 27, 10, 1)])
    assert [at_target(second, offset) for offset in (12, 25, 26, 27, 28)] == [2, 10, 10, 10, 11]
    assert second.nearest(OTHER, 0) == Nearest()
    second.ended([ONE])
    assert second.nearest(ONE, 12) == Nearest()


def test_a_map_that_finds_no_room_waits_for_it(maps_topic: FakeInternalTopic) -> None:
    first = exact(maps_topic)
    first.started({ONE: 10})
    first.copied([CopiedRun("t", 0, 10, 0, 5)])
    maps_topic.full = True
    first.save([ONE])
    second = exact(maps_topic.again())
    second.started({ONE: 15})
    assert at_target(second, 12) == 2


def test_maps_that_cannot_be_read_are_not_hidden_by_new_ones(
    syncs_topic: FakeInternalTopic, maps_topic: FakeInternalTopic, troubles: Callable[[], list[str]]
) -> None:
    """What is copied before they are read stays a hole."""
    first = exact(maps_topic)
    first.started({ONE: 10})
    first.copied([CopiedRun("t", 0, 10, 0, 5)])
    first.save([ONE])
    again = maps_topic.again()
    again.unreadable = True
    second = OffsetSyncs(syncs_topic, 10, 0.01, exact(again))
    second.start()
    second.started({ONE: 15})
    second.copied([CopiedRun("t", 0, 15, 5, 5)])
    wait_until(syncs_topic.written.copy, SECONDS, "what was copied, as a sync")
    again.unreadable = False
    wait_until(lambda: again.read_to, SECONDS, "what the first one wrote")
    second.copied([CopiedRun("t", 0, 20, 10, 5)])
    second.finish(Deadline.after(SECONDS))
    third = exact(again.again())
    third.started({ONE: 25})
    assert [at_target(third, offset) for offset in (12, 15, 17, 20, 24)] == [2, 5, 5, 10, 14]
    assert troubles() == ["cannot be read"]


def test_what_was_copied_and_never_told_is_not_taken_for_a_hole(maps_topic: FakeInternalTopic) -> None:
    """Records 15 to 19 were copied, by a process that was killed or into a broker that did not say where."""
    for untold in ({ONE: 20}, None):
        maps = exact(FakeInternalTopic())
        maps.started({ONE: 10})
        maps.copied([CopiedRun("t", 0, 10, 0, 5)])
        if untold is not None:
            maps.started(untold)
        else:
            maps.copied([CopiedRun("t", 0, 15, -1, 5)])
        maps.copied([CopiedRun("t", 0, 20, 10, 5)])
        assert at_target(maps, 17) == 5, "never beyond what may be missing"
        assert at_target(maps, 21) == 11
