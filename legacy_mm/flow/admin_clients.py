"""The admin clients of one flow. Those of MirrorMaker 2's file have its client ids, and what they ask is counted."""

from __future__ import annotations

from legacy_mm.base.settings import ConnectNames
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.cluster.admin_traffic import AdminTraffic
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.metrics.registry import Registry

_UNNAMED = ConnectNames(())


class AdminClients:
    """Makes them; `registry` has the counts of a flow that runs, where the legacy tool had no such clients."""

    def __init__(self, settings: Settings, registry: Registry | None = None) -> None:
        self._settings = settings
        self._names = settings.connect_names or _UNNAMED
        self._registry = registry

    def ends(self) -> tuple[NativeAdmin, NativeAdmin]:
        """Return clients of the source and the target, as the features reach them."""
        source, target = self._settings.source_admin_connection, self._settings.target_admin_connection
        names = self._names
        return (
            NativeAdmin("source", source, self._counted(names.admin_at_source)),
            NativeAdmin("target", target, self._counted(names.admin_at_target)),
        )

    def groups_at_source(self) -> GroupAdmin:
        """Return the client that asks for the source's groups."""
        traffic = self._counted(self._names.groups_at_source)
        return GroupAdmin("source", self._settings.source_admin_connection, traffic)

    def groups_at_target(self) -> GroupAdmin:
        """Return the client that moves the target's groups."""
        traffic = self._counted(self._names.groups_at_target)
        return GroupAdmin("target", self._settings.target_admin_connection, traffic)

    def of_worker(self) -> tuple[NativeAdmin, GroupAdmin]:
        """Return the clients that ask for the worker's topics and for its group."""
        connection, traffic = self._settings.worker_connection, self._counted(self._names.admin_of_worker)
        return NativeAdmin("target", connection, traffic), GroupAdmin("target", connection, traffic)

    def _counted(self, client_id: str) -> AdminTraffic | None:
        if self._registry is None or not client_id:
            return None
        traffic = AdminTraffic(client_id)
        self._registry.admin(client_id, traffic.statistics_when_due)
        return traffic
