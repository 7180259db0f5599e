"""Security as librdkafka's properties say it, done with Python's ssl and kafka-python's SASL mechanisms."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from legacy_mm.wire.stream import PlainStream, Stream


def unsupported(properties: Mapping[str, str]) -> str | None:
    """One sentence why this security cannot be done here; None when it can."""
    protocol = _protocol(properties)
    return None if protocol == "plaintext" else f"security.protocol={protocol} is not done yet"


class Security:
    """How to reach one cluster: what its connections have in common."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.logs_in = _protocol(properties).startswith("sasl")

    def secure(self, connected: socket.socket, host: str) -> Stream:
        """The stream over a fresh TCP connection to `host`."""
        return PlainStream(connected)


def _protocol(properties: Mapping[str, str]) -> str:
    return properties.get("security.protocol", "plaintext").lower()
