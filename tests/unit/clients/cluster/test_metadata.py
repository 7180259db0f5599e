"""When metadata is asked for, of whom, and what becomes of the answers."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.clients.cluster.addresses import Address
from legacy_mm.clients.cluster.metadata import Metadata
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from tests.fixtures import client_settings
from tests.unit.clients.cluster.answering import ORDERS, PROPERTIES, Asked


def make(retry_backoff_ms: str = "100") -> Metadata:
    """Metadata of brokers that are functions."""
    settings = client_settings.read_connection({**PROPERTIES, "retry.backoff.ms": retry_backoff_ms})
    return Metadata(settings, NetworkClient(settings, 1.0))


def test_when_it_asks(asked: Asked, clock: list[float]) -> None:
    metadata = make()
    metadata.watch(["orders"])
    assert (metadata.leader_epoch(ORDERS), metadata.partitions("orders")) == (1, 1)
    clock[0] += 0.9
    assert metadata.leader_epoch(ORDERS) == 1
    clock[0] += 0.1
    assert metadata.leader_epoch(ORDERS) == 2
    metadata.stale()
    assert metadata.leader_epoch(ORDERS) == 2
    clock[0] += 0.1
    assert metadata.leader_epoch(ORDERS) == 3
    metadata.watch(["orders"])
    assert metadata.leader_epoch(ORDERS) == 3
    metadata.watch(["payments"])
    assert metadata.partitions("payments") == 1
    assert asked.times == 4


@pytest.mark.parametrize("create", [True, False])
def test_a_topic_that_nobody_uses_is_not_created_again(asked: Asked, clock: list[float], create: bool) -> None:
    """Somebody has deleted it. What is only read is asked about for ever: no question makes it."""
    metadata = make()
    metadata.watch(["idle", "orders"], create=create)
    clock[0] += 299
    assert metadata.leader(ORDERS) is not None
    assert asked.topics == ["idle", "orders"]
    clock[0] += 2
    assert metadata.partitions("orders") == 1
    assert asked.topics == ["orders"] if create else ["idle", "orders"]
    assert metadata.partitions("idle") == (0 if create else 1)
    metadata.stale()
    clock[0] += 1
    assert metadata.partitions("idle") == 1


def test_a_broker_that_has_just_started_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows no brokers, and so no topics: all would seem to be gone."""
    monkeypatch.setattr(NetworkClient, "call_any", lambda *_: SimpleNamespace(brokers=[], topics=[]))
    with pytest.raises(ClusterUnreachable, match="knows nothing of its cluster"):
        make(retry_backoff_ms="1").refresh()


@pytest.mark.parametrize("advertised", ["answer", "are away", "but one are away", "are bootstrap servers"])
def test_what_a_cluster_is_an_advertised_broker_says(monkeypatch: pytest.MonkeyPatch, advertised: str) -> None:
    """A bootstrap server may advertise the brokers of another cluster: records go there. One that answers is enough."""
    host = "one" if advertised == "are bootstrap servers" else "elsewhere"
    brokers = [SimpleNamespace(node_id=node, host=host, port=node, rack=None) for node in range(1, 6)]

    def call(
        _: NetworkClient, address: Address, request: Any, patience: float = inf, *, is_change: bool = False
    ) -> Any:
        told = "the bootstrap server's" if address.node is None else "the other"
        away = {"are away": range(6), "but one are away": range(5)}.get(advertised, ())
        if address.node in away:
            raise ConnectionLost("away")
        return SimpleNamespace(version=9, brokers=brokers, topics=[], cluster_id=told)

    monkeypatch.setattr(NetworkClient, "call", call)
    metadata = make()
    metadata.refresh()
    own, other = "the bootstrap server's", "the other"
    asked = advertised in ("answer", "but one are away")
    assert metadata.cluster_id() == (other if asked else own)
    assert metadata.cluster_ids() == ((own, other) if asked else (own,))
