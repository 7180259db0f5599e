"""The counts of an admin client, which connects anew for each call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from threading import Lock

from legacy_mm.base.reports import Statistics
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.traffic import Traffic


class AdminTraffic:
    """Counts all that goes over the connections of one client id. Any thread may call it."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self._traffic = Traffic("admin", lambda why: None)  # the caller hears of it
        self._traffic.connections = self._connections
        self._lock = Lock()
        self._used: list[Cluster] = []
        self._made = 0

    @contextmanager
    def counted(self, cluster: Cluster) -> Iterator[Cluster]:
        """Count what goes over this cluster's connections, and close them at the end."""
        cluster.network.traffic = self._traffic
        with self._lock:
            self._used.append(cluster)
        try:
            with closing(cluster):
                yield cluster
        finally:
            with self._lock:
                self._used.remove(cluster)
                self._made += cluster.network.connections().made

    def statistics_when_due(self) -> Statistics | None:
        """Return the statistics, every few seconds; None in between."""
        return self._traffic.statistics_when_due()

    def _connections(self) -> tuple[int, int]:
        with self._lock:
            used = [cluster.network.connections() for cluster in self._used]
            return self._made + sum(each.made for each in used), sum(each.open for each in used)


def counted(cluster: Cluster, traffic: AdminTraffic | None) -> AbstractContextManager[Cluster]:
    """Return a context that closes the cluster, and counts what goes over its connections where that is asked for."""
    return closing(cluster) if traffic is None else traffic.counted(cluster)
