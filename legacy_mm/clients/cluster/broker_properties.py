"""The question for the properties of a broker, which is asked itself: others do not know them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest

from legacy_mm.clients.net.connection_errors import UnsupportedVersion

_BROKER = 4


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
