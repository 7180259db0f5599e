"""The conversation of a fetcher with one source broker: a thread and a connection.

While nothing comes it lets the broker wait longer and longer before it says so. A record ends that wait at once, so it
costs no latency; `interrupt` ends it for a change of what is to be read.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Protocol

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.fetch_session import FetchSession
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.protocol import fetch_messages as messages
from legacy_mm.protocol.fetch_messages import FetchedPartition, FetchOptions, Wanted

_LOOK_INTERVAL = 0.1
_LONGEST_WAIT_MS = 5_000


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
        self._options = fetcher.options
        self._interrupted = False

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

    def interrupt(self) -> None:
        """End a wait that was made longer, because there is more to ask for."""
        if self.asking and self._options is not self._fetcher.options and self._connection is not None:
            self._interrupted = True
            self._connection.close()

    def close(self) -> None:
        """Wake the thread out of whatever it waits for."""
        if self._connection is not None:
            self._connection.close()

    def _ask(self, asked: list[Wanted]) -> None:
        fetcher = self._fetcher
        self._interrupted = False
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
        request = messages.encode(version, self._options, self._session.next(wanted))
        connection.send(messages.API_KEY, version, [request])
        body = connection.receive()
        response = messages.decode(version, body)
        fetcher.traffic.exchanged(self._node, len(request), len(body), monotonic() - begin, response.throttle_ms)
        if not self._session.answered(response):
            fetcher.answered(asked, [])
            return
        if response.error:
            raise ConnectionLost(error_text.text(response.error))
        came = any(each.records or each.error for each in response.partitions)
        self._options = fetcher.options if came else self._with_longer_wait()
        fetcher.answered(asked, response.partitions)
        if response.throttle_ms and version >= messages.CLIENT_RESTS_SINCE:
            fetcher.rest(response.throttle_ms / 1000)

    def _with_longer_wait(self) -> FetchOptions:
        """Return the options of the next request after one that brought nothing, where any record ends the wait."""
        wait = self._options.max_wait_ms
        if self._options.min_bytes > 1 or wait >= _LONGEST_WAIT_MS:
            return self._options
        return replace(self._options, max_wait_ms=min(2 * wait, _LONGEST_WAIT_MS))

    def _lost(self, error: LegacyMMError) -> None:
        connection, self._connection = self._connection, None
        self._session.failed()
        if connection is not None:
            connection.close()
        self._options = self._fetcher.options
        interrupted, self._interrupted = self._interrupted, False
        if not interrupted and not self._fetcher.closed():
            self._fetcher.traffic.on_trouble(str(error))
            self._fetcher.cluster.metadata.stale()
