"""A connection to one of several addresses of a name; the listener is real."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.net.transport_layer import open_socket

SECONDS = 4.0
ADDRESSES = 24


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets a name have these ports of the loopback for addresses."""

    def name(*ports: int, silent: int = 0) -> None:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in ports]
        if silent:
            found.insert(0, (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", silent)))
        monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)

    return name


def test_what_follows_the_connecting_has_all_the_time_that_is_left(named: Any) -> None:
    """TLS and login had a share of it, as small as there were addresses."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        named(*ADDRESSES * [server.getsockname()[1]])
        with open_socket("brokers", 9093, ConnectionSettings(), SECONDS) as opened:
            left = opened.gettimeout()
    assert left is not None
    assert SECONDS / 2 < left <= SECONDS


def test_an_address_that_refuses_is_followed_by_the_next(named: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as gone:
        closed, port = gone.getsockname()[1], server.getsockname()[1]
        gone.close()
        named(closed, port)
        with open_socket("brokers", 9093, ConnectionSettings(), SECONDS) as opened:
            assert opened.getpeername() == ("127.0.0.1", port)
        named(closed, closed)
        with pytest.raises(ConnectionRefusedError):
            open_socket("brokers", 9093, ConnectionSettings(), SECONDS)


def test_a_family_of_addresses_that_is_silent_holds_up_no_other(named: Any) -> None:
    """Its host takes no more connections, as one behind a firewall that drops."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_server(("::1", 0), family=socket.AF_INET6, backlog=0) as full,
        socket.create_connection(full.getsockname()[:2]),
    ):
        named(server.getsockname()[1], silent=full.getsockname()[1])
        with open_socket("brokers", 9093, ConnectionSettings(), 3600.0) as opened:
            assert opened.family == socket.AF_INET
