"""Which topics for copies of heartbeats are created, and how they keep records."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.features.heartbeats.heartbeat_copies import HeartbeatCopies
from legacy_mm.policies.changes import BROKER_DEFAULT, CreateTopic, Inspection
from tests.fakes.admin import FakeAdmin


def looked(source: FakeAdmin, target: FakeAdmin) -> Inspection:
    duty = HeartbeatCopies(source, target, "west.{}".format, lambda name: name.endswith("heartbeats"))
    return duty.inspect(frozenset(), Deadline.after(1.0))


def created(name: str, configs: Mapping[str, str]) -> CreateTopic:
    return CreateTopic(name, 1, BROKER_DEFAULT, configs)


def test_a_copy_is_compacted_where_its_source_is() -> None:
    compacted = {"cleanup.policy": "compact", "retention.ms": "1"}
    source = FakeAdmin({"heartbeats": compacted, "east.heartbeats": {}, "untold.heartbeats": None, "t": {}})
    assert looked(source, FakeAdmin({"west.east.heartbeats": {}})).changes == (
        created("west.heartbeats", {"cleanup.policy": "compact"}),
        created("west.untold.heartbeats", {}),
    )


def test_brokers_that_want_a_number_get_their_own_default() -> None:
    inspection = looked(FakeAdmin({"heartbeats": {}}), FakeAdmin(replicas="2"))
    assert inspection.changes == (CreateTopic("west.heartbeats", 1, 2, {}),)
    assert "are older than 2.4" in inspection.notes[0]


def test_the_target_is_not_asked_where_there_are_no_heartbeats() -> None:
    source = FakeAdmin({"t": {}})
    assert looked(source, FakeAdmin()) == Inspection()
    assert source.asked == []
