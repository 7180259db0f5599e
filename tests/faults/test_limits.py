"""Clusters that slow a client down. Scenario 34."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.quota_state import set_quotas
from tests.faults.conftest import BY_TOOL, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
RECORDS = 20_000
BYTES_A_SECOND = 2_000_000


EVERYBODY = ("--entity-type", "clients", "--entity-default")


@BY_TOOL
@pytest.mark.scenario(34)
def test_quotas_on_both_sides(own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene]) -> None:
    """The brokers answer late: for the mirror that is no failure."""
    source, target = own_clusters(), own_clusters()
    scene = make_scene(source, target, RECORDS, size=1_000)
    set_quotas(source.bootstrap, EVERYBODY, {"consumer_byte_rate": BYTES_A_SECOND})
    set_quotas(target.bootstrap, EVERYBODY, {"producer_byte_rate": BYTES_A_SECOND // 2})
    session = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"}
    tool = scene.mirror(*COMMIT_OFTEN, consumer=session, producer={"compression.type": "none"})
    scene.wait_committed(RECORDS)
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []
    assert "lost" not in tool.output()
