"""A cluster's client quotas, and the names of its SCRAM users: brokers tell no password, no salt and no hash."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from kafka.protocol.admin import DescribeClientQuotasRequest, DescribeUserScramCredentialsRequest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.inspector import every_topic
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ConnectionLost, UnsupportedVersion
from legacy_mm.policies.quota_entities import Entity
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode

Credential = tuple[str, str]
"""A user, and a mechanism."""
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}


def client_quotas(name: str, settings: ConnectionSettings, deadline: Deadline) -> dict[Entity, dict[str, float]]:
    """Return all client quotas; raise HostError where the cluster does not tell them. `name` tells clusters apart."""
    request = DescribeClientQuotasRequest(components=[], strict=False)
    with closing(Cluster(settings, deadline.remaining())) as cluster:
        try:
            answer = cluster.call_any(request)
        except UnsupportedVersion as error:
            raise HostError(f"the {name} tells no client quotas: Kafka does so since 2.6") from error
    _require(answer, name, "client quotas", "DescribeConfigs")
    return {entity_of(entry.entity): {row.key: row.value for row in entry.values} for entry in answer.entries or ()}


def scram_credentials(name: str, settings: ConnectionSettings, deadline: Deadline) -> dict[Credential, int]:
    """Return the number of iterations of each SCRAM credential; raise HostError where the cluster does not tell."""
    request = DescribeUserScramCredentialsRequest(users=[])  # brokers do not answer a refused null
    with closing(Cluster(settings, deadline.remaining())) as cluster:
        try:
            answer = cluster.call(every_topic(cluster).controller_id, request)
        except UnsupportedVersion as error:
            raise HostError(
                f"the {name} tells no SCRAM users: Kafka does so since 2.7, with KRaft since 3.5"
            ) from error
        except ConnectionLost as error:
            raise HostError(f"listing the {name}'s SCRAM users failed: {error}") from error
    _require(answer, name, "SCRAM users", "Describe")
    return {
        (row.user, _MECHANISMS[info.mechanism]): info.iterations
        for row in answer.results
        for info in row.credential_infos
        if info.mechanism in _MECHANISMS
    }


def entity_of(parts: Any) -> Entity:
    """Return the entity of a request or an answer."""
    return tuple(sorted((part.entity_type, part.entity_name) for part in parts))


def _require(answer: Any, name: str, what: str, right: str) -> None:
    if code := answer.error_code:
        # the broker's own words name the connection, and would never be the same twice
        needed = f"; {right} on the cluster is needed" if code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED else ""
        raise HostError(f"listing the {name}'s {what} failed: {error_codes.name(code)}{needed}")
