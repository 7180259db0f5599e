"""Whom a network client asks, what it says when nobody answers, and which connections it keeps."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.protocol.metadata import MetadataRequest

from legacy_mm.clients.cluster import network_client as module
from legacy_mm.clients.cluster.addresses import Address
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ClusterUnreachable, ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from tests.fixtures import client_settings
from tests.unit.clients.cluster.answering import PROPERTIES, Connected

QUESTION = MetadataRequest(topics=[])


def failing(*errors: Exception) -> tuple[list[tuple[str, int]], Callable[..., Any]]:
    """Connects to nobody; the last error again and again."""
    tried: list[tuple[str, int]] = []

    def connect(_: object, host: str, port: int, *more: object, **named: object) -> Any:
        tried.append((host, port))
        raise errors[min(len(tried), len(errors)) - 1]

    return tried, connect


def test_every_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, connect = failing(ConnectionLost("away"))
    monkeypatch.setattr(module, "open_connection", connect)
    with pytest.raises(ClusterUnreachable, match="no broker answered in 0.05 s; away"):
        NetworkClient(client_settings.read_connection(PROPERTIES), 0.05).call_any(QUESTION)
    assert set(tried) == {("one", 1), ("::1", 2)}


def test_that_no_broker_answers_is_told_long_before_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member waits for a minute; whoever starts it wants to see at once that the address is wrong."""
    _, connect = failing(ConnectionLost("away"), ConnectionLost("gone"))
    monkeypatch.setattr(module, "open_connection", connect)
    network = NetworkClient(client_settings.read_connection(PROPERTIES), 60.0)
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        network.close()

    network.traffic = Traffic("member", tell)
    with pytest.raises(ClusterUnreachable):
        network.call_any(QUESTION)
    assert told == ["gone"]


def test_a_refusal_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, connect = failing(ConnectionLost("away"), AuthenticationFailed("who are you?"))
    monkeypatch.setattr(module, "open_connection", connect)
    with pytest.raises(AuthenticationFailed):
        NetworkClient(client_settings.read_connection(PROPERTIES), 60.0).call_any(QUESTION)
    assert len(tried) == 2


def test_names_as_kerberos_knows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "socket.getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("10.0.0.1", 1)), (0, 0, 0, "", ("10.0.0.2", 1))]
    )
    monkeypatch.setattr("socket.getnameinfo", lambda address, _: (f"host-{address[0][-1]}", ""))
    tried, connect = failing(ConnectionLost("away"))
    monkeypatch.setattr(module, "open_connection", connect)
    lookup = {"bootstrap.servers": "alias:1", "client.dns.lookup": "resolve_canonical_bootstrap_servers_only"}
    with pytest.raises(ClusterUnreachable):
        NetworkClient(client_settings.read_connection({**PROPERTIES, **lookup}), 0.05).call_any(QUESTION)
    assert set(tried) == {("host-1", 1), ("host-2", 1)}


def test_a_connection_that_nobody_needs_is_closed(connected: list[Connected], clock: list[float]) -> None:
    """Beside those that carry records, a thousand partitions need none."""
    network = NetworkClient(
        client_settings.read_connection(
            {**PROPERTIES, "bootstrap.servers": "one:1", "connections.max.idle.ms": "60000"}
        ),
        1.0,
    )
    network.call_any(QUESTION)
    carrying = network.connect(Address("one", 1, 1))
    clock[0] += 10
    network.close_idle()
    network.call_any(QUESTION)
    assert (len(connected), network.connections()) == (2, (2, 2))
    clock[0] += 11
    network.close_idle()
    network.close_idle()
    assert network.connections() == (2, 1)
    assert carrying.is_open()
    network.call_any(QUESTION)
    assert network.connections() == (3, 2)


def test_the_only_connection_is_kept_as_long_as_java_keeps_it(connected: list[Connected], clock: list[float]) -> None:
    """So a mirror with nothing to send has one to the target."""
    network = NetworkClient(client_settings.read_connection({**PROPERTIES, "connections.max.idle.ms": "60000"}), 1.0)
    network.call_any(QUESTION)
    for seconds, there in ((59, 1), (2, 0)):
        clock[0] += seconds
        network.close_idle()
        assert network.connections() == (1, there)


def test_a_connection_that_is_made_while_the_client_is_closed_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []

    def call(request: object, patience: float) -> Any:
        raise ConnectionLost("closed here") if closed else AssertionError("asked over a connection that stays")

    def connect(*_: object, **__: object) -> Any:
        network.close()
        return SimpleNamespace(call=call, close=lambda: closed.append(1))

    monkeypatch.setattr(module, "open_connection", connect)
    network = NetworkClient(client_settings.read_connection(PROPERTIES), 60.0)
    with pytest.raises(ClusterUnreachable, match="closed here"):
        network.call_any(QUESTION)
    assert closed
