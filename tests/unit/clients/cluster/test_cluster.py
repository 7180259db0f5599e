"""A cluster whose brokers are functions: when it asks, whom, and what it makes of the answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import inf
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import LATEST, TopicPartition
from legacy_mm.clients.cluster import cluster as module
from legacy_mm.clients.cluster.addresses import Address
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import kept_connection
from legacy_mm.clients.net.connection_errors import (
    AuthenticationFailed,
    ClusterUnreachable,
    ConnectionLost,
    RequestRefused,
)
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fixtures import client_settings

ORDERS = TopicPartition("orders", 0)
PROPERTIES = {
    "bootstrap.servers": "one:1, [::1]:2",
    "reconnect.backoff.ms": "0",
    "retry.backoff.ms": "100",
    "topic.metadata.refresh.interval.ms": "1000",
}


class Asked:
    """Answers Metadata requests, and counts them."""

    def __init__(self) -> None:
        self.topics: list[str] = []
        self.times = 0
        self.error = 0

    def __call__(self, request: Any) -> Any:
        self.times += 1
        self.topics = [topic.name for topic in request.topics]
        partition = SimpleNamespace(partition_index=0, leader_id=1, leader_epoch=self.times, error_code=0)
        partitions = [] if self.error else [partition]
        rows = [
            SimpleNamespace(name=topic.name, topic_id=UUID(int=1), error_code=self.error, partitions=partitions)
            for topic in request.topics
        ]
        brokers = [SimpleNamespace(node_id=1, host="one", port=1, rack="r")]
        return SimpleNamespace(version=9, brokers=brokers, topics=rows)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What brokers were asked."""
    made = Asked()
    monkeypatch.setattr(Cluster, "call_any", lambda _, request: made(request))
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [1000.0]
    for each in (module, kept_connection):
        monkeypatch.setattr(each, "monotonic", lambda: now[0])
    return now


def test_when_it_asks(asked: Asked, clock: list[float]) -> None:
    cluster = Cluster(client_settings.read_connection(PROPERTIES), 1.0)
    cluster.watch(["orders"])
    assert (cluster.leader_epoch(ORDERS), cluster.partitions("orders")) == (1, 1)
    clock[0] += 0.9
    assert cluster.leader_epoch(ORDERS) == 1
    clock[0] += 0.1
    assert cluster.leader_epoch(ORDERS) == 2
    cluster.stale()
    assert cluster.leader_epoch(ORDERS) == 2
    clock[0] += 0.1
    assert cluster.leader_epoch(ORDERS) == 3
    cluster.watch(["orders"])
    assert cluster.leader_epoch(ORDERS) == 3
    cluster.watch(["payments"])
    assert cluster.partitions("payments") == 1
    assert asked.times == 4


@pytest.mark.parametrize("create", [True, False])
def test_a_topic_that_nobody_uses_is_not_created_again(asked: Asked, clock: list[float], create: bool) -> None:
    """Somebody has deleted it. What is only read is asked about for ever: no question makes it."""
    cluster = Cluster(client_settings.read_connection(PROPERTIES), 1.0)
    cluster.watch(["idle", "orders"], create=create)
    clock[0] += 299
    assert cluster.leader(ORDERS) is not None
    assert asked.topics == ["idle", "orders"]
    clock[0] += 2
    assert cluster.partitions("orders") == 1
    assert asked.topics == ["orders"] if create else ["idle", "orders"]
    assert cluster.partitions("idle") == (0 if create else 1)
    cluster.stale()
    clock[0] += 1
    assert cluster.partitions("idle") == 1


def test_a_topic_without_permission_is_not_waited_for(asked: Asked) -> None:
    asked.error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    with pytest.raises(RequestRefused, match="orders-0 cannot be listed: TOPIC_AUTHORIZATION_FAILED"):
        Cluster(client_settings.read_connection(PROPERTIES), 60.0).offsets([ORDERS], LATEST)


@pytest.mark.parametrize(("version", "told"), [(0, {"old_style_offsets": [7]}), (1, {"offset": 7})])
def test_offsets_come_in_a_list_from_brokers_before_0_10_1(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, version: int, told: dict[str, Any]
) -> None:
    row = SimpleNamespace(partition_index=0, error_code=0, **told)
    answer = SimpleNamespace(version=version, topics=[SimpleNamespace(name="orders", partitions=[row])])
    monkeypatch.setattr(Cluster, "call", lambda *_: answer)
    assert Cluster(client_settings.read_connection(PROPERTIES), 1.0).offsets([ORDERS], LATEST) == {ORDERS: 7}


