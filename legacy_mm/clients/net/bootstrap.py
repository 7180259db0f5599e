"""The addresses at which a client begins, checked before one is made."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from legacy_mm.base.errors import ConfigurationError


def require_resolvable(client: str, bootstrap_servers: Sequence[str]) -> None:
    """Raise ConfigurationError, in the Java client's words, when no bootstrap name resolves."""
    for server in bootstrap_servers:
        host, _, port = server.rpartition(":")
        try:
            socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
            return
        except (OSError, ValueError):
            continue
    raise ConfigurationError(
        f"org.apache.kafka.common.KafkaException: Failed to construct kafka {client}\n"
        "Caused by: org.apache.kafka.common.config.ConfigException: "
        f"No resolvable bootstrap urls given in bootstrap.servers ({','.join(bootstrap_servers)})"
    )
