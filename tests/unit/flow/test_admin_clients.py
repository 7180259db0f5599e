"""Which client ids the admin clients of a flow have, and which of them are counted."""

from __future__ import annotations

from dataclasses import replace

from legacy_mm.base.settings import ConnectNames
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.metrics.registry import Registry
from tests.unit.flow_settings import flow_settings

NAMES = ConnectNames((), (), "A->B", "worker", "source", "target", "groups at source", "groups at target")


def admins(registry: Registry) -> set[str]:
    found = registry.snapshot().readings
    return {scope.labels[0][1] for scope in found if scope.level == "admin"}


def test_those_of_mirror_maker_2_s_file_are_counted_by_its_names() -> None:
    registry = Registry("A->B", "producer", {})
    clients = AdminClients(replace(flow_settings(), connect_names=NAMES), registry)
    assert [each.connection.client_id for each in clients.ends()] == ["source", "target"]
    assert (clients.groups_at_source().name, clients.groups_at_target().name) == ("source", "target")
    assert clients.of_worker()[0].connection.client_id == "worker"
    assert admins(registry) == {"source", "target", "groups at source", "groups at target", "worker"}


def test_those_of_the_legacy_command_are_not_and_neither_is_a_look() -> None:
    registry = Registry("f", "producer", {})
    settings = flow_settings()
    ours = ["legacy_mm-duties-source", "legacy_mm-duties-target"]
    assert [each.connection.client_id for each in AdminClients(settings, registry).ends()] == ours
    named = replace(settings, connect_names=NAMES)
    assert [each.connection.client_id for each in AdminClients(named).ends()] == ours
    assert admins(registry) == set()
