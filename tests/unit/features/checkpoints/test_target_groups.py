"""Groups of the target follow their checkpoints, and never go back."""

from __future__ import annotations

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import TopicPartition
from legacy_mm.features.checkpoints.target_groups import TargetGroups
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from legacy_mm.metrics.registry import MirrorNames, Registry
from legacy_mm.protocol.mirror_records import Checkpoint
from tests.fakes.groups import FakeGroups

SECONDS = 20.0
PLACE = TopicPartition("west.t", 0)


def follow(target: FakeGroups, *groups: str) -> None:
    """To a checkpoint of each group, at 100."""
    metrics = OffsetMetrics(Registry("f", "producer-1", {}, mirror_names=MirrorNames("west", "east", str)))
    known = {group: {PLACE: Checkpoint(group, *PLACE, 1_000, 100, "m")} for group in groups}
    TargetGroups(target, metrics).follow(known, (), Deadline.after(SECONDS))


def test_one_that_refuses_keeps_no_other_one_back_and_is_told() -> None:
    target = FakeGroups(a={PLACE: 1}, b={PLACE: 1}, busy={PLACE: 1})
    target.refusals["a"] = "not authorized"
    target.in_use.add("busy")
    with pytest.raises(HostError, match="group a: not authorized"):
        follow(target, "a", "b", "busy")
    assert target.committed == {"a": {PLACE: 1}, "b": {PLACE: 100}, "busy": {PLACE: 1}}


def test_a_group_whose_broker_is_away_is_compared_all_the_same() -> None:
    """No broker that answers lists it, and by the time its offsets are committed its coordinator is back."""
    target = FakeGroups(ahead={PLACE: 500})
    target.unlisted = {"ahead"}
    follow(target, "ahead", "new")
    assert target.committed == {"ahead": {PLACE: 500}, "new": {PLACE: 100}}


def test_a_group_whose_offsets_are_not_told_is_not_taken_for_a_new_one() -> None:
    target = FakeGroups(ahead={PLACE: 500})
    target.untold["ahead"] = "not authorized"
    with pytest.raises(HostError, match="group ahead: not authorized"):
        follow(target, "ahead", "new")
    assert target.committed == {"ahead": {PLACE: 500}, "new": {PLACE: 100}}
