"""Which replication factor topics get where nobody gives one."""

from __future__ import annotations

from legacy_mm.base.clock import Deadline
from legacy_mm.features.trial_creations import creation_errors, numbered
from legacy_mm.policies.changes import BROKER_DEFAULT, CreateTopic
from tests.fakes.admin import FakeAdmin

DEADLINE = Deadline.after(60.0)
OPEN, GIVEN = CreateTopic("open", 1, BROKER_DEFAULT, {"cleanup.policy": "compact"}), CreateTopic("given", 1, 2)


def test_brokers_that_know_the_default_are_asked_once() -> None:
    target = FakeAdmin()
    assert numbered(target, [OPEN, GIVEN], DEADLINE, "a flag") == ([OPEN, GIVEN], {}, [])
    assert target.tried == [OPEN, GIVEN]


def test_older_brokers_get_their_own_number_and_what_has_one_keeps_it() -> None:
    found = numbered(FakeAdmin(replicas="3"), [OPEN, GIVEN], DEADLINE, "a flag")
    assert found.wanted == [CreateTopic("open", 1, 3, {"cleanup.policy": "compact"}), GIVEN]
    assert found.errors == {}
    assert len(found.notes) == 1 and "set a flag for another one" in found.notes[0]


def test_another_refusal_stays_one() -> None:
    for target in (FakeAdmin(refuses={"open": "no right"}), FakeAdmin(refuses={"open": "no right"}, replicas="3")):
        found = numbered(target, [OPEN, GIVEN], DEADLINE, "a flag")
        assert (found.wanted, found.notes) == ([OPEN, GIVEN], [])
        assert found.errors.keys() == {"open"}


def test_what_is_refused_has_its_reason() -> None:
    assert creation_errors(FakeAdmin(refuses={"given": "no right"}), [OPEN, GIVEN], DEADLINE) == {"given": "no right"}
    assert creation_errors(FakeAdmin(), [], DEADLINE) == {}
