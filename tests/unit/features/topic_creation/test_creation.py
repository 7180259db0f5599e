"""With which properties a missing topic is made, where the target does not know all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.features.topic_configs.config_sync import TopicConfigs
from legacy_mm.features.topic_creation.creation import TopicCreation
from legacy_mm.policies.changes import AddPartitions, CreateTopic, Inspection, SetConfig
from legacy_mm.policies.config_filter import ConfigPropertyFilter
from tests.fakes.admin import FakeAdmin

OVERRIDES = {"cleanup.policy": "compact", "message.format.version": "3.0"}
LEFT_OUT = "topic A.new: the target does not know the property message.format.version"


def refusing(*names: str) -> dict[str, str]:
    return {name: f"{name} is refused" for name in names}


def creation(target: FakeAdmin, source: FakeAdmin, *, grow: bool = True) -> TopicCreation:
    properties = ConfigPropertyFilter(lambda name: False, source_defaults=False)
    return TopicCreation(source, target, "A.{}".format, new=(-1, properties), grow=grow)


def inspect(target: FakeAdmin, source: FakeAdmin | None = None, *, grow: bool = True) -> Inspection:
    """At a source with two topics."""
    duty = creation(target, source or FakeAdmin({"old": OVERRIDES, "new": OVERRIDES}), grow=grow)
    found = duty.inspect(frozenset({"old", "new"}), Deadline.after(math.inf))
    assert not target.done
    return found


def test_a_property_that_the_target_does_not_know_is_left_out_and_named() -> None:
    """It would be refused with the topic, which brokers make in their own way then. A copy of ours tells."""
    target = FakeAdmin({"a": None, "A.old": {"cleanup.policy": "delete"}})
    assert inspect(target) == Inspection((CreateTopic("A.new", 1, -1, {"cleanup.policy": "compact"}),), (LEFT_OUT,))
    assert target.asked == ["A.old"]


def test_a_topic_whose_properties_are_not_told_is_soon_looked_at_again() -> None:
    """One that was made a moment ago; a property that the target does not know is for good."""
    found = inspect(FakeAdmin({}), FakeAdmin({"old": {}, "new": None}))
    assert (found.troubles, found.unfinished) == (("topic new: it is refused",), True)
    assert not inspect(FakeAdmin({"A.old": {}})).unfinished


def test_any_topic_of_the_target_tells() -> None:
    found = inspect(FakeAdmin({"__consumer_offsets": {"cleanup.policy": "compact"}}))
    assert [change.text for change in found.changes] == [
        f"create topic A.{name}: partitions 1, replication factor of the brokers, cleanup.policy=compact"
        for name in ("new", "old")
    ]


@pytest.mark.parametrize("topics", [{}, {"A.old": None}], ids=["no topic", "no right"])
def test_where_nobody_can_tell_the_target_decides(topics: Mapping[str, None]) -> None:
    found = inspect(FakeAdmin(topics))
    assert found.changes[0] == CreateTopic("A.new", 1, -1, OVERRIDES)
    assert found.troubles == ()


def test_a_target_that_lacks_nothing_is_not_asked() -> None:
    target = FakeAdmin({"A.old": OVERRIDES, "A.new": OVERRIDES})
    assert inspect(target) == Inspection()
    assert target.asked == []


def test_a_missing_topic_gets_the_partitions_of_the_source() -> None:
    source = FakeAdmin({"old": {}, "new": {}})
    source.partitions = {"new": 3}
    assert inspect(FakeAdmin({"A.old": {}}), source).changes == (CreateTopic("A.new", 3, -1),)


def test_a_copy_grows_where_it_may_and_never_shrinks() -> None:
    source, target = FakeAdmin({"old": {}, "new": {}}), FakeAdmin({"A.old": {}, "A.new": {}})
    source.partitions, target.partitions = {"old": 3, "new": 2}, {"A.old": 2, "A.new": 3}
    assert inspect(target, source) == Inspection((AddPartitions("A.old", 2, 3),))
    refused = inspect(target, source, grow=False)
    assert refused.changes == ()
    assert [text.split(":")[0] for text in refused.troubles] == [
        "topic A.old has 2 partitions at the target and 3 at the source"
    ]


def test_compacted_topics_that_have_no_copy_yet_are_known() -> None:
    """Brokers must not make their copies with defaults of their own."""
    source = FakeAdmin({"old": {"cleanup.policy": "delete"}, "new": {"cleanup.policy": "compact,delete"}})
    duty = creation(FakeAdmin({}), source)
    duty.inspect(frozenset({"old", "new"}), Deadline.after(math.inf))
    assert duty.compacted == {"new"}


SPARED = {"cleanup.policy": "compact"}


def test_a_property_that_the_target_refuses_is_left_out_and_the_rest_is_set() -> None:
    """Else the topic is refused, and a compacted one would be made by the brokers, with cleanup.policy=delete."""
    source = FakeAdmin({"old": OVERRIDES, "new": {"segment.bytes": "65536", **SPARED, "flush.ms": "1"}})
    target = FakeAdmin({}, refusing("segment.bytes", "flush.ms"))
    found = inspect(target, source)
    assert found.changes == (CreateTopic("A.new", 1, -1, SPARED), CreateTopic("A.old", 1, -1, OVERRIDES))
    assert found.troubles == (
        "topic A.new: the target refuses segment.bytes=65536, which is left out: segment.bytes is refused",
        "topic A.new: the target refuses flush.ms=1, which is left out: flush.ms is refused",
    )
    assert not found.unfinished


def test_a_topic_that_cannot_be_made_is_named_and_looked_at_again_soon() -> None:
    found = inspect(FakeAdmin({}, refusing("A.new")))
    assert [change.topic for change in found.changes if isinstance(change, CreateTopic)] == ["A.old"]
    assert found.troubles == ("topic A.new cannot be created at the target: A.new is refused",)
    assert found.unfinished


@pytest.mark.parametrize("refuses", [[], ["message.format.version"]])
def test_a_target_that_wants_a_number_of_replicas_gets_its_own_default(refuses: list[str]) -> None:
    """Brokers before 2.4."""
    found = inspect(FakeAdmin({}, refusing(*refuses), replicas="3"))
    kept = {name: value for name, value in OVERRIDES.items() if name not in refuses}
    assert found.changes == (CreateTopic("A.new", 1, 3, kept), CreateTopic("A.old", 1, 3, kept))
    (note,) = found.notes
    assert "older than 2.4" in note
    assert len(found.troubles) == 2 * len(refuses)


def test_of_a_topic_that_is_there_the_other_properties_are_set() -> None:
    source = FakeAdmin({"old": {"segment.bytes": "65536", **SPARED}, "new": SPARED})
    target = FakeAdmin({"A.old": {"segment.bytes": "1"}, "A.new": {}}, {"segment.bytes": "no such value"})
    properties = ConfigPropertyFilter(lambda name: False, source_defaults=False)
    source.known = target.known = {"segment.bytes": "1", "cleanup.policy": "delete"}
    duty = TopicConfigs(source, target, "A.{}".format, properties)
    found = duty.inspect(frozenset({"old", "new"}), Deadline.after(math.inf))
    assert found.changes == tuple(SetConfig(f"A.{name}", "cleanup.policy", None, "compact") for name in ("new", "old"))
    assert found.troubles == ("topic A.old: the target refuses segment.bytes=65536, which is left out: no such value",)