def test_a_cluster_that_is_closed_does_not_wait(asked: Asked) -> None:
    cluster = Cluster(client_settings.read_connection(PROPERTIES), 60.0)
    cluster.close()
    with pytest.raises(ClusterUnreachable, match="no offset of orders-0"):
        cluster.offsets([ORDERS], LATEST)
    with pytest.raises(ConnectionLost, match="closed here"):
        cluster.connect(1)


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
        Cluster(client_settings.read_connection(PROPERTIES), 0.05).refresh()
    assert set(tried) == {("one", 1), ("::1", 2)}


def test_that_no_broker_answers_is_told_long_before_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member waits for a minute; whoever starts it wants to see at once that the address is wrong."""
    _, connect = failing(ConnectionLost("away"), ConnectionLost("gone"))
    monkeypatch.setattr(module, "open_connection", connect)
    cluster = Cluster(client_settings.read_connection(PROPERTIES), 60.0)
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        cluster.close()

    cluster.traffic = Traffic("member", tell)
    with pytest.raises(ClusterUnreachable):
        cluster.refresh()
    assert told == ["gone"]


def test_a_broker_that_has_just_started_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows no brokers, and so no topics: all would seem to be gone."""
    monkeypatch.setattr(Cluster, "call_any", lambda *_: SimpleNamespace(brokers=[], topics=[]))
    with pytest.raises(ClusterUnreachable, match="knows nothing of its cluster"):
        Cluster(client_settings.read_connection({**PROPERTIES, "retry.backoff.ms": "1"}), 1.0).refresh()


@pytest.mark.parametrize("advertised", ["answer", "are away", "but one are away", "are bootstrap servers"])
def test_what_a_cluster_is_an_advertised_broker_says(monkeypatch: pytest.MonkeyPatch, advertised: str) -> None:
    """A bootstrap server may advertise the brokers of another cluster: records go there. One that answers is enough."""
    host = "one" if advertised == "are bootstrap servers" else "elsewhere"
    brokers = [SimpleNamespace(node_id=node, host=host, port=node, rack=None) for node in range(1, 6)]

    def call(_: Cluster, address: Address, request: Any, patience: float = inf, *, is_change: bool = False) -> Any:
        told = "the bootstrap server's" if address.node is None else "the other"
        away = {"are away": range(6), "but one are away": range(5)}.get(advertised, ())
        if address.node in away:
            raise ConnectionLost("away")
        return SimpleNamespace(version=9, brokers=brokers, topics=[], cluster_id=told)

    monkeypatch.setattr(Cluster, "_call", call)
    cluster = Cluster(client_settings.read_connection(PROPERTIES), 1.0)
    cluster.refresh()
    own, other = "the bootstrap server's", "the other"
    asked = advertised in ("answer", "but one are away")
    assert cluster.cluster_id() == (other if asked else own)
    assert cluster.cluster_ids() == ((own, other) if asked else (own,))


def test_a_refusal_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, connect = failing(ConnectionLost("away"), AuthenticationFailed("who are you?"))
    monkeypatch.setattr(module, "open_connection", connect)
    with pytest.raises(AuthenticationFailed):
        Cluster(client_settings.read_connection(PROPERTIES), 60.0).refresh()
    assert len(tried) == 2


def test_a_broker_that_nobody_knows(asked: Asked) -> None:
    with pytest.raises(ConnectionLost, match="no broker 7 in the cluster"):
        Cluster(client_settings.read_connection(PROPERTIES), 1.0).connect(7)


def test_names_as_kerberos_knows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "socket.getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("10.0.0.1", 1)), (0, 0, 0, "", ("10.0.0.2", 1))]
    )
    monkeypatch.setattr("socket.getnameinfo", lambda address, _: (f"host-{address[0][-1]}", ""))
    tried, connect = failing(ConnectionLost("away"))
    monkeypatch.setattr(module, "open_connection", connect)
    lookup = {"bootstrap.servers": "alias:1", "client.dns.lookup": "resolve_canonical_bootstrap_servers_only"}
    with pytest.raises(ClusterUnreachable):
        Cluster(client_settings.read_connection({**PROPERTIES, **lookup}), 0.05).refresh()
    assert set(tried) == {("host-1", 1), ("host-2", 1)}


