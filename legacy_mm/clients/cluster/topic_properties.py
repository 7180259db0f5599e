"""The questions for the properties of topics, and for those of a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest

from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, UnsupportedVersion
from legacy_mm.protocol.error_codes import ErrorCode

_TOPIC = 2
_FORBIDDEN = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
_BROKER = 4


def described(cluster: Cluster, topics: Iterable[str], names: list[str] | None = None) -> Any:
    """Return a broker's rows, one for each topic; `names`: only these properties. Raise ClusterUnreachable."""
    resource = DescribeConfigsRequest.DescribeConfigsResource
    wanted = [resource(resource_type=_TOPIC, resource_name=name, configuration_keys=names) for name in topics]
    return cluster.call_any(DescribeConfigsRequest(resources=wanted, min_version=1)).results


def properties_of(cluster: Cluster, topic: str, names: list[str] | None = None) -> Mapping[str, str]:
    """Return one topic's properties, or those that are named; empty without the right to see them.

    Raise ClusterUnreachable for every other error: a broker that just started does not know the topic, and one that has
    lost ZooKeeper answers UNKNOWN_SERVER_ERROR. Both are over soon.
    """
    (row,) = described(cluster, [topic], names)
    if row.error_code in _FORBIDDEN:
        return {}
    if row.error_code:
        why = row.error_message or error_text.text(row.error_code)
        raise ClusterUnreachable(f"a broker does not tell the properties of {topic}: {why}")
    return {each.name: each.value or "" for each in row.configs}


def broker_properties(call: Callable[[Any], Any], node: int, names: Sequence[str] | None = None) -> dict[str, str]:
    """Return the properties of a broker that have a value; `names`: only these. `call` asks this broker.

    Empty without the right to see them, and where brokers before 1.1 do not return them.
    """
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=_BROKER, resource_name=str(node), configuration_keys=None if names is None else list(names)
    )
    try:
        (row,) = call(DescribeConfigsRequest(resources=[resource], min_version=1)).results
    except UnsupportedVersion:
        return {}
    return {} if row.error_code else {each.name: each.value for each in row.configs if each.value is not None}
