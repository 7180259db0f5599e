"""Brokers forget an idempotent producer by the timestamps of its records; answers are lost all the same.

The real tool and librdkafka send again what the broker no longer knows: with them some records come twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compat.laboratory.broker import Broker
from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.proxy import Proxy
from compat.laboratory.releases import CURRENT, OLD
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BY_TOOL, PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
WEEK_MS = 7 * 24 * 3_600_000
FORGETFUL = {
    "producer.id.expiration.ms": "3600000",
    "producer.id.expiration.check.interval.ms": "200",
    "transactional.id.expiration.ms": "3600000",  # the same for releases before 3.4
}
RECORDS, ROUNDS = 100_000, 3


class Behind:
    """A target of some brokers, each of which the mirror reaches through a proxy of its own."""

    def __init__(self, clusters: Callable[..., Cluster], **settings: Any) -> None:
        self.proxies: list[Proxy] = []
        self.cluster = clusters(advertise=self._advertise, properties=FORGETFUL, **settings)
        self.bootstrap = self.cluster.bootstrap

    def _advertise(self, port: int) -> tuple[str, int]:
        self.proxies.append(Proxy(port))
        return self.proxies[-1].address

    @property
    def far(self) -> dict[str, str]:
        """How the mirror reaches it."""
        return {"bootstrap.servers": self.cluster.bootstrap_of(PROXIED)}

    def withhold(self) -> None:
        """Pass no answer on."""
        for proxy in self.proxies:
            proxy.mute()

    def lose(self) -> None:
        """End all connections, and with them the answers that were withheld; then pass everything."""
        for proxy in self.proxies:
            proxy.cut()
            proxy.resume()


@pytest.fixture
def behind(own_clusters: Callable[..., Cluster]) -> Iterator[Callable[..., Behind]]:
    """(settings of a cluster) -> a target behind proxies."""
    made: list[Behind] = []

    def make(**settings: Any) -> Behind:
        made.append(Behind(own_clusters, **settings))
        return made[-1]

    yield make
    for each in made:
        for proxy in each.proxies:
            proxy.close()


def restart_cleanly(broker: Broker) -> None:
    """What it then reads of producers leaves out those that are expired."""
    broker.terminate()
    broker.restart()


@BY_TOOL
@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_what_a_forgetful_broker_has_is_not_sent_again(
    source: Any, behind: Callable[..., Behind], make_scene: Callable[..., Scene], which: str, release: str
) -> None:
    """Each round some batches arrive whose answers are lost, and the broker that has them forgets who sent them."""
    target = behind(release=release)
    scene = make_scene(source, target, 1)
    tool = scene.mirror(*COMMIT_OFTEN, producer=target.far)
    scene.wait_committed(1)
    for round_ in range(1, ROUNDS + 1):
        before = scene.arrived()
        target.withhold()
        scene.load(RECORDS, seed=round_, age_ms=WEEK_MS)
        wait_until(lambda: scene.arrived() > before, PATIENCE, "a batch to arrive without an answer")  # noqa: B023
        restart_cleanly(target.cluster.brokers[0])
        target.lose()
        scene.wait_committed(RECORDS * round_ + 1)
    stop(tool)
    assert "copy job lost" not in tool.output()
    assert scene.differences(allow_duplicates=which == "old") == []


@BY_TOOL
@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_old_records_come_once_and_in_order_though_leaders_die(
    source: Any, behind: Callable[..., Behind], make_scene: Callable[..., Scene], which: str, release: str
) -> None:
    """One broker after the other ends in the midst of the records, by itself or killed; answers are lost with it."""
    target = behind(release=release, brokers=3)
    scene = make_scene(source, target, 1, replication=(1, 3))
    tool = scene.mirror(*COMMIT_OFTEN, producer=target.far)
    scene.wait_committed(1)
    for turn, broker in enumerate(target.cluster.brokers, start=1):
        before = scene.arrived()
        target.withhold()
        scene.load(RECORDS, seed=turn, age_ms=WEEK_MS)
        wait_until(lambda: scene.arrived() > before, PATIENCE, "a batch to arrive without an answer")  # noqa: B023
        if turn % 2:
            broker.kill()
        else:
            broker.terminate()
        target.lose()
        scene.wait_for(RECORDS * turn // 2)
        broker.restart()
        target.cluster.wait_ready()
        scene.wait_committed(RECORDS * turn + 1)
    stop(tool)
    assert "copy job lost" not in tool.output()
    assert scene.differences(allow_duplicates=which == "old") == []


@BY_TOOL
def test_what_a_frozen_broker_takes_when_it_wakes_up_is_not_sent_again(
    source: Any, own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene], which: str
) -> None:
    """Requests that lie in its sockets are carried out, though the connections they came over were given up."""
    target = own_clusters(properties=FORGETFUL)
    scene = make_scene(source, target, 1)
    tool = scene.mirror(*COMMIT_OFTEN, producer={"request.timeout.ms": "2000", "delivery.timeout.ms": "120000"})
    scene.wait_committed(1)
    for turn in range(1, ROUNDS + 1):
        told = tool.output().count("is lost")
        target.brokers[0].suspend()
        scene.load(RECORDS, seed=turn, age_ms=WEEK_MS)
        wait_until(lambda: tool.output().count("is lost") > told, PATIENCE, "a connection to be given up")  # noqa: B023
        target.brokers[0].resume()
        scene.wait_committed(RECORDS * turn + 1)
    stop(tool)
    assert scene.differences(allow_duplicates=which == "old") == []
