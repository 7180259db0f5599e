"""One cluster as clients see it: its metadata, the offsets of its logs, and ways to its brokers."""

from __future__ import annotations

from math import inf
from typing import Any

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.cluster.addresses import address_of
from legacy_mm.clients.cluster.metadata import Metadata
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.cluster.offset_fetcher import OffsetFetcher
from legacy_mm.clients.net.connection import Connection


class Cluster:
    """Brokers by their ids, for every thread that asks; connections are made on demand."""

    def __init__(
        self, settings: ConnectionSettings, timeout: float, connecting: float = 0.0, *, committed_only: bool = False
    ) -> None:
        """Create a cluster; each question may take `timeout` seconds, after the same time or `connecting` for TCP,
        TLS and login. `committed_only`: a log ends where a transaction is open.
        """
        self.network = NetworkClient(settings, timeout, connecting)
        self.metadata = Metadata(settings, self.network)
        self.offsets = OffsetFetcher(self.metadata, self.network, settings, timeout, committed_only=committed_only)

    def connect(self, node: int, within: float = inf) -> Connection:
        """Return a new connection to a broker; see `NetworkClient.connect`."""
        return self.network.connect(address_of(self.metadata.broker(node)), within)

    def call(self, node: int, request: Any, patience: float = inf) -> Any:
        """Ask one broker; see `NetworkClient.call`."""
        return self.network.call(address_of(self.metadata.broker(node)), request, patience)

    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        """Ask any broker; see `NetworkClient.call_any`."""
        return self.network.call_any(request, within, is_change=is_change)

    def close(self) -> None:
        """End the connections made for `call`; those of `connect` are their owners'. Wakes waiting threads."""
        self.network.close()
        self.metadata.wake()
