"""Options for reading the source, from the consumer's properties."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.protocol.fetch_messages import FetchOptions


def options_from(properties: Mapping[str, str], backlog: int) -> FetchOptions:
    """Return the options that librdkafka's consumer properties set for fetching; Java's defaults for the others."""

    def number(name: str, default: int) -> int:
        return int(properties.get(name, default))

    return FetchOptions(
        max_wait_ms=number("fetch.wait.max.ms", 500),
        min_bytes=number("fetch.min.bytes", 1),
        max_bytes=min(number("fetch.max.bytes", 52_428_800), backlog),
        partition_bytes=number("fetch.message.max.bytes", 1 << 20),
        committed_only=properties.get("isolation.level", "read_committed") == "read_committed",
        rack=properties.get("client.rack", ""),
    )
