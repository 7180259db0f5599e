"""Pauses between failed connections to one address: `reconnect.backoff.ms`, doubled up to its maximum."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Event

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.policies.growing_pauses import doubled

_JITTER = 0.2


class Reconnects:
    """The brokers that failed lately, shared by all threads."""

    def __init__(self, settings: ConnectionSettings, closed: Event) -> None:
        self._first = settings.reconnect_backoff
        self._most = settings.reconnect_backoff_max
        self._closed = closed
        self._failures: dict[tuple[str, int], tuple[int, Deadline]] = {}

    @contextmanager
    def turn(self, host: str, port: int, within: float = inf) -> Iterator[None]:
        """Wait until it may be tried again; the body is the try, and ConnectionLost from it counts as failed.

        Raise ConnectionLost where it may not be tried `within` so many seconds.
        """
        failed, allowed = self._failures.get((host, port), (0, Deadline.after(0)))
        pause = allowed.remaining()
        if self._closed.wait(min(pause, within)):
            raise ConnectionLost(f"no connection to {host}:{port}: closed here")
        if pause > within:
            raise ConnectionLost(f"{host}:{port} failed {failed} times and may only be tried again in {pause:g} s")
        try:
            yield
        except ConnectionLost:
            self._failures[host, port] = failed + 1, Deadline.after(self._pause(failed))
            raise
        self._failures.pop((host, port), None)

    def _pause(self, failed: int) -> float:
        pause = doubled(self._first, failed, self._most)
        return pause * random.uniform(1 - _JITTER, 1 + _JITTER)
