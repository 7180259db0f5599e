"""A consumer group as the place of a flow's positions, and which place a flow has."""

from __future__ import annotations

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, StreamFailure
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.net import error_text
from legacy_mm.flow.position_book import GroupBook, position_book
from tests.fakes.groups import FakeGroups, OneGroup
from tests.unit.flow_settings import flow_settings

FIRST, OTHER, DELETED = (TopicPartition("orders", number) for number in range(3))
FORBIDDEN, NOT_THERE = map(error_text.text, (30, 15))


def by() -> Deadline:
    return Deadline.after(1.0)


def test_a_position_is_an_offset_that_was_not_deleted() -> None:
    book = GroupBook("g", FakeGroups(g={FIRST: 0, OTHER: 7, DELETED: -1}))
    assert {place: each.offset for place, each in book.offsets(by()).items()} == {FIRST: 0, OTHER: 7}
    assert book.lacking([FIRST, DELETED, OTHER], by()) == ([DELETED], {})


def test_a_group_that_others_have_joined_is_in_use() -> None:
    groups = OneGroup("source", {})
    book = GroupBook("g", groups)
    assert not book.is_in_use(by())
    groups.state = "Stable"
    assert book.is_in_use(by())
    with pytest.raises(HostError, match="group g is Stable: stop its members first"):
        book.require_no_members(by())


def test_the_group_is_described_by_its_name() -> None:
    assert GroupBook("g", OneGroup("source", {})).described(by())[:2] == ("g", "Empty")


def test_a_group_that_is_not_there_is_not_in_use() -> None:
    assert not GroupBook("g", FakeGroups()).is_in_use(by())


@pytest.mark.parametrize(("why", "error"), [(FORBIDDEN, StreamFailure), (NOT_THERE, HostError)])
def test_a_refusal_names_the_group(why: str, error: type[Exception]) -> None:
    groups = FakeGroups()
    groups.untold = groups.refusals = {"g": why}
    book = GroupBook("g", groups)
    with pytest.raises(error, match=f"^offsets of group g cannot be read: {why[:20]}"):
        book.offsets(by())
    with pytest.raises(error, match=f"^offsets of group g cannot be committed: {why[:20]}"):
        book.commit({FIRST: 5}, by())


def test_a_flow_without_workers_keeps_its_positions_in_its_group() -> None:
    settings = flow_settings()
    how = position_book(settings).set_position(FIRST, "--to-offset 5")
    assert f"--group {settings.source.group_id} --topic orders:0 --reset-offsets --to-offset 5" in how


def test_offsets_that_are_forgotten_are_deleted() -> None:
    groups = OneGroup("source", {FIRST: CommittedOffset(5), OTHER: CommittedOffset(7)})
    GroupBook("g", groups).forget([FIRST], by())
    assert list(groups.held) == [OTHER]
