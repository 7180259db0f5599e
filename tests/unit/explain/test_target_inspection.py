"""Copies that the target's brokers would not make."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.explain.target_inspection import impossible_copies, partitions_of_copies
from legacy_mm.policies.changes import CreateTopic
from tests.fakes.admin import FakeAdmin

SOON = Deadline.after(10)


class Brokers(FakeAdmin):
    """A target with topic `there`, whose brokers have these properties."""

    def __init__(self, properties: Mapping[str, str], refuses: Mapping[str, str] | None = None) -> None:
        super().__init__({"there": {}}, refuses)
        self.has = dict(properties)

    def broker_properties(self, deadline: Deadline) -> dict[str, str]:
        """Those."""
        return self.has


def test_where_all_copies_are_there_nothing_is_tried() -> None:
    target = Brokers({})
    assert impossible_copies(target, ["there"], SOON) == {}
    assert target.tried == []


def test_brokers_that_make_no_topic_make_none_of_the_missing_ones() -> None:
    found = impossible_copies(Brokers({"auto.create.topics.enable": "false"}), ["there", "b", "a"], SOON)
    assert list(found) == ["a", "b"]
    assert "auto.create.topics.enable=false" in found["a"]


def test_what_the_mirror_creates_needs_no_brokers_that_do() -> None:
    """It is tried with the mirror's factor."""
    target = Brokers({"auto.create.topics.enable": "false"}, {"b": "too few brokers"})
    assert impossible_copies(target, ["a", "b"], SOON, {"a": 2, "b": 3}) == {"b": "too few brokers"}
    assert {each.topic: each.replication_factor for each in target.tried if isinstance(each, CreateTopic)} == {
        "a": 2,
        "b": 3,
    }


def test_what_the_brokers_refuse_is_named_with_their_reason() -> None:
    target = Brokers({"default.replication.factor": "3"}, {"a": "no right"})
    assert impossible_copies(target, ["a", "b"], SOON) == {"a": "no right"}
    assert target.done == [], "it is only tried"


@pytest.mark.parametrize(("properties", "replicas"), [({}, 1), ({"default.replication.factor": "3"}, -1)])
def test_old_brokers_are_asked_with_a_number(properties: dict[str, str], replicas: int) -> None:
    target = Brokers(properties)
    impossible_copies(target, ["a"], SOON)
    assert {each.replication_factor for each in target.tried if isinstance(each, CreateTopic)} == {replicas}


@pytest.mark.parametrize(
    ("properties", "given"), [({"num.partitions": "100"}, {"missing": 100}), ({}, {})], ids=["told", "not told"]
)
def test_a_copy_gets_the_partitions_that_the_brokers_have(properties: dict[str, str], given: dict[str, int]) -> None:
    target = Brokers(properties)
    there = target.topics(SOON)["there"]
    assert partitions_of_copies(target, ["there", "missing"], SOON) == {"there": there, **given}
