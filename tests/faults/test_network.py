"""The network between mirror and target: a proxy stalls, cuts, slows; the brokers advertise its address. 15, 16."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.proxy import Proxy
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BY_TOOL, PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
RECORDS = 200_000
FAR_RECORDS = 30_000
"""The real tool has five requests of 16 KB under way: 800 KB/s at this distance."""
STALL_SECONDS = 8.0


class Proxied:
    """A target that the mirror reaches through a proxy, and the ledger does not."""

    def __init__(self, module_clusters: Callable[..., Cluster]) -> None:
        self.cluster = module_clusters(advertise=self._advertise)
        self.bootstrap = self.cluster.bootstrap

    def _advertise(self, port: int) -> tuple[str, int]:
        self.proxy = Proxy(port)
        return self.proxy.address

    @property
    def far(self) -> dict[str, str]:
        """How the mirror reaches it."""
        return {"bootstrap.servers": self.cluster.bootstrap_of(PROXIED)}


@pytest.fixture(scope="module")
def proxied(module_clusters: Callable[..., Cluster]) -> Iterator[Proxied]:
    """One target behind a proxy for all tests here."""
    target = Proxied(module_clusters)
    yield target
    target.proxy.close()


@BY_TOOL
@pytest.mark.scenario(15)
def test_the_network_stalls_and_breaks(source: Any, proxied: Proxied, make_scene: Callable[..., Scene]) -> None:
    """While nothing passes nothing is committed; what the producer sends again is not doubled: it is idempotent."""
    scene = make_scene(source, proxied, RECORDS)
    tool = scene.mirror(*COMMIT_OFTEN, producer=proxied.far)
    scene.wait_for(1)
    proxied.proxy.stall()
    arrived = wait_until(lambda: scene.arrived(), PATIENCE, "what had passed")
    with pytest.raises(TimeoutError):
        wait_until(lambda: scene.committed() > arrived or not tool.running(), STALL_SECONDS, "a false commit")
    proxied.proxy.resume()
    assert proxied.proxy.cut() > 0
    scene.wait_committed(RECORDS)
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []


@BY_TOOL
@pytest.mark.scenario(16)
def test_a_far_target(source: Any, proxied: Proxied, make_scene: Callable[..., Scene]) -> None:
    scene = make_scene(source, proxied, FAR_RECORDS)
    proxied.proxy.delay(50)
    try:
        tool = scene.mirror(*COMMIT_OFTEN, producer=proxied.far)
        scene.wait_committed(FAR_RECORDS)
        stop(tool)
    finally:
        proxied.proxy.delay(0)
    assert scene.differences(allow_duplicates=False) == []
    assert "lost" not in tool.output()
