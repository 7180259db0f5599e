"""What the target would refuse is found out by requests that change nothing."""

from __future__ import annotations

from legacy_mm.base.clock import Deadline
from legacy_mm.features.topic_creation.trials import alterations, creations
from legacy_mm.policies.changes import BROKER_DEFAULT, CreateTopic, SetConfig
from tests.fakes.admin import FakeAdmin

DEADLINE = Deadline.after(60.0)
TOPIC = CreateTopic("t", 2, 3, {"retention.ms": "1", "segment.ms": "2"})
OTHER = CreateTopic("u", 1, 3)


def test_what_is_taken_stays_as_it_is() -> None:
    target = FakeAdmin()
    assert creations(target, [TOPIC, OTHER], DEADLINE) == ([TOPIC, OTHER], {}, [], [])
    assert (target.tried, target.done) == ([TOPIC, OTHER], []), "one request, and nothing is created"


def test_a_refused_property_is_left_out_and_the_rest_is_created() -> None:
    target = FakeAdmin(refuses={"segment.ms": "a policy"})
    found = creations(target, [TOPIC, OTHER], DEADLINE)
    assert found.made == [CreateTopic("t", 2, 3, {"retention.ms": "1"}), OTHER]
    assert found.troubles == ["topic t: the target refuses segment.ms=2, which is left out: a policy"]
    assert target.done == []


def test_a_topic_that_cannot_be_created_at_all() -> None:
    found = creations(FakeAdmin(refuses={"t": "no right"}), [TOPIC, OTHER], DEADLINE)
    assert (found.made, found.impossible) == ([OTHER], {"t": "no right"})
    assert found.troubles == ["topic t cannot be created at the target: no right"]


def test_old_brokers_get_the_number_that_they_would_take() -> None:
    wanted = CreateTopic("t", 2, BROKER_DEFAULT)
    found = creations(FakeAdmin(replicas="3"), [wanted], DEADLINE)
    assert found.made == [CreateTopic("t", 2, 3)]
    assert len(found.notes) == 1 and "set replication.factor for another one" in found.notes[0]


def test_only_the_property_that_is_refused_is_not_altered() -> None:
    target = FakeAdmin(refuses={"segment.ms": "a policy"})
    wanted = [SetConfig("t", "segment.ms", None, "2"), SetConfig("t", "retention.ms", None, "1")]
    other = SetConfig("u", "retention.ms", None, "1")
    made, troubles = alterations(target, [*wanted, other], DEADLINE)
    assert made == [wanted[1], other]
    assert troubles == ["topic t: the target refuses segment.ms=2, which is left out: a policy"]
    assert target.done == []
