"""With which properties a missing topic is made, where the target does not know all of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import cast

import pytest

from legacy_mm.clock import Deadline
from legacy_mm.controlplane.administration import ClusterAdmin
from legacy_mm.controlplane.topics import TopicCreation
from legacy_mm.policies.changes import CreateTopic, Look
from legacy_mm.policies.config_filter import ConfigPropertyFilter, TopicProperty

OVERRIDES = {"cleanup.policy": "compact", "message.format.version": "3.0"}
LEFT_OUT = "topic A.new: the target does not know the property message.format.version"


class Cluster:
    """Topics of one partition with these properties; None: it does not tell them. Notes whom it was asked about."""

    def __init__(self, topics: Mapping[str, Mapping[str, str] | None]) -> None:
        self._topics = topics
        self.asked: list[str] = []

    def topics(self, deadline: Deadline) -> dict[str, int]:
        return dict.fromkeys(self._topics, 1)

    def properties(
        self, topics: Collection[str], deadline: Deadline
    ) -> tuple[dict[str, list[TopicProperty]], dict[str, str]]:
        self.asked += topics
        told = {topic: values for topic in topics if (values := self._topics[topic]) is not None}
        found = {
            topic: [TopicProperty(name, value, "DYNAMIC_TOPIC_CONFIG") for name, value in values.items()]
            for topic, values in told.items()
        }
        return found, {topic: "it is refused" for topic in topics if topic not in found}


def look(target: Cluster, source: Cluster | None = None) -> Look:
    """At a source with two topics."""
    source = source or Cluster({"old": OVERRIDES, "new": OVERRIDES})
    properties = ConfigPropertyFilter(lambda name: False, source_defaults=False)
    clusters = cast(ClusterAdmin, source), cast(ClusterAdmin, target)
    duty = TopicCreation(*clusters, "A.{}".format, new=(-1, properties), grow=True)
    return duty.look(frozenset({"old", "new"}), Deadline.after(math.inf))


def test_a_property_that_the_target_does_not_know_is_left_out_and_named() -> None:
    """It would be refused with the topic, which brokers make in their own way then. A copy of ours tells."""
    target = Cluster({"a": None, "A.old": {"cleanup.policy": "delete"}})
    assert look(target) == Look((CreateTopic("A.new", 1, -1, {"cleanup.policy": "compact"}),), (LEFT_OUT,))
    assert target.asked == ["A.old"]


def test_a_topic_whose_properties_are_not_told_is_soon_looked_at_again() -> None:
    """One that was made a moment ago; a property that the target does not know is for good."""
    found = look(Cluster({}), Cluster({"old": {}, "new": None}))
    assert (found.troubles, found.unfinished) == (("topic new: it is refused",), True)
    assert not look(Cluster({"A.old": {}})).unfinished


def test_any_topic_of_the_target_tells() -> None:
    found = look(Cluster({"__consumer_offsets": {"cleanup.policy": "compact"}}))
    assert [change.text for change in found.changes] == [
        f"create topic A.{name}: partitions 1, replication factor of the brokers, cleanup.policy=compact"
        for name in ("new", "old")
    ]


@pytest.mark.parametrize("topics", [{}, {"A.old": None}], ids=["no topic", "no right"])
def test_where_nobody_can_tell_the_target_decides(topics: Mapping[str, None]) -> None:
    found = look(Cluster(topics))
    assert found.changes[0] == CreateTopic("A.new", 1, -1, OVERRIDES)
    assert found.troubles == ()


def test_a_target_that_lacks_nothing_is_not_asked() -> None:
    target = Cluster({"A.old": OVERRIDES, "A.new": OVERRIDES})
    assert look(target) == Look()
    assert target.asked == []
