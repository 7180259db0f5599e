"""The registry of one flow's counts, under the names that its metrics have."""

from __future__ import annotations

from legacy_mm import __version__
from legacy_mm.base.clock import wall
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.logs import root_logger
from legacy_mm.metrics.registry import MirrorNames, Registry


def flow_registry(settings: Settings, names: FlowTopics) -> Registry:
    """Make the registry of a flow that begins now."""
    clients = settings.target.connection.client_id
    registry = Registry(settings.flow, clients, facts(), mirror_names=_mirror_names(settings, names))
    if (connect := settings.connect_names) is not None and connect.worker:
        registry.in_workers_group(connect.worker, len(connect.connectors))
    return registry


def facts() -> dict[str, str | int]:
    """Return what MBeans tell of the whole run that begins now."""
    return {
        "version": f"legacy_mm {__version__}",
        "start_time_ms": int(wall() * 1000),
        "loggers": ",".join(root_logger.loggers()),
    }


def _mirror_names(settings: Settings, names: FlowTopics) -> MirrorNames | None:
    """Return the names for the metrics; None without offset syncs, where the metrics are the legacy tool's alone."""
    if settings.features[OFFSET_SYNCS] is None:
        return None
    naming = settings.features.naming
    return MirrorNames(naming.source_alias, naming.target_alias, names.remote)
