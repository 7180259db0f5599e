"""The first start of a group: when it is kept, and what a coordinator that does not take it means."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net import error_text
from legacy_mm.controlplane.group_start import GroupStart, LogEnds
from legacy_mm.controlplane.positions import GapGuard, of_group
from legacy_mm.flow.position_book import GroupBook
from tests.fakes.groups import FakeGroups

NOT_THERE, FORBIDDEN_TOPIC, FORBIDDEN_GROUP, HAS_MEMBERS = map(error_text.text, (15, 29, 30, 25))
ORDERS = TopicPartition("orders", 0)


def ends(topics: Collection[str], deadline: Deadline) -> LogEnds:
    return {TopicPartition(topic, 0): (2, 5) for topic in topics}


def kept(groups: FakeGroups) -> list[int]:
    """Keep the first start of group g; how many offsets are skipped."""
    skipped: list[int] = []
    guard = GapGuard("latest", skipped.append, skipped.append, fail=False, set_position=of_group("mirror"))
    GroupStart(GroupBook("g", groups), ends, guard, 1.0).keep(["orders"])
    return skipped


def test_a_group_that_has_committed_nothing_begins_at_the_ends_of_the_logs() -> None:
    groups = FakeGroups(g={})
    assert kept(groups) == [3]
    assert groups.committed == {"g": {ORDERS: 5}}


def test_a_group_that_stands_at_0_has_started_before() -> None:
    groups = FakeGroups(g={ORDERS: 0})
    assert kept(groups) == []
    assert groups.committed == {"g": {ORDERS: 0}}


def test_a_group_with_members_has_started_before() -> None:
    groups = FakeGroups(g={})
    groups.refusals = {"g": HAS_MEMBERS}
    assert kept(groups) == []


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        ({"read": NOT_THERE}, HostError),
        ({"read": FORBIDDEN_GROUP}, StreamFailure),
        ({"commit": NOT_THERE}, HostError),
        ({"commit": FORBIDDEN_GROUP}, StreamFailure),
        ({"commit": FORBIDDEN_TOPIC}, StreamFailure),
    ],
)
def test_what_may_be_tried_again_and_what_is_the_end(
    refused: dict[str, str], error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[int] = []
    guard = GapGuard("latest", counted.append, counted.append, fail=False, set_position=of_group("mirror"))
    groups = FakeGroups(g={})
    groups.untold = {"g": refused["read"]} if "read" in refused else {}
    groups.refusals = {"g": refused["commit"]} if "commit" in refused else {}
    with pytest.raises(error, match="group g"):
        GroupStart(GroupBook("g", groups), ends, guard, 1.0).keep(["orders"])
    assert not counted and not caplog.records, "nothing is skipped before it is sure where the group begins"
