"""A connection to one address that is kept for small requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from threading import Event, Lock
from typing import Any

from legacy_mm.base.clock import monotonic
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ConnectionLost


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
