"""The features' own topics are created where they are missing."""

from __future__ import annotations

from legacy_mm.base.clock import Deadline
from legacy_mm.features.internal_topics import COMPACTED, InternalTopics
from legacy_mm.policies.changes import CreateTopic, Inspection
from tests.fakes.admin import FakeAdmin


def test_a_missing_topic_is_compacted_and_an_existing_one_stays() -> None:
    duty = InternalTopics(FakeAdmin({"there": {}}), {"there": 3, "new": 2, "wide": -1}, {"wide": 25})
    expected = CreateTopic("new", 1, 2, COMPACTED), CreateTopic("wide", 25, -1, COMPACTED)
    assert duty.inspect(frozenset(), Deadline.after(1.0)) == Inspection(expected)


def test_brokers_that_want_a_number_get_their_own_default_and_others_keep_theirs() -> None:
    wanted = {"heartbeats": -1, "checkpoints": 2, "map": -1}
    duty = InternalTopics(FakeAdmin(replicas="3"), wanted, dispensable={"map"})
    inspection = duty.inspect(frozenset(), Deadline.after(1.0))
    assert inspection.changes == tuple(
        CreateTopic(*row, COMPACTED) for row in (("heartbeats", 1, 3), ("checkpoints", 1, 2), ("map", 1, 3))
    )
    (note,) = inspection.notes
    assert "the brokers of the target are older than 2.4" in note and "created with 3" in note
    assert "heartbeats.topic.replication.factor" in note


def test_nothing_is_tried_where_each_topic_has_a_number() -> None:
    target = FakeAdmin()
    InternalTopics(target, {"heartbeats": 2}).inspect(frozenset(), Deadline.after(1.0))
    assert not target.tried


def test_a_topic_that_mirror_maker_2_does_not_have_is_made_where_the_rights_allow_it() -> None:
    for refuses, changes, notes in (
        ({}, ("map", "needed"), ()),
        ({"map": "no"}, ("needed",), ("topic map is not made, and everything else goes on: no",)),
        ({"needed": "no"}, ("map", "needed"), ()),
    ):
        duty = InternalTopics(FakeAdmin({}, refuses), {"map": 1, "needed": 1}, dispensable={"map"})
        inspection = duty.inspect(frozenset(), Deadline.after(1.0))
        assert (
            tuple(each.topic for each in inspection.changes if isinstance(each, CreateTopic)),
            inspection.notes,
        ) == (
            changes,
            notes,
        )