class Connected:
    """A connection to a broker that answers, as long as it is open."""

    def __init__(self) -> None:
        self.open = True

    def call(self, request: Any, patience: float) -> Any:
        if not self.open:
            raise ConnectionLost("closed")
        return Asked()(request)

    def is_open(self) -> bool:
        return self.open

    def close(self) -> None:
        self.open = False


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[Connected]:
    """All connections that were made to a cluster of one broker."""
    made: list[Connected] = []

    def connect(*_: object, **__: object) -> Connected:
        made.append(Connected())
        return made[-1]

    monkeypatch.setattr(module, "open_connection", connect)
    return made


def test_a_connection_that_nobody_needs_is_closed(connected: list[Connected], clock: list[float]) -> None:
    """Beside those that carry records, a thousand partitions need none."""
    cluster = Cluster(
        client_settings.read_connection(
            {**PROPERTIES, "bootstrap.servers": "one:1", "connections.max.idle.ms": "60000"}
        ),
        1.0,
    )
    cluster.refresh()
    carrying = cluster.connect(1)
    clock[0] += 10
    cluster.close_idle()
    cluster.refresh()
    assert (len(connected), cluster.connections()) == (2, (2, 2))
    clock[0] += 11
    cluster.close_idle()
    cluster.close_idle()
    assert cluster.connections() == (2, 1)
    assert carrying.is_open()
    cluster.refresh()
    assert cluster.connections() == (3, 2)


def test_a_chosen_broker_is_asked(connected: list[Connected], clock: list[float]) -> None:
    """Also where the metadata are due, and the broker's address is asked for first."""
    cluster = Cluster(client_settings.read_connection({**PROPERTIES, "topic.metadata.refresh.interval.ms": "0"}), 1.0)
    cluster.refresh()
    clock[0] += 5
    cluster.refresh(1)
    assert cluster.age() == 0


def test_the_only_connection_is_kept_as_long_as_java_keeps_it(connected: list[Connected], clock: list[float]) -> None:
    """So a mirror with nothing to send has one to the target."""
    cluster = Cluster(client_settings.read_connection({**PROPERTIES, "connections.max.idle.ms": "60000"}), 1.0)
    cluster.refresh()
    for seconds, there in ((59, 1), (2, 0)):
        clock[0] += seconds
        cluster.close_idle()
        assert cluster.connections() == (1, there)


def test_whoever_keeps_fresh_has_a_connection(connected: list[Connected], monkeypatch: pytest.MonkeyPatch) -> None:
    """The metadata is not old, but the broker was restarted."""
    monkeypatch.setattr(module, "_IDLE_TIMEOUT", 0.01)
    cluster = Cluster(client_settings.read_connection({**PROPERTIES, "topic.metadata.refresh.interval.ms": "-1"}), 1.0)
    told: list[str] = []
    cluster.keep_fresh(told.append)

    def has_connection(times: int) -> bool:
        cluster.poll()
        return cluster.connections() == (times, 1)

    for times in (1, 2):
        wait_until(lambda times=times: has_connection(times), 10.0, "a connection")  # type: ignore[misc]
        connected[-1].close()
    cluster.close()
    wait_until(lambda: "metadata" not in {thread.name for thread in threading.enumerate()}, 10.0, "its thread's end")
    assert told == [], "an end that was asked for is no news"


def test_a_connection_that_is_made_while_the_cluster_is_closed_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []

    def call(request: object, patience: float) -> Any:
        raise ConnectionLost("closed here") if closed else AssertionError("asked over a connection that stays")

    def connect(*_: object, **__: object) -> Any:
        cluster.close()
        return SimpleNamespace(call=call, close=lambda: closed.append(1))

    monkeypatch.setattr(module, "open_connection", connect)
    cluster = Cluster(client_settings.read_connection(PROPERTIES), 60.0)
    with pytest.raises(ClusterUnreachable, match="closed here"):
        cluster.call_any(None)
    assert closed
