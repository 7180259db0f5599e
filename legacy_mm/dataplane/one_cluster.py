"""Source and target may be one cluster: the copying clients see it in answers that they get anyway."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from legacy_mm.logs import events
from legacy_mm.policies.same_cluster import what_one_cluster_means


class OneCluster:
    """Says it once, where a topic is copied into itself."""

    def __init__(self, names: Mapping[str, str], source: Callable[[], str], target: Callable[[], str]) -> None:
        """Create the check; `source` and `target` return the clusters' ids, if known."""
        self._ids = (source, target)
        self._told = not any(topic == name for topic, name in names.items())

    def tell(self) -> None:
        """Tell if both are one cluster; call this now and then, it sends no request."""
        if self._told:
            return
        source, target = (cluster_id() for cluster_id in self._ids)
        if source and target:
            self._told = True
            if source == target:
                text = what_one_cluster_means(source, renames=False, features=False, aliases=("", ""))
                events.emit(events.ONE_CLUSTER, what=text)
