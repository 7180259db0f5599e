"""A connection to one address that is kept for small requests, and the pauses before an address is tried again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from threading import Event, Lock
from typing import Any

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.policies.growing_pauses import doubled

_JITTER = 0.2


class KeptConnection:
    """A connection for small requests, one at a time; made anew when the broker has closed it for being idle."""

    def __init__(self, over: Event) -> None:
        """Create the connection; once `over` is set, each call fails and leaves no connection open."""
        self._over = over
        self._connection: Connection | None = None
        self.used = 0.0
        self._busy = Lock()

    def call(self, request: Any, connect: Callable[[], Connection], patience: float = inf) -> Any:
        """Return the broker's answer; raise ConnectionLost if a fresh connection breaks, too.

        It is lost where nothing comes within `patience` seconds, a kept one sooner: a firewall may have forgotten it.
        """
        with self._turn(patience):
            self.used = monotonic()
            if self._connection is not None:
                try:
                    return self._connection.call(request, patience / 2)
                except ConnectionLost:
                    self._connection = None
            self._connection = connect()
            if self._over.is_set():
                self.close()
            try:
                return self._connection.call(request, patience)
            except ConnectionLost:
                self._connection = None
                raise

    def close_if_idle(self, before: float) -> None:
        """Close the connection if the last call began before then and has ended."""
        if self.used < before and self._busy.acquire(blocking=False):
            try:
                self.close()
                self._connection = None
            finally:
                self._busy.release()

    def close(self) -> None:
        """Close the connection, even while a call is waiting."""
        if connection := self._connection:
            connection.close()

    @contextmanager
    def _turn(self, patience: float) -> Iterator[None]:
        """Wait until no other thread calls."""
        if not self._busy.acquire(timeout=patience if patience < inf else -1):
            raise ConnectionLost(f"an earlier question is still without an answer after {patience:g} s")
        try:
            yield
        finally:
            self._busy.release()


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
