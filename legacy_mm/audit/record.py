"""A record as a consumer sees it. Rule: a value, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass

LOG_APPEND_TIME = 2

ObservedHeaders = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class ObservedRecord:
    """Timestamp type 1 is create time, 2 is log append time, as Kafka clients number them."""

    topic: str
    partition: int
    offset: int
    timestamp_type: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: ObservedHeaders = ()
