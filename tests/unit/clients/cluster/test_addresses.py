"""Whom to ask next, and for how long to wait for an answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from legacy_mm.clients.cluster.addresses import Address, Addresses
from legacy_mm.clients.cluster.topology import Broker
from legacy_mm.clients.net.connection_errors import ConnectionLost
from tests.fixtures import client_settings

BROKERS = [Broker(number, f"b{number}", 9092, None) for number in range(1, 5)]


@pytest.fixture
def addresses() -> Addresses:
    """Two bootstrap servers, one of which is broker 4."""
    return Addresses(client_settings.read_connection({"bootstrap.servers": "boot:1, b4:9092"}))


def hosts(addresses: Addresses) -> list[str]:
    return [each.host for each in addresses.in_order(BROKERS)]


def test_without_brokers_the_bootstrap_servers_are_asked(addresses: Addresses) -> None:
    assert sorted(addresses.in_order([])) == [("b4", 9092, None), ("boot", 1, None)]


def test_a_bootstrap_server_follows_two_brokers_and_each_address_is_asked_once(addresses: Addresses) -> None:
    """All brokers may have moved, and their hosts may be silent."""
    for _ in range(20):
        found = hosts(addresses)
        assert sorted(found) == ["b1", "b2", "b3", "b4", "boot"]
        assert found[2] == "boot"


@pytest.mark.parametrize(("within", "asked"), [(10.0, {1, 2}), (0.0, set())])
def test_advertised_brokers_are_asked_until_one_answers(addresses: Addresses, within: float, asked: set[int]) -> None:
    told = [SimpleNamespace(node_id=each.node, host=each.host, port=each.port) for each in BROKERS]
    tried = set()

    def silent(place: Address, seconds: float) -> None:
        tried.add(place.node)
        raise ConnectionLost("away")

    assert addresses.ask_advertised(told, silent, within) is None
    assert tried == set(), "broker 4 is asked already"
    assert addresses.ask_advertised(told[:2], silent, within) is None
    assert tried == asked
    assert addresses.ask_advertised(told[:1], lambda place, _: place.node, 10.0) == 1


def test_who_was_lost_is_asked_last_and_the_one_that_was_lost_first_before_others(addresses: Addresses) -> None:
    for host in ("b2", "b1", "b4", "b2"):
        addresses.lost(host, 9092)
    assert hosts(addresses) == ["b3", "boot", "b1", "b4", "b2"]
    addresses.answered("b1", 9092)
    assert set(hosts(addresses)[:2]) == {"b1", "b3"}


def test_when_all_known_brokers_are_lost_the_bootstrap_server_comes_first(addresses: Addresses) -> None:
    for each in BROKERS:
        addresses.lost(each.host, each.port)
    assert hosts(addresses)[0] == "boot"
    addresses.lost("boot", 1)
    assert hosts(addresses) == ["b1", "b2", "b3", "b4", "boot"]


def test_an_address_that_is_no_broker_any_more_is_not_asked(addresses: Addresses) -> None:
    addresses.lost("b1", 9092)
    assert "b1" not in [each.host for each in addresses.in_order(BROKERS[1:])]


def test_patience_grows_while_nobody_answers_and_on_long_lines(addresses: Addresses) -> None:
    first = addresses.patience
    addresses.none_answered()
    addresses.none_answered()
    assert addresses.patience == 4 * first
    addresses.answered("b1", 9092)
    assert addresses.patience == first
    addresses.connected(0.1)
    assert addresses.patience == first
    addresses.connected(10.0)
    assert addresses.patience == 20.0
