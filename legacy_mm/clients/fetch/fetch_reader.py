"""The conversation of a fetcher with one source broker: its connection, and the session on it.

While nothing comes it lets the broker wait longer and longer before it says so. A record ends that wait at once, so it
costs no latency; `interrupt` ends it for a change of what is to be read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from legacy_mm.base.clock import monotonic
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.fetch_session import FetchSession
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.protocol import fetch_messages as messages
from legacy_mm.protocol.fetch_messages import FetchedPartition, FetchOptions, Wanted

_LONGEST_WAIT_MS = 5_000


class FetchAnswer(NamedTuple):
    """An answer of a broker."""

    partitions: Collection[FetchedPartition] = ()
    rest: float = 0.0
    """The seconds for which it wants to be asked nothing."""


class FetchReader:
    """The conversation with one broker, for one thread: `begin`, perhaps `fetch`, and `end`; `lost` where one of them
    raises ConnectionLost or ClusterUnreachable. Any thread may `interrupt` and `close`.
    """

    def __init__(self, node: int, cluster: Cluster, options: FetchOptions, traffic: Traffic) -> None:
        self.node = node
        self.asking = False
        """True between `begin` and `end`."""
        self._cluster = cluster
        self._usual = options
        self._traffic = traffic
        self._connection: Connection | None = None
        self._session = FetchSession()
        self._options = options
        self._interrupted = False

    def begin(self) -> int:
        """Connect, where that is needed; return the version of the broker's Fetch requests."""
        self.asking = True
        self._interrupted = False
        connection = self._connection
        if connection is not None and connection.is_due():
            connection.close()
            connection = None
        if connection is None:
            connection = self._connection = self._cluster.connect(self.node)
        return connection.version(messages.API_KEY, messages.LOWEST, messages.HIGHEST)

    def fetch(self, version: int, wanted: Iterable[Wanted]) -> FetchAnswer:
        """Return what the broker answers; nothing where it has forgotten the session, which begins anew."""
        begin, connection = monotonic(), self._connection
        assert connection is not None, "begin comes first"
        request = messages.encode(version, self._options, self._session.next(wanted))
        connection.send(messages.API_KEY, version, [request])
        body = connection.receive()
        response = messages.decode(version, body)
        self._traffic.exchanged(self.node, len(request), len(body), monotonic() - begin, response.throttle_ms)
        if not self._session.answered(response):
            return FetchAnswer()
        if response.error:
            raise ConnectionLost(error_text.text(response.error))
        came = any(each.records or each.error for each in response.partitions)
        self._options = self._usual if came else self._with_longer_wait()
        rest_ms = response.throttle_ms if version >= messages.CLIENT_RESTS_SINCE else 0
        return FetchAnswer(response.partitions, rest_ms / 1000)

    def end(self) -> None:
        """End what `begin` has begun."""
        self.asking = False

    def lost(self) -> bool:
        """Begin anew the next time; return False where `interrupt` has closed the connection."""
        connection, self._connection = self._connection, None
        self._session.failed()
        if connection is not None:
            connection.close()
        self._options = self._usual
        interrupted, self._interrupted = self._interrupted, False
        return not interrupted

    def interrupt(self) -> None:
        """End a wait that was made longer, because there is more to ask for."""
        if self.asking and self._options is not self._usual and self._connection is not None:
            self._interrupted = True
            self._connection.close()

    def close(self) -> None:
        """Wake the thread out of whatever it waits for."""
        if self._connection is not None:
            self._connection.close()

    def _with_longer_wait(self) -> FetchOptions:
        """Return the options of the next request after one that brought nothing, where any record ends the wait."""
        wait = self._options.max_wait_ms
        if self._options.min_bytes > 1 or wait >= _LONGEST_WAIT_MS:
            return self._options
        return replace(self._options, max_wait_ms=min(2 * wait, _LONGEST_WAIT_MS))
