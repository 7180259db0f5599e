"""A connection whose broker is the test, the other end of a socket pair; a fetcher of a cluster without sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.net import transport_layer
from legacy_mm.clients.net.traffic import Traffic
from tests.fakes.cluster import OneBroker
from tests.unit.clients.broker import Peer
from tests.unit.clients.one_broker import OPTIONS, A, B, C, Unattended


@pytest.fixture(autouse=True)
def short_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is blocked looks at the time often."""
    monkeypatch.setattr(transport_layer, "MOMENT", 0.01)


@pytest.fixture
def peer() -> Iterator[Peer]:
    ours, theirs = socket.socketpair()
    made = Peer.beside(ours, theirs)
    yield made
    made.connection.close()
    theirs.close()


@pytest.fixture
def cluster() -> OneBroker:
    return OneBroker()


@pytest.fixture
def fetcher(cluster: OneBroker) -> Fetcher:
    made = Unattended(cluster, OPTIONS, 1 << 20, Traffic("consumer", print))
    made.start({A: 20, B: 20, C: 20})
    return made
