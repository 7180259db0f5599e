"""Clusters that slow a client down. Scenario 34."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import CURRENT
from legacy_mm.runtime.jvm.java_home import find_java
from tests.faults.conftest import BY_TOOL, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
RECORDS = 20_000
BYTES_A_SECOND = 2_000_000


def limit_everybody(cluster: Cluster, quota: str) -> None:
    """Give every client this quota."""
    words = ["--bootstrap-server", cluster.bootstrap, "--alter", "--add-config", quota]
    words += ["--entity-type", "clients", "--entity-default"]
    command = [str(find_java()), "-cp", f"{kafka_jars(CURRENT)}/*", "kafka.admin.ConfigCommand", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


@BY_TOOL
@pytest.mark.scenario(34)
def test_quotas_on_both_sides(own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene]) -> None:
    """The brokers answer late: for the mirror that is no failure."""
    source, target = own_clusters(), own_clusters()
    scene = make_scene(source, target, RECORDS, size=1_000)
    limit_everybody(source, f"consumer_byte_rate={BYTES_A_SECOND}")
    limit_everybody(target, f"producer_byte_rate={BYTES_A_SECOND // 2}")
    session = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"}
    tool = scene.mirror(*COMMIT_OFTEN, consumer=session, producer={"compression.type": "none"})
    scene.wait_committed(RECORDS)
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []
    assert "lost" not in tool.output()
