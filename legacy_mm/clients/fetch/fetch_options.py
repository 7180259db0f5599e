"""Options for reading the source, out of the consumer's settings."""

from __future__ import annotations

from legacy_mm.base.kafka_clients import FetchSettings
from legacy_mm.protocol.fetch_messages import FetchOptions


def options_from(settings: FetchSettings) -> FetchOptions:
    """Return the options that go into each fetch request; no more is asked for than may lie here."""
    return FetchOptions(
        max_wait_ms=round(settings.max_wait * 1000),
        min_bytes=settings.min_bytes,
        max_bytes=min(settings.max_bytes, settings.backlog_bytes),
        partition_bytes=settings.partition_bytes,
        committed_only=settings.committed_only,
        rack=settings.rack,
    )
