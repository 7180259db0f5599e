"""Brokers that neither answer nor refuse: stopped processes (SIGSTOP), and addresses behind which nobody is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from kafka.protocol.metadata import MetadataRequest

from compat.laboratory import cluster as testbed
from compat.laboratory.black_hole import BlackHole
from compat.laboratory.cluster import PROXIED
from compat.laboratory.proxy import Proxy
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.coordinator import coordinators
from legacy_mm.clients.group.member import MembershipListener
from legacy_mm.clients.group.membership import NativeMember
from legacy_mm.clients.net.connection_errors import ClusterUnreachable
from legacy_mm.dataplane.batch_source import cluster_of
from tests.fixtures import client_settings
from tests.fixtures.memberships import Membership

pytestmark = pytest.mark.brokers
SECONDS = 60.0
OLD_HOST, NEW_HOST = "127.0.1.1", "127.0.1.2"
REFRESHES = 12


@pytest.fixture
def three(own_clusters: Callable[..., testbed.Cluster]) -> Iterator[testbed.Cluster]:
    """Three brokers, of which one may be stopped; they run again at the end."""
    made = own_clusters(brokers=3)
    yield made
    for broker in made.brokers:
        broker.resume()


def test_one_silent_broker_of_three_fails_no_question(three: testbed.Cluster) -> None:
    """As a copy task asks: within four seconds. A random broker was asked, and the silent one had all of the time."""
    with closing(cluster_of(client_settings.read_connection({"bootstrap.servers": three.bootstrap}))) as cluster:
        for broker in three.brokers:
            cluster.metadata.refresh()
            cluster.call(broker.node, MetadataRequest(topics=[]))  # a kept connection to each
        three.brokers[0].suspend()
        for _ in range(REFRESHES):
            cluster.metadata.refresh()


def test_brokers_that_have_all_moved_are_found_by_the_bootstrap_servers(
    own_clusters: Callable[..., testbed.Cluster],
) -> None:
    """Their old hosts are silent. Java 4 bootstraps again (KIP-899, KIP-1102)."""
    fronts: list[Proxy] = []

    def advertise(port: int) -> tuple[str, int]:
        fronts.append(Proxy(port, host=OLD_HOST))
        return fronts[0].address

    kafka = own_clusters(advertise=advertise)
    (broker,) = kafka.brokers
    port = broker.ports[PROXIED]
    with Proxy(port) as entrance, Proxy(port, host=NEW_HOST) as moved:
        host, bootstrap_port = entrance.address
        connection = client_settings.read_connection({"bootstrap.servers": f"{host}:{bootstrap_port}"})
        with closing(cluster_of(connection)) as cluster:
            assert _known(cluster) == [fronts[0].address]
            old_host, old_port = fronts[0].address
            fronts[0].close()
            new_host, new_port = moved.address
            settings = broker.folder / "server.properties"
            settings.write_text(settings.read_text().replace(f"{old_host}:{old_port}", f"{new_host}:{new_port}"))
            with BlackHole(old_host, old_port):
                broker.restart()
                assert _known(cluster) == [moved.address]


def _known(cluster: Cluster) -> list[tuple[str, int]]:
    """The addresses of the brokers, as one of them tells now."""
    wait_until(lambda: _is_told(cluster), SECONDS, "an answer")
    return [(each.host, each.port) for each in cluster.metadata.brokers()]


def _is_told(cluster: Cluster) -> bool:
    try:
        cluster.metadata.refresh()
    except ClusterUnreachable:
        return False
    return True


def test_a_member_stays_when_its_coordinator_falls_silent(
    three: testbed.Cluster, topic: Callable[..., str], group: str
) -> None:
    """The next coordinator is found by a broker that answers, and before the session is over."""
    name = topic()
    create_topic(three.bootstrap, name, 1, replication=3)
    partition = TopicPartition(name, 0)
    properties = {
        "bootstrap.servers": three.bootstrap,
        "group.id": group,
        "heartbeat.interval.ms": "500",
        "session.timeout.ms": "18000",
    }
    settings = client_settings.read_consumer(properties)

    def make(listener: MembershipListener) -> NativeMember:
        return NativeMember(settings, "silent", listener, lambda _: None, print, SECONDS)

    with closing(Membership(make, {name})) as member:
        wait_until(lambda: member.owned == {partition}, SECONDS, "the assignment")
        member.order(lambda client: client.commit({partition: 1}))
        wait_until(lambda: member.settled, SECONDS, "the first commit")
        three.brokers[_coordinator(three.bootstrap, group) - 1].suspend()

        def committed() -> bool:
            count = len(member.settled)
            member.order(lambda client: client.commit({partition: 2}))
            wait_until(lambda: len(member.settled) > count or len(member.heard) > 1, SECONDS, "an outcome")
            return member.settled[-1] == ({partition: 2}, {}) or len(member.heard) > 1

        wait_until(committed, SECONDS, "a commit at another coordinator")
        assert [what for what, _ in member.heard] == ["assigned"]


def _coordinator(bootstrap: str, group: str) -> int:
    with closing(Cluster(client_settings.read_connection({"bootstrap.servers": bootstrap}), SECONDS)) as cluster:
        ((_, code, node),) = coordinators(cluster, [group])
    assert not code
    return node
