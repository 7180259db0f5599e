"""The conversation of a fetcher with one source broker: a thread and a connection."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from typing import Protocol

from legacy_mm.clients.native import error_text
from legacy_mm.clients.native.cluster import Cluster
from legacy_mm.clients.native.connection import Connection
from legacy_mm.clients.native.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.native.fetch_session import FetchSession
from legacy_mm.clients.native.traffic import Traffic
from legacy_mm.clock import monotonic
from legacy_mm.errors import LegacyMMError
from legacy_mm.protocol import fetch_messages as messages
from legacy_mm.protocol.fetch_messages import FetchedPartition, FetchOptions, Wanted

_LOOK_INTERVAL = 0.1


class FetchOwner(Protocol):
    """The owner of the positions that readers read at. Any thread may call it."""

    cluster: Cluster
    options: FetchOptions
    traffic: Traffic

    def wait_for_work(self, node: int, timeout: float) -> list[Wanted]:
        """Mark and return the partitions to ask this broker for; empty when there are none or no room for more."""

    def closed(self) -> bool:
        """Return True if reading is over."""

    def rest(self, seconds: float) -> None:
        """Wait, unless reading is over."""

    def without_gaps(self, asked: list[Wanted]) -> list[Wanted]:
        """Return the partitions that may be read on."""

    def answered(self, asked: Iterable[Wanted], partitions: Collection[FetchedPartition]) -> None:
        """Take over what a broker answered."""

    def unanswered(self, asked: Iterable[Wanted]) -> None:
        """Release the partitions of a failed request, to be asked for again after a pause."""

    def failed(self, error: BaseException) -> None:
        """Record that reading cannot continue."""


class FetchReader(threading.Thread):
    """The conversation with one broker."""

    def __init__(self, fetcher: FetchOwner, node: int) -> None:
        super().__init__(name=f"fetch-{node}", daemon=True)
        self._fetcher = fetcher
        self._node = node
        self.asking = False
        self._connection: Connection | None = None
        self._session = FetchSession()

    def run(self) -> None:
        """Read until closed, or until an error that no later try can repair."""
        fetcher = self._fetcher
        try:
            while not fetcher.closed():
                if asked := fetcher.wait_for_work(self._node, _LOOK_INTERVAL):
                    self._serve(asked)
            self.close()  # one that was made meanwhile
        except Exception as error:  # noqa: BLE001 - the engine raises it
            fetcher.failed(error)

    def _serve(self, asked: list[Wanted]) -> None:
        self.asking = True
        try:
            self._ask(asked)
        except (ConnectionLost, ClusterUnreachable) as error:
            self._lost(error)
            self._fetcher.unanswered(asked)
        finally:
            self.asking = False

    def close(self) -> None:
        """Wake the thread out of whatever it waits for."""
        if self._connection is not None:
            self._connection.close()

    def _ask(self, asked: list[Wanted]) -> None:
        fetcher = self._fetcher
        connection = self._connection
        if connection is not None and connection.is_due():
            connection.close()
            connection = None
        if connection is None:
            connection = self._connection = fetcher.cluster.connect(self._node)
        version = connection.version(messages.API_KEY, messages.LOWEST, messages.HIGHEST)
        wanted = fetcher.without_gaps(asked)
        if not wanted:
            fetcher.answered(asked, [])
            return
        begin = monotonic()
        request = messages.encode(version, fetcher.options, self._session.next(wanted))
        connection.send(messages.API_KEY, version, [request])
        body = connection.receive()
        response = messages.decode(version, body)
        fetcher.traffic.exchanged(self._node, len(request), len(body), monotonic() - begin, response.throttle_ms)
        if not self._session.answered(response):
            fetcher.answered(asked, [])
            return
        if response.error:
            raise ConnectionLost(error_text.text(response.error))
        fetcher.answered(asked, response.partitions)
        if response.throttle_ms and version >= messages.CLIENT_RESTS_SINCE:
            fetcher.rest(response.throttle_ms / 1000)

    def _lost(self, error: LegacyMMError) -> None:
        connection, self._connection = self._connection, None
        self._session.failed()
        if connection is not None:
            connection.close()
        if not self._fetcher.closed():
            self._fetcher.traffic.on_trouble(str(error))
            self._fetcher.cluster.stale()
