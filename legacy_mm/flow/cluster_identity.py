"""Check if source and target are one cluster; made only where a feature needs to know, for `plan` and for `explain`."""

from __future__ import annotations

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.naming.policy_names import IDENTITY, LEGACY
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.logs import events
from legacy_mm.policies.same_cluster import several_clusters, what_one_cluster_means

_ASK_TIMEOUT = 10.0


def warning(settings: Settings, source: Admin, target: Admin, deadline: Deadline) -> str:
    """Return the warning about source and target; empty if they are two clusters or report no id.

    Raises HostError, and ConfigurationError where the features must not run.
    """
    ids_by_end = {"source": source.cluster_ids(deadline), "target": target.cluster_ids(deadline)}
    features, naming = settings.features, settings.features.naming
    last = {ids[-1:] for ids in ids_by_end.values()}
    if len(last) == 1 and (ids := last.pop()):
        return what_one_cluster_means(
            *ids,
            renames=naming.policy not in (LEGACY, IDENTITY),
            features=features.concern_both_ends,
            aliases=(naming.source_alias, naming.target_alias),
        )
    return "; ".join(filter(None, (several_clusters(end, ids) for end, ids in ids_by_end.items())))


class IdentityCheck:
    """The check before a mirror with features begins, repeated when the source answers if it did not at the start."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known = False

    def inspect(self) -> None:
        """Raise ConfigurationError if both ends are one cluster and must not be."""
        if self._known:
            return
        try:
            source, target = AdminClients(self._settings).ends()
            text = warning(self._settings, source, target, Deadline.after(_ASK_TIMEOUT))
        except HostError as error:
            events.emit(events.IDENTITY_UNKNOWN, reason=error)
            return
        self._known = True
        if text:
            events.emit(events.ONE_CLUSTER, what=text)
