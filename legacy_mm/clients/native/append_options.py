"""Options for writing to the target, read from the producer's properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

_ALWAYS = (1 << 31) - 1
_THRICE = 3


@dataclass(frozen=True, slots=True)
class AppendOptions:
    """Options for writing to the target. Sizes are bytes, times seconds."""

    acks: int
    idempotent: bool
    in_flight: int
    """Requests under way on one connection."""
    request_bytes: int
    batch_bytes: int
    """The most of a batch that is made of several; 0: none is."""
    buffer_bytes: int
    request_timeout: float
    delivery_timeout: float
    retry_pause: float
    retries: int
    """The limit of retries of a batch, for any reason."""
    damaged: int
    """The number of times in a row a broker may call a batch damaged before that counts as a refusal."""


def options_from(properties: Mapping[str, str], *, sets_aside: bool = False) -> AppendOptions:
    """Return the options that librdkafka's producer properties set; its and Java's defaults for the others.

    `sets_aside`: there is a quarantine for refused records.
    """

    def number(name: str, default: int) -> int:
        return int(properties.get(name, default))

    delivery = number("message.timeout.ms", 0)
    acks = properties.get("acks", "all")
    return AppendOptions(
        acks=-1 if acks == "all" else int(acks),
        idempotent=properties.get("enable.idempotence") == "true",
        in_flight=number("max.in.flight.requests.per.connection", 5),
        request_bytes=number("message.max.bytes", 1 << 20),
        batch_bytes=0 if number("batch.num.messages", 0) == 1 else number("batch.size", 1_000_000),
        buffer_bytes=number("queue.buffering.max.kbytes", 32 << 10) << 10,
        request_timeout=number("request.timeout.ms", 30_000) / 1000,
        delivery_timeout=delivery / 1000 if delivery else inf,
        retry_pause=number("retry.backoff.ms", 100) / 1000,
        retries=number("retries", _ALWAYS),
        damaged=_THRICE if sets_aside else _ALWAYS,
    )
