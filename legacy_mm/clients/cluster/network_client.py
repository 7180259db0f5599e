"""The connections to the brokers of one cluster: made on demand, kept for small requests, counted, closed when idle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import partial
from math import inf
from threading import Event, Lock
from typing import Any, NamedTuple

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.cluster.addresses import Address, Addresses
from legacy_mm.clients.cluster.topology import Broker
from legacy_mm.clients.net.connection import Connection, open_connection
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.net.connection_security import Security
from legacy_mm.clients.net.kept_connection import KeptConnection, Reconnects
from legacy_mm.clients.net.traffic import Traffic

_UNKNOWN_NODE = -1
"""The number of a broker of which only the address is known, as in Java."""
IDLE_TIMEOUT = 10.0
"""The time an idle connection for small requests is kept beside those that carry records."""


class Connections(NamedTuple):
    """The number of connections made, and of those that are open."""

    made: int
    open: int


class NetworkClient:
    """Asks brokers by their addresses. Any thread may call it."""

    def __init__(self, settings: ConnectionSettings, timeout: float, connecting: float = 0.0) -> None:
        """Create a client; each question may take `timeout` seconds, after the same time or `connecting` for TCP, TLS
        and login.
        """
        self.closed = Event()
        self.brokers: Mapping[int, Broker] = {}
        """The brokers of the last answer about the cluster; `Metadata` sets them."""
        self.traffic: Traffic | None = None
        """Counts small requests, and is told when no broker answers."""
        self._settings = settings
        self._security = Security(settings)
        self._timeout = timeout
        self._connecting = max(timeout, connecting)
        self._addresses = Addresses(settings)
        self._reconnects = Reconnects(settings, self.closed)
        self._counting = Lock()
        self._made, self._open = 0, list[Connection]()
        self._lines: defaultdict[tuple[str, int], KeptConnection] = defaultdict(lambda: KeptConnection(self.closed))

    def connect(self, address: Address, within: float = inf) -> Connection:
        """Return a new connection, after the pause that follows failed ones; raise ConnectionLost, also where that
        takes longer than `within` seconds.
        """
        host, port, node = address
        limit = Deadline.after(within)
        try:
            with self._reconnects.turn(host, port, within):
                begin, seconds = monotonic(), min(self._connecting, limit.remaining())
                made = open_connection(self._security, host, port, self._settings, node, within=seconds)
        except ConnectionLost:
            self._addresses.lost(host, port)
            raise
        self._addresses.answered(host, port)
        self._addresses.connected(monotonic() - begin)
        self.count(made, _UNKNOWN_NODE if node is None else node)
        with self._counting:
            self._forget_closed()
            self._made += 1
            self._open.append(made)
        return made

    def call(self, address: Address, request: Any, patience: float = inf, *, is_change: bool = False) -> Any:
        """Ask one broker, over a connection that is kept for such requests; raise ConnectionLost, also where it is
        silent for `patience` seconds.
        """
        limit = Deadline.after(patience)

        def connect() -> Connection:
            return self.connect(address, patience if is_change else limit.remaining())

        try:
            line = self._lines[address.host, address.port]
            answer = line.call(request, connect, inf if is_change else patience)
        except ConnectionLost:
            self._addresses.lost(address.host, address.port)
            raise
        self._addresses.answered(address.host, address.port)
        return answer

    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        """Ask any broker; raise ClusterUnreachable when none answers in time, or `within` less.

        A silent one costs a share of the time, but not where `is_change`: a second broker would make it once more.
        """
        seconds = min(self._timeout, within)
        deadline, limit = Deadline.after(seconds), Deadline.after(within)
        while True:
            lost = None
            addresses = self._addresses.in_order(self.brokers.values())
            for address in addresses:
                share = inf if address is addresses[-1] else self._addresses.patience
                try:
                    return self.call(address, request, min(share, limit.remaining()), is_change=is_change)
                except ConnectionLost as error:
                    lost = error
                if deadline.expired() or self.closed.is_set():
                    self._addresses.none_answered()
                    raise ClusterUnreachable(f"no broker answered in {seconds:g} s; {lost}") from lost
            if self.traffic is not None:
                self.traffic.on_trouble(str(lost))

    def call_advertised(self, brokers: Collection[Any], request: Any, read: Callable[[Any], Any]) -> Any:
        """Return what `read` makes of the answer of one of these brokers, which a bootstrap server names; None as
        `Addresses.ask_advertised` says. Where `read` raises ConnectionLost, the next one is asked.
        """
        ask = lambda address, seconds: read(self.call(address, request, seconds))  # noqa: E731
        return self._addresses.ask_advertised(brokers, ask, self._timeout)

    def lost(self, node: int) -> None:
        """Ask others before this broker, which did not answer over a connection of `connect`."""
        if broker := self.brokers.get(node):
            self._addresses.lost(broker.host, broker.port)

    def count(self, connection: Connection, node: int) -> None:
        """Count the small requests of this connection as those of this node, if there is `traffic`."""
        if self.traffic is not None:
            connection.on_exchange = partial(self.traffic.exchanged, node)

    def connections(self) -> Connections:
        """Return the counts of all connections to the brokers."""
        with self._counting:
            self._forget_closed()
            return Connections(self._made, len(self._open))

    def close_idle(self) -> None:
        """End connections made for `call` that were unused for a while, the only one to the cluster later."""
        now = monotonic()
        for line in sorted(self._lines.values(), key=lambda line: line.used):
            line.close_if_idle(now - (IDLE_TIMEOUT if self.connections().open > 1 else self._settings.max_idle))

    def close(self) -> None:
        """End the connections made for `call`; those of `connect` are their owners'."""
        self.closed.set()
        for line in list(self._lines.values()):
            line.close()

    def _forget_closed(self) -> None:
        self._open = [connection for connection in self._open if connection.is_open()]
