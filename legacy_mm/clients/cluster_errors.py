"""Errors that name the cluster and its addresses: a command asks two clusters, and only one of them may be away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from legacy_mm.errors import HostError

_ADDRESSES, _NONE = "bootstrap.servers", "without an address"


def named(cluster: str, properties: Mapping[str, str], what: str) -> str:
    """Return the text of an error with the cluster's name and addresses."""
    return f"the {cluster} ({properties.get(_ADDRESSES, _NONE)}): {what}"


@contextmanager
def at_cluster(cluster: str, properties: Mapping[str, str]) -> Iterator[None]:
    """Name the cluster in a HostError of the questions inside; `cluster` is a name such as source."""
    try:
        yield
    except HostError as error:
        raise HostError(named(cluster, properties, str(error))) from error
