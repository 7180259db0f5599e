"""The broker that keeps a consumer group: found, connected to, and found again when it has moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

from kafka.protocol.metadata import FindCoordinatorRequest

from legacy_mm.clients.native import error_text
from legacy_mm.clients.native.cluster import Cluster
from legacy_mm.clients.native.connection import Connection
from legacy_mm.clients.native.connection_errors import ConnectionLost, RequestRefused, UnsupportedVersion
from legacy_mm.protocol import error_codes

_GROUP = 0
_WITH_KEYS = 4
"""Asks about several groups; versions above are about share groups and transactions."""


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


def coordinators(cluster: Cluster, groups: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each group with an error code, 0 for none, and its broker. Raise ConnectionLost, ClusterUnreachable."""
    try:
        request = FindCoordinatorRequest(
            key_type=_GROUP, coordinator_keys=groups, min_version=_WITH_KEYS, max_version=_WITH_KEYS
        )
        yield from ((row.key, row.error_code, row.node_id) for row in cluster.call_any(request).coordinators)
    except UnsupportedVersion:  # before 3.0
        for group in groups:
            row = cluster.call_any(FindCoordinatorRequest(key=group, key_type=_GROUP, max_version=_WITH_KEYS - 1))
            yield group, row.error_code, row.node_id
