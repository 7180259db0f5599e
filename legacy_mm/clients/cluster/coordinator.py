"""The broker that keeps a consumer group: found, connected to, and found again when it has moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from threading import Lock
from typing import Any

from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.missing_listeners import listener_problem
from legacy_mm.clients.cluster.topology import without_listener
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import (
    ClusterUnreachable,
    ConnectionLost,
    RequestRefused,
    UnsupportedVersion,
)
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.coordinator_partition import GROUPS, TRANSACTIONS, coordinator_partition

GROUP, TRANSACTION = 0, 1
"""Key types: the key is a group id, or a transactional id."""
_TOPICS = {GROUP: GROUPS, TRANSACTION: TRANSACTIONS}
_WITH_LISTENERS = 6
"""The first version of a Metadata request whose answer tells that a leader lacks the listener."""
_LAST_NODE = 2_147_483_647
_WITH_KEYS = 4
"""Asks about several keys; versions above are about share groups, and transaction version 2."""


def coordinator_node(broker: int) -> int:
    """Return the node that the connection to a coordinator is counted as: one of its own, as in Java's client."""
    return _LAST_NODE - broker


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
        """Return the answer within `timeout` seconds, before which the coordinator may have to be found and connected
        to within as many. Raise ConnectionLost, ClusterUnreachable, StreamFailure.
        """
        connection = self.reach(timeout)
        try:
            with connection.with_timeout(timeout):
                return connection.call(request)
        except ConnectionLost:
            self.forget()
            if connection.node is not None:
                self._cluster.network.lost(connection.node)
            self._cluster.metadata.stale()
            raise

    def forget(self) -> None:
        """Forget the coordinator, which may have moved; pending calls get ConnectionLost."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def reach(self, within: float = inf) -> Connection:
        """Return the connection; find the coordinator and connect if needed. Raise as `call` does."""
        connection = self._connection
        if connection is not None and not connection.is_due():
            return connection
        self.forget()
        deadline = Deadline.after(within)
        node = self._find(deadline)
        try:
            connection = self._cluster.connect(node, deadline.remaining())
        except ConnectionLost:
            self._cluster.metadata.stale()  # the same broker may have another address now
            raise
        self._cluster.network.count(connection, coordinator_node(node))
        with self._lock:
            self._connection = connection
        return connection

    def _find(self, deadline: Deadline) -> int:
        ((_, code, node),) = coordinators(self._cluster, [self.group], within=deadline.remaining())
        if code:
            if not error_codes.is_retriable(code):
                raise RequestRefused(error_text.refused_member(self.group, code))
            if why := unreachable(self._cluster, [self.group], within=deadline.remaining()):
                raise ConnectionLost(f"the coordinator of group {self.group} is not reached: {why[self.group]}")
            raise CoordinatorMoved(f"group {self.group} has no coordinator yet: {error_codes.name(code)}")
        return node


def coordinators(
    cluster: Cluster, keys: Sequence[str], key_type: int = GROUP, *, within: float = inf
) -> Iterator[tuple[str, int, int]]:
    """Yield each key with an error code, 0 for none, and its broker. Raise ConnectionLost, ClusterUnreachable.

    `within`: the seconds for an answer, where less than usual.
    """
    try:
        request = FindCoordinatorRequest(
            key_type=key_type, coordinator_keys=keys, min_version=_WITH_KEYS, max_version=_WITH_KEYS
        )
        yield from ((row.key, row.error_code, row.node_id) for row in cluster.call_any(request, within).coordinators)
    except UnsupportedVersion:  # before 3.0
        for key in keys:
            row = cluster.call_any(_find_one(key, key_type), within)
            yield key, row.error_code, row.node_id


def unreachable(cluster: Cluster, keys: Iterable[str], key_type: int = GROUP, *, within: float = inf) -> dict[str, str]:
    """Return the problem of those of these keys whose coordinator is not found because it lacks the client's listener.

    A cluster that does not tell has none.
    """
    named = [MetadataRequest.MetadataRequestTopic(name=_TOPICS[key_type])]
    request = MetadataRequest(topics=named, allow_auto_topic_creation=False, min_version=_WITH_LISTENERS)
    try:
        described = [topic for topic in cluster.call_any(request, within).topics if topic.partitions]
    except (ConnectionLost, ClusterUnreachable, UnsupportedVersion):
        return {}
    missing = without_listener(described)
    keepers = {
        key: TopicPartition(topic.name, coordinator_partition(key, len(topic.partitions)))
        for topic in described
        for key in keys
    }
    return {key: listener_problem([keeper]) for key, keeper in keepers.items() if keeper in missing}


def _find_one(key: str, key_type: int) -> Any:
    """Ask about one key. Version 0 knows groups only."""
    lowest = 0 if key_type == GROUP else 1
    return FindCoordinatorRequest(key=key, key_type=key_type, min_version=lowest, max_version=_WITH_KEYS - 1)
