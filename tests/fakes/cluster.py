"""Clusters that are not there, as our own sockets see them. mypy holds them to `Cluster`, whose methods they have."""

from __future__ import annotations

from typing import NoReturn

from typing_extensions import override

from legacy_mm.clients.native.cluster import Cluster, Connections
from legacy_mm.clients.native.connection import Connection
from legacy_mm.clients.native.connection_errors import ConnectionLost
from legacy_mm.clients.native.topology import Broker
from legacy_mm.model import TopicPartition


class FakeCluster(Cluster):
    """One in which nobody leads anything, and no broker is reached."""

    def __init__(self) -> None:
        super().__init__({"bootstrap.servers": "127.0.0.1:1"}, 0.0)
        self.called_stale = 0

    @override
    def leader(self, partition: TopicPartition) -> Broker | None:
        return None

    @override
    def connect(self, node: int) -> Connection:
        self._refuse()

    @override
    def stale(self) -> None:
        self.called_stale += 1

    @override
    def tend(self) -> None:
        pass

    @override
    def age(self) -> float | None:
        return None

    @override
    def connections(self) -> Connections:
        return Connections(3, 1)

    def _refuse(self) -> NoReturn:
        raise ConnectionLost("it is down")
