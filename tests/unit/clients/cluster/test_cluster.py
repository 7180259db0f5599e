"""A cluster whose brokers are functions: what its parts do together."""

from __future__ import annotations

import threading

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import LATEST
from legacy_mm.clients.cluster import metadata as module
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from tests.fixtures import client_settings
from tests.unit.clients.cluster.answering import ORDERS, PROPERTIES, Asked, Connected


def test_a_cluster_that_is_closed_does_not_wait(asked: Asked) -> None:
    cluster = Cluster(client_settings.read_connection(PROPERTIES), 60.0)
    cluster.close()
    with pytest.raises(ClusterUnreachable, match="no offset of orders-0"):
        cluster.offsets.of([ORDERS], LATEST)
    with pytest.raises(ConnectionLost, match="closed here"):
        cluster.connect(1)


def test_a_broker_that_nobody_knows(asked: Asked) -> None:
    with pytest.raises(ConnectionLost, match="no broker 7 in the cluster"):
        Cluster(client_settings.read_connection(PROPERTIES), 1.0).connect(7)


def test_a_chosen_broker_is_asked(connected: list[Connected], clock: list[float]) -> None:
    """Also where the metadata are due, and the broker's address is asked for first."""
    cluster = Cluster(client_settings.read_connection({**PROPERTIES, "topic.metadata.refresh.interval.ms": "0"}), 1.0)
    cluster.metadata.refresh()
    clock[0] += 5
    cluster.metadata.refresh(1)
    assert cluster.metadata.age() == 0


def test_whoever_keeps_fresh_has_a_connection(connected: list[Connected], monkeypatch: pytest.MonkeyPatch) -> None:
    """The metadata is not old, but the broker was restarted."""
    monkeypatch.setattr(module, "IDLE_TIMEOUT", 0.01)
    cluster = Cluster(client_settings.read_connection({**PROPERTIES, "topic.metadata.refresh.interval.ms": "-1"}), 1.0)
    told: list[str] = []
    cluster.metadata.keep_fresh(told.append)

    def has_connection(times: int) -> bool:
        cluster.metadata.poll()
        return cluster.network.connections() == (times, 1)

    for times in (1, 2):
        wait_until(lambda times=times: has_connection(times), 10.0, "a connection")  # type: ignore[misc]
        connected[-1].close()
    cluster.close()
    wait_until(lambda: "metadata" not in {thread.name for thread in threading.enumerate()}, 10.0, "its thread's end")
    assert told == [], "an end that was asked for is no news"
