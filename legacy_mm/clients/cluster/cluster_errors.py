"""Errors that name the cluster and its addresses: a command asks two clusters, and only one of them may be away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings

_NONE = "without an address"


def error_at(cluster: str, settings: ConnectionSettings, what: str) -> str:
    """Return the text of an error with the cluster's name and addresses."""
    return f"the {cluster} ({','.join(settings.bootstrap_servers) or _NONE}): {what}"


@contextmanager
def at_cluster(cluster: str, settings: ConnectionSettings) -> Iterator[None]:
    """Name the cluster in a HostError of the questions inside; `cluster` is a name such as source."""
    try:
        yield
    except HostError as error:
        raise HostError(error_at(cluster, settings, str(error))) from error
