"""Wait for a condition, never for a time. Rule: the only place of the testbed that sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

RETRY_BACKOFF = 0.05


def wait_until(condition: Callable[[], T], timeout: float, what: str) -> T:
    """Return the first true answer of `condition`; after `timeout` seconds TimeoutError names `what`.

    The error also contains the last answer, or the last exception: an OSError or a Kafka error counts as "not yet".
    Other exceptions pass through at once.
    """
    end = time.monotonic() + timeout
    last = "it was never asked"
    while True:
        try:
            answer = condition()
            if answer:
                return answer
            last = f"last answer: {answer!r}"
        except _not_yet() as error:
            last = f"last error: {error!r}"
        if time.monotonic() >= end:
            raise TimeoutError(f"waited {timeout:g} s for {what}; {last}")
        time.sleep(RETRY_BACKOFF)


def _not_yet() -> tuple[type[BaseException], ...]:
    # Late, so that process trees and proxies can be used without librdkafka.
    from confluent_kafka import KafkaException

    return (OSError, KafkaException)
