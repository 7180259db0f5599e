"""The addresses of a cluster's brokers: which to ask next, and how long to wait for one that may be silent.

A host that is gone, or behind a firewall that drops, refuses nothing and answers nothing. So each address but the last
has a share of the time only, one that was silent is asked last, and `bootstrap.servers` are asked before all known
brokers have failed: all may have moved.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.cluster.topology import Broker
from legacy_mm.clients.net.connection_errors import ConnectionLost

_CANONICAL = "resolve_canonical_bootstrap_servers_only"
_PATIENCE = 2.5
"""Seconds. Where a round trip takes 250 ms, a connection with TLS and SCRAM is there after 1.75."""
_AS_LONG_AGAIN = 2.0
_KNOWN_FIRST = 2
"""The number of known brokers that are asked before the bootstrap servers."""
_MOST_DOUBLINGS = 10


class Address(NamedTuple):
    """A way to a broker, and its id; None where only the address is known."""

    host: str
    port: int
    node: int | None


def address_of(broker: Broker) -> Address:
    """Return the way to a broker that is known."""
    return Address(broker.host, broker.port, broker.node)


class Addresses:
    """The bootstrap servers, and which addresses of the cluster were lost lately; shared by all threads."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._bootstrap = list(dict.fromkeys(_bootstrap(settings)))
        self._lost: dict[tuple[str, int], None] = {}
        """In the order in which they were lost."""
        self._slowest = 0.0
        self._unanswered = 0

    @property
    def patience(self) -> float:
        """The seconds for an address while there is another one; more where all were too slow, or lines are long."""
        usual = max(_PATIENCE, _AS_LONG_AGAIN * self._slowest)
        return usual * 2.0 ** min(self._unanswered, _MOST_DOUBLINGS)

    def in_order(self, brokers: Iterable[Broker]) -> list[Address]:
        """Return the addresses of these brokers and of the bootstrap servers in the order in which to ask them."""
        known = {(each.host, each.port): Address(each.host, each.port, each.node) for each in brokers}
        named = {place: Address(*place, None) for place in self._bootstrap if place not in known}
        lost = [(known | named)[place] for place in list(self._lost) if place in known or place in named]
        first, others = (
            random.sample(well, len(well))
            for well in ([each for each in some.values() if each not in lost] for some in (known, named))
        )
        return [*first[:_KNOWN_FIRST], *others, *first[_KNOWN_FIRST:], *lost]

    def ask_advertised(self, brokers: Collection[Any], ask: Callable[[Address, float], Any], within: float) -> Any:
        """Return the answer of one of the brokers that a bootstrap server names; None where it names a bootstrap
        server, too, or none answers within these seconds.

        Advertised addresses may lead to another cluster than the one that advertises them.
        """
        if any((each.host, each.port) in self._bootstrap for each in brokers):
            return None
        limit = Deadline.after(within)
        for each in random.sample(list(brokers), len(brokers)):
            if limit.expired():
                break
            with suppress(ConnectionLost):
                return ask(Address(each.host, each.port, each.node_id), min(self.patience, limit.remaining()))
        return None

    def lost(self, host: str, port: int) -> None:
        """Ask this address last from now on: it refused, was silent, or broke off."""
        self._lost.pop((host, port), None)
        self._lost[host, port] = None

    def answered(self, host: str, port: int) -> None:
        """Ask this address as any other from now on."""
        self._lost.pop((host, port), None)
        self._unanswered = 0

    def connected(self, seconds: float) -> None:
        """Note how long it took to connect."""
        self._slowest = max(self._slowest, seconds)

    def none_answered(self) -> None:
        """Make `patience` longer, until one answers: all may be slow."""
        self._unanswered += 1


def _bootstrap(settings: ConnectionSettings) -> list[tuple[str, int]]:
    pairs = [server.rpartition(":") for server in settings.bootstrap_servers]
    written = [(host.strip("[]"), int(port)) for host, _, port in pairs]
    if settings.dns_lookup != _CANONICAL:
        return written
    return [(name, port) for host, port in written for name in _canonical(host, port)]


def _canonical(host: str, port: int) -> Iterator[str]:
    """Yield the canonical names of the addresses of `host`: Kerberos knows brokers by these."""
    try:
        for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            yield socket.getnameinfo(address, 0)[0]
    except OSError:
        yield host
