"""The broker that keeps a consumer group: found, connected to, and found again when it has moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

from kafka.protocol.metadata import FindCoordinatorRequest

from legacy_mm.clients.api import coordinator_node
from legacy_mm.clients.native import error_text
from legacy_mm.clients.native.cluster import Cluster
from legacy_mm.clients.native.connection import Connection
from legacy_mm.clients.native.connection_errors import ConnectionLost, RequestRefused, UnsupportedVersion
from legacy_mm.protocol import error_codes

GROUP, TRANSACTION = 0, 1
"""Key types: the key is a group id, or a transactional id."""
_WITH_KEYS = 4
"""Asks about several keys; versions above are about share groups, and transaction version 2."""


class CoordinatorMoved(ConnectionLost):
    """The broker that was asked does not keep the group (yet, or any more)."""


class Coordinator:
    """One conversation with a group's coordinator: one question at a time, by one thread; any thread may interrupt."""

    def __init__(self, cluster: Cluster, group: str) -> None:
        self.group = group
        self._cluster = cluster
        self._connection: Connection | None = None
        self._lock = Lock()

    def call(self, request: Any, timeout: float) -> Any:
        """Return the answer within `timeout` seconds. Raise ConnectionLost, ClusterUnreachable, StreamFailure."""
        connection = self.reach()
        try:
            with connection.with_timeout(timeout):
                return connection.call(request)
        except ConnectionLost:
            self.forget()
            self._cluster.stale()
            raise

    def forget(self) -> None:
        """Forget the coordinator, which may have moved; pending calls get ConnectionLost."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def reach(self) -> Connection:
        """Return the connection; find the coordinator and connect if needed. Raise as `call` does."""
        connection = self._connection
        if connection is not None and not connection.is_due():
            return connection
        self.forget()
        node = self._find()
        try:
            connection = self._cluster.connect(node)
        except ConnectionLost:
            self._cluster.stale()  # the same broker may have another address now
            raise
        self._cluster.count(connection, coordinator_node(node))
        with self._lock:
            self._connection = connection
        return connection

    def _find(self) -> int:
        ((_, code, node),) = coordinators(self._cluster, [self.group])
        if code:
            if not error_codes.is_retriable(code):
                raise RequestRefused(f"the group refuses this member: {error_text.text(code)}")
            raise CoordinatorMoved(f"group {self.group} has no coordinator yet: {error_codes.name(code)}")
        return node


def coordinators(cluster: Cluster, keys: Sequence[str], key_type: int = GROUP) -> Iterator[tuple[str, int, int]]:
    """Yield each key with an error code, 0 for none, and its broker. Raise ConnectionLost, ClusterUnreachable."""
    try:
        request = FindCoordinatorRequest(
            key_type=key_type, coordinator_keys=keys, min_version=_WITH_KEYS, max_version=_WITH_KEYS
        )
        yield from ((row.key, row.error_code, row.node_id) for row in cluster.call_any(request).coordinators)
    except UnsupportedVersion:  # before 3.0
        for key in keys:
            row = cluster.call_any(_find_one(key, key_type))
            yield key, row.error_code, row.node_id


def _find_one(key: str, key_type: int) -> Any:
    """Ask about one key. Version 0 knows groups only."""
    lowest = 0 if key_type == GROUP else 1
    return FindCoordinatorRequest(key=key, key_type=key_type, min_version=lowest, max_version=_WITH_KEYS - 1)
