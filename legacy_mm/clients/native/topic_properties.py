"""The question for the properties of topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest

from legacy_mm.clients.native.cluster import Cluster

_TOPIC = 2


def described(cluster: Cluster, topics: Iterable[str], names: list[str] | None = None) -> Any:
    """Return a broker's rows, one for each topic; `names`: only these properties. Raise ClusterUnreachable."""
    resource = DescribeConfigsRequest.DescribeConfigsResource
    wanted = [resource(resource_type=_TOPIC, resource_name=name, configuration_keys=names) for name in topics]
    return cluster.call_any(DescribeConfigsRequest(resources=wanted, min_version=1)).results
