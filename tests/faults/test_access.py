"""A cluster that will not have the mirror any more, or cannot be found where it was. Scenarios 17 to 20."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.certificates import PASSWORD, Authority
from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.proxy import Proxy
from compat.laboratory.security import (
    LISTENERS,
    USER_PASSWORD,
    Stores,
    change_password,
    forbid_records,
    login,
    secured_cluster,
)
from legacy_mm.audit.tool_process import ToolProcess
from tests.faults.conftest import BY_TOOL, PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop
from tests.fixtures.namespaces import unshared

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
RECORDS = 20_000
NEW_PASSWORD = "another one"
NAME, JAVA_HOSTS = "kafka.test", "-Djdk.net.hosts.file="


@pytest.fixture(scope="module")
def secured(stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Cluster]]:
    """Source and target that ask for a password."""
    folder = tmp_path_factory.mktemp("secured")
    with secured_cluster(folder / "source", stores) as source, secured_cluster(folder / "target", stores) as target:
        yield source, target


def mirror(scene: Scene, password: str = USER_PASSWORD) -> ToolProcess:
    """Log in at both sides, at the target with this password."""

    def client(cluster: Cluster, word: str) -> dict[str, str]:
        where = {"bootstrap.servers": cluster.bootstrap_of("LOGIN"), "security.protocol": LISTENERS["LOGIN"]}
        return where | login("SCRAM-SHA-256", word)

    consumer, producer = client(scene.source, USER_PASSWORD), client(scene.target, password)
    return scene.mirror(*COMMIT_OFTEN, consumer=consumer, producer=producer)


def wait_refused(tool: ToolProcess, which: str) -> None:
    """Ours ends; the legacy tool says it and tries again, each second and for ever, so it is ended here."""
    if which != "old":
        assert tool.wait(PATIENCE) == 255
        return
    tool.wait_for_output("failed authentication", PATIENCE)
    tool.kill_tree()


@BY_TOOL
@pytest.mark.scenario(17)
def test_the_password_is_changed(
    secured: tuple[Cluster, Cluster], make_scene: Callable[..., Scene], which: str
) -> None:
    """A connection lives on; the next login is refused, and with the new password nothing is missing."""
    scene = make_scene(*secured, RECORDS)
    tool = mirror(scene)
    scene.wait_committed(RECORDS)
    change_password(scene.target, NEW_PASSWORD)
    try:
        scene.target.brokers[0].restart()
        scene.load(RECORDS, seed=9)
        wait_refused(tool, which)
        assert scene.committed() == RECORDS
        tool = mirror(scene, NEW_PASSWORD)
        scene.wait_committed(2 * RECORDS)
        stop(tool)
    finally:
        change_password(scene.target, USER_PASSWORD)
    assert scene.differences(allow_duplicates=True) == []


@BY_TOOL
@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.scenario(18)
def test_a_permission_is_taken_away(
    secured: tuple[Cluster, Cluster], make_scene: Callable[..., Scene], side: str
) -> None:
    scene = make_scene(*secured, RECORDS)
    tool = mirror(scene)
    scene.wait_committed(RECORDS)
    forbid_records(getattr(scene, side), scene.topic)
    scene.load(RECORDS, seed=9)
    assert tool.wait(PATIENCE) == 255
    assert RECORDS <= scene.committed() <= scene.arrived() < 2 * RECORDS, "it was taken away from one partition first"


def show(authority: Authority, store: Path) -> None:
    """What the broker shows from its next start on: a new key, signed by this authority."""
    store.unlink(missing_ok=True)
    made = authority.key(f"{store.stem}-new.p12", "PKCS12", owner="broker", host="ip:127.0.0.1")
    made.rename(store)


@BY_TOOL
@pytest.mark.scenario(19)
def test_the_certificate_is_another_one(
    own_clusters: Callable[..., Cluster],
    source: Cluster,
    make_scene: Callable[..., Scene],
    tmp_path: Path,
    which: str,
) -> None:
    """Renewed by the same authority: nobody notices. By another one: no record goes there before it is trusted."""
    known, unknown = Authority(tmp_path / "known"), Authority(tmp_path / "unknown", "stranger")
    store = tmp_path / "broker.p12"
    show(known, store)
    key = {"ssl.keystore.location": str(store), "ssl.keystore.type": "PKCS12", "ssl.keystore.password": PASSWORD}
    properties = {f"listener.name.tls.{name}": text for name, text in key.items()}
    target = own_clusters(listeners={"TLS": "SSL"}, properties=properties)
    scene = make_scene(source, target, RECORDS)

    def start(authority: Authority) -> ToolProcess:
        trust = authority.trust("trust.p12", "PKCS12")
        secure = {"security.protocol": "SSL", "ssl.truststore.type": "PKCS12", "ssl.truststore.password": PASSWORD}
        where = {"bootstrap.servers": target.bootstrap_of("TLS"), "ssl.truststore.location": str(trust)}
        return scene.mirror(*COMMIT_OFTEN, producer=where | secure)

    def renew(authority: Authority) -> None:
        show(authority, store)
        target.brokers[0].restart()

    tool = start(known)
    scene.wait_committed(RECORDS)
    renew(known)
    scene.load(RECORDS, seed=9)
    scene.wait_committed(2 * RECORDS)
    renew(unknown)
    scene.load(RECORDS, seed=11)
    wait_refused(tool, which)
    assert scene.committed() == 2 * RECORDS
    tool = start(unknown)
    scene.wait_committed(3 * RECORDS)
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []


@BY_TOOL
@pytest.mark.scenario(20)
def test_a_name_moves_to_another_address(
    own_clusters: Callable[..., Cluster],
    source: Cluster,
    make_scene: Callable[..., Scene],
    tmp_path: Path,
    which: str,
) -> None:
    """The tool has a hosts file of its own: Java by a property, ours by a mount that only its processes see."""
    hosts = tmp_path / "hosts"
    target = own_clusters(advertise=lambda port: (NAME, port))
    port = int(target.bootstrap_of(PROXIED).rpartition(":")[2])
    scene = make_scene(source, target, RECORDS)

    def move(address: str) -> Proxy:
        hosts.write_text(f"127.0.0.1 localhost\n{address} {NAME}\n")
        return Proxy(port, host=address, listen_port=port)

    settings: dict[str, Any] = {"environment": {"KAFKA_OPTS": f"{JAVA_HOSTS}{hosts}"}}
    if which != "old":
        bind = f'mount --bind {hosts} /etc/hosts && exec "$@"'
        settings = {"wrapper": (*unshared("--mount"), "sh", "-c", bind, "sh")}
    with move("127.0.0.2"):
        tool = scene.mirror(*COMMIT_OFTEN, producer={"bootstrap.servers": target.bootstrap_of(PROXIED)}, **settings)
        scene.wait_committed(RECORDS)
    scene.load(RECORDS, seed=9)
    assert scene.arrived() == RECORDS
    with move("127.0.0.3"):
        scene.wait_committed(2 * RECORDS)
        stop(tool)
    assert scene.differences(allow_duplicates=False) == []
