"""The features' own topics are created where they are missing."""

from __future__ import annotations

from legacy_mm.clock import Deadline
from legacy_mm.features.internal_topics import COMPACTED, InternalTopics
from legacy_mm.policies.changes import CreateTopic, Look
from tests.fakes.admin import FakeAdmin


def test_a_missing_topic_is_compacted_and_an_existing_one_stays() -> None:
    duty = InternalTopics(FakeAdmin({"there": {}}), {"there": 3, "new": 2, "wide": -1}, {"wide": 25})
    expected = CreateTopic("new", 1, 2, COMPACTED), CreateTopic("wide", 25, -1, COMPACTED)
    assert duty.look(frozenset(), Deadline.after(1.0)) == Look(expected)


def test_a_topic_that_mirror_maker_2_does_not_have_is_made_where_the_rights_allow_it() -> None:
    for refuses, changes, notes in (
        ({}, ("map", "needed"), ()),
        ({"map": "no"}, ("needed",), ("topic map is not made, and everything else goes on: no",)),
        ({"needed": "no"}, ("map", "needed"), ()),
    ):
        duty = InternalTopics(FakeAdmin({}, refuses), {"map": 1, "needed": 1}, dispensable={"map"})
        look = duty.look(frozenset(), Deadline.after(1.0))
        assert (tuple(each.topic for each in look.changes if isinstance(each, CreateTopic)), look.notes) == (
            changes,
            notes,
        )
