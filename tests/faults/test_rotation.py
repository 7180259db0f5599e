"""Key stores are exchanged while the mirror runs: from then on it connects with the new ones, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from compat.laboratory.certificates import PASSWORD, Authority
from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import end_offsets, members
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
RECORDS = 20_000
USED, UNFIT = "The mirror uses the changed key stores from now on", "The mirror does not use the changed key stores yet"
HEARTBEATS = ("--emit.heartbeats.enabled", "true", "--emit.heartbeats.interval.seconds", "1")
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"


@dataclass(frozen=True)
class Files:
    """The stores of the broker and of the client, exchanged at once as one file takes another one's place."""

    folder: Path
    old: Authority
    new: Authority

    def broker(self) -> dict[str, str]:
        """Server properties of a listener that asks for certificates."""
        properties = {"ssl.client.auth": "required", **self._java("key", "broker"), **self._java("trust", "broker")}
        return {f"listener.name.tls.{name}": text for name, text in properties.items()}

    def client(self, kind: str) -> dict[str, str]:
        """Client properties, in this format."""
        if kind == "PKCS12":
            return {"security.protocol": "SSL", **self._java("key", "client"), **self._java("trust", "client")}
        stores = {"keystore": "client-key.pem", "truststore": "client-trust.pem"}
        places = {f"ssl.{store}.location": str(self.folder / name) for store, name in stores.items()}
        return {"security.protocol": "SSL", **places, **{f"ssl.{store}.type": "PEM" for store in stores}}

    def show(self, owner: str, authority: Authority) -> None:
        """From now on the owner's key is one that this authority signs."""
        made = authority.key("made.p12", "PKCS12", owner=owner, host="ip:127.0.0.1")
        key, certificate, chain = pkcs12.load_key_and_certificates(made.read_bytes(), PASSWORD.encode())
        assert key is not None and certificate is not None
        plain = serialization.NoEncryption()
        text = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        shown = [one.public_bytes(serialization.Encoding.PEM) for one in (certificate, *chain)]
        self.put(f"{owner}-key.pem", b"".join([text, *shown]))
        made.rename(self.folder / f"{owner}-key.p12")

    def trust(self, owner: str, *authorities: Authority) -> None:
        """From now on the owner trusts these."""
        for authority in authorities:
            made = authority.trust("made-trust.p12", "PKCS12")
        self.put(f"{owner}-trust.pem", b"".join(authority.certificate.read_bytes() for authority in authorities))
        made.rename(self.folder / f"{owner}-trust.p12")

    def put(self, name: str, content: bytes) -> None:
        """A file with this content takes the place of the one of that name."""
        made = self.folder / "made"
        made.write_bytes(content)
        made.rename(self.folder / name)

    def _java(self, store: str, owner: str) -> dict[str, str]:
        place = {"location": str(self.folder / f"{owner}-{store}.p12"), "type": "PKCS12", "password": PASSWORD}
        return {f"ssl.{store}store.{name}": text for name, text in place.items()}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Brokers show and clients trust the old authority's; brokers trust both already."""
    folder = tmp_path / "stores"
    made = Files(folder, Authority(folder, "old"), Authority(folder, "new"))
    for owner in ("broker", "client"):
        made.show(owner, made.old)
    made.trust("broker", made.old, made.new)
    made.trust("client", made.old)
    return made


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        ("PKCS12", {}),
        ("PEM", {"group.instance.id": "host-a", "partition.assignment.strategy": COOPERATIVE}),
    ],
    ids=["batches, Java's stores", "records, PEM, a static member"],
)
def test_stores_are_exchanged(
    files: Files,
    own_clusters: Callable[..., Cluster],
    make_scene: Callable[..., Scene],
    kind: str,
    member: Mapping[str, str],
) -> None:
    """Another authority's key and trust: first the client has them, then the brokers accept nothing else."""
    source, target = (own_clusters(listeners={"TLS": "SSL"}, properties=files.broker()) for _ in range(2))
    scene = make_scene(source, target, RECORDS)
    secure = files.client(kind)
    tool = scene.mirror(
        *(*COMMIT_OFTEN, "--source.cluster.alias", "a", *HEARTBEATS),
        consumer={"bootstrap.servers": source.bootstrap_of("TLS"), **secure, **member},
        producer={"bootstrap.servers": target.bootstrap_of("TLS"), **secure},
        log_level="INFO",
    )
    scene.wait_committed(RECORDS)
    suffix = "p12" if kind == "PKCS12" else "pem"
    files.put(f"client-key.{suffix}", b"half of a key store")
    tool.wait_for_output(UNFIT, PATIENCE)
    scene.load(RECORDS, seed=9)
    scene.wait_committed(2 * RECORDS)
    assert USED not in tool.output()
    files.trust("client", files.old, files.new)
    files.show("client", files.new)
    tool.wait_for_output(USED, PATIENCE)
    scene.load(RECORDS, seed=11)
    scene.wait_committed(3 * RECORDS)
    files.show("broker", files.new)
    files.trust("broker", files.new)
    for cluster in (source, target):
        cluster.brokers[0].restart()
    scene.load(RECORDS, seed=13)
    scene.wait_committed(4 * RECORDS)
    before = sum(end_offsets(target.bootstrap, "heartbeats").values())
    wait_until(lambda: sum(end_offsets(target.bootstrap, "heartbeats").values()) > before, PATIENCE, "a heartbeat")
    stop(tool)
    assert tool.output().count(USED) == 1
    assert "ERROR" not in tool.output()
    assert PASSWORD not in tool.output()
    assert scene.differences(allow_duplicates=False) == []
    assert members(source.bootstrap, scene.group) == (1 if member else 0)
