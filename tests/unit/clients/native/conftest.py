"""A connection whose broker is the test: the other end of a socket pair."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from legacy_mm.clients.native import transport_layer
from tests.unit.clients.native.broker import Peer


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
