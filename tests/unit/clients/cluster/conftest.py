"""Parts of a cluster whose brokers are functions, at a time that a test sets."""

from __future__ import annotations

import pytest

from legacy_mm.clients.cluster import metadata, network_client
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.net import kept_connection
from tests.unit.clients.cluster.answering import Asked, Connected


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What brokers were asked."""
    made = Asked()
    monkeypatch.setattr(NetworkClient, "call_any", lambda _, request: made(request))
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [1000.0]
    for each in (metadata, network_client, kept_connection):
        monkeypatch.setattr(each, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[Connected]:
    """All connections that were made to a cluster of one broker."""
    made: list[Connected] = []

    def connect(*_: object, **__: object) -> Connected:
        made.append(Connected())
        return made[-1]

    monkeypatch.setattr(network_client, "open_connection", connect)
    return made
