"""Options for writing to the target, out of the producer's settings."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.kafka_clients import ProducerSettings

_ALWAYS = (1 << 31) - 1
_THRICE = 3
_REMEMBERED = 5
"""The batches of a producer and partition whose sequence numbers a broker remembers."""


@dataclass(frozen=True, slots=True)
class AppendOptions:
    """Options for writing to the target. Sizes are bytes, times seconds."""

    acks: int
    idempotent: bool
    in_flight: int
    """Batches of a producer under way to one partition."""
    requests: int
    """Requests under way on one connection; each has batches of one producer."""
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


def options_from(
    settings: ProducerSettings, *, sets_aside: bool = False, synchronous: bool = False, owners: int = 0
) -> AppendOptions:
    """Return the options that a producer's settings say.

    `sets_aside`: there is a quarantine for refused records. `synchronous`: each request waits for the one before.
    `owners` of transactions bring producer ids of their own.
    """
    produce = settings.produce
    in_flight = 1 if synchronous else produce.in_flight
    if owners:
        in_flight = min(in_flight, _REMEMBERED)
    return AppendOptions(
        acks=produce.acks,
        idempotent=produce.idempotent and not owners,
        in_flight=in_flight,
        requests=in_flight * (owners or 1),
        request_bytes=produce.max_request_bytes,
        batch_bytes=produce.joined_bytes,
        buffer_bytes=produce.buffer_bytes,
        request_timeout=produce.request_timeout,
        delivery_timeout=produce.delivery_timeout,
        retry_pause=settings.connection.retry_backoff,
        retries=produce.retries,
        damaged=_THRICE if sets_aside else _ALWAYS,
    )
