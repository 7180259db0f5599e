"""Clusters that slow a client down, or will not have it any more. Scenarios 17, 18, 34."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

import pytest

from legacy_mm.spark.java import find_java
from legacy_mm.testbed.cluster import Cluster
from legacy_mm.testbed.jars import kafka_jars
from legacy_mm.testbed.releases import CURRENT
from legacy_mm.testbed.security import (
    LISTENERS,
    USER_PASSWORD,
    Stores,
    change_password,
    forbid_records,
    login,
    secured_cluster,
)
from legacy_mm.testbed.tools import ToolProcess
from tests.faults.conftest import PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
BOTH_TOOLS = pytest.mark.parametrize("which", ["ours", "old"])
RECORDS = 20_000
MECHANISM, NEW_PASSWORD = "SCRAM-SHA-256", "another one"
BYTES_A_SECOND = 2_000_000


def limit_everybody(cluster: Cluster, quota: str) -> None:
    """Give every client this quota."""
    words = ["--bootstrap-server", cluster.bootstrap, "--alter", "--add-config", quota]
    words += ["--entity-type", "clients", "--entity-default"]
    command = [str(find_java()), "-cp", f"{kafka_jars(CURRENT)}/*", "kafka.admin.ConfigCommand", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


@BOTH_TOOLS
@pytest.mark.scenario(34)
def test_quotas_on_both_sides(
    own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene], which: str
) -> None:
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


@pytest.fixture(scope="module")
def secured(stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Cluster]]:
    """Source and target that ask for a password."""
    folder = tmp_path_factory.mktemp("secured")
    with secured_cluster(folder / "source", stores) as source, secured_cluster(folder / "target", stores) as target:
        yield source, target


def mirror(scene: Scene, **passwords: str) -> ToolProcess:
    """Log in at both sides; `target=` another password than the user's."""

    def client(cluster: Cluster, password: dict[str, str]) -> dict[str, str]:
        where = {"bootstrap.servers": cluster.bootstrap_of("LOGIN"), "security.protocol": LISTENERS["LOGIN"]}
        return where | login(MECHANISM, **password)

    written = {"password": passwords["target"]} if passwords else {}
    return scene.mirror(*COMMIT_OFTEN, consumer=client(scene.source, {}), producer=client(scene.target, written))


@BOTH_TOOLS
@pytest.mark.scenario(17)
def test_the_password_is_changed(
    secured: tuple[Cluster, Cluster], make_scene: Callable[..., Scene], which: str
) -> None:
    """A connection lives on; the next login is refused, and with the new password nothing is missing."""
    scene = make_scene(*secured, RECORDS)
    tool = mirror(scene)
    scene.wait_committed(RECORDS)
    change_password(scene.target, MECHANISM, NEW_PASSWORD)
    scene.target.brokers[0].restart()
    scene.load(RECORDS, seed=9)
    assert tool.wait(PATIENCE) == 255
    assert scene.committed() == RECORDS
    tool = mirror(scene, target=NEW_PASSWORD)
    scene.wait_committed(2 * RECORDS)
    stop(tool)
    change_password(scene.target, MECHANISM, USER_PASSWORD)
    assert scene.differences(allow_duplicates=True) == []


@BOTH_TOOLS
@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.scenario(18)
def test_a_permission_is_taken_away(
    secured: tuple[Cluster, Cluster], make_scene: Callable[..., Scene], which: str, side: str
) -> None:
    scene = make_scene(*secured, RECORDS)
    tool = mirror(scene)
    scene.wait_committed(RECORDS)
    forbid_records(getattr(scene, side), scene.topic)
    scene.load(RECORDS, seed=9)
    assert tool.wait(PATIENCE) == 255
    assert scene.committed() == RECORDS
    assert scene.arrived() == RECORDS
