"""The broker that keeps a consumer group: found, connected to, and found again when it has moved."""

from __future__ import annotations

from threading import Lock
from typing import Any

from kafka.errors import for_code
from kafka.protocol.metadata import FindCoordinatorRequest

from legacy_mm.wire import failures
from legacy_mm.wire.cluster import Cluster
from legacy_mm.wire.connection import Connection
from legacy_mm.wire.errors import ConnectionLost, RequestRefused

_GROUP = 0
_NEWEST_ASKED = 4
"""Versions above are about share groups and transactions."""


class CoordinatorMoved(ConnectionLost):
    """The broker that was asked does not keep the group (yet, or any more)."""


class Coordinator:
    """One conversation with a group's coordinator: one question at a time, by one thread; any thread may interrupt."""

    def __init__(self, cluster: Cluster, group: str) -> None:
        self.group = group
        self._cluster = cluster
        self._connection: Connection | None = None
        self._lock = Lock()

    def call(self, request: Any, patience: float) -> Any:
        """The answer within so many seconds. Raises ConnectionLost, ClusterUnreachable, StreamFailure."""
        connection = self.reach()
        try:
            with connection.patience(patience):
                return connection.call(request)
        except ConnectionLost:
            self.forget()
            raise

    def forget(self) -> None:
        """It may be another broker by now; whoever waits for an answer gets ConnectionLost."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def reach(self) -> Connection:
        """The connection, found and made where there is none. Raises as `call`."""
        connection = self._connection
        if connection is not None and not connection.is_due():
            return connection
        self.forget()
        connection = self._cluster.connect(self._find())
        with self._lock:
            self._connection = connection
        return connection

    def _find(self) -> int:
        answer = self._cluster.call_any(
            FindCoordinatorRequest(
                key=self.group, key_type=_GROUP, coordinator_keys=[self.group], max_version=_NEWEST_ASKED
            )
        )
        found = answer.coordinators[0] if answer.coordinators else answer
        if found.error_code:
            error = for_code(found.error_code)
            if not error.retriable:
                raise RequestRefused(f"the group refuses this member: {failures.text(found.error_code)}")
            raise CoordinatorMoved(f"group {self.group} has no coordinator yet: {error.__name__}")
        return int(found.node_id)
