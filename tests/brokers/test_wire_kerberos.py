"""SASL/GSSAPI against a real ticket server: Debian's krb5-kdc; the client needs the package gssapi."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from kafka.protocol.metadata import MetadataRequest

from legacy_mm.testbed import kerberos
from legacy_mm.testbed.cluster import Cluster
from legacy_mm.wire.connection import Connection, connect
from legacy_mm.wire.errors import AuthenticationFailed, ConnectionLost
from legacy_mm.wire.security import unsupported

pytest.importorskip("gssapi", reason="pip install 'legacy-mm[kerberos]' (needs Debian's libkrb5-dev)")
pytestmark = [
    pytest.mark.brokers,
    pytest.mark.skipif(not kerberos.installed(), reason="no Kerberos server: apt install krb5-kdc krb5-admin-server"),
]
LISTENER = "KERBEROS"
SERVICE = "kafka/127.0.0.1"
USER = "mirror"


@dataclass(frozen=True)
class Kerberized:
    """A cluster that knows who has a ticket, and the keytab of a user."""

    cluster: Cluster
    keytab: Path

    def connect(self, **changed: str) -> Connection:
        """As the user, unless something is changed: underscores for dots."""
        host, _, port = self.cluster.bootstrap_of(LISTENER).rpartition(":")
        properties = {
            "security.protocol": "sasl_plaintext",
            "sasl.mechanism": "GSSAPI",
            "sasl.kerberos.service.name": "kafka",
            "sasl.kerberos.principal": USER,
            "sasl.kerberos.keytab": str(self.keytab),
            **{name.replace("_", "."): text for name, text in changed.items()},
        }
        assert unsupported(properties) is None
        return connect(host, int(port), properties)


@pytest.fixture(scope="module")
def kerberized(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    folder = tmp_path_factory.mktemp("kerberos")
    with kerberos.Realm(folder / "realm") as realm, pytest.MonkeyPatch.context() as environment:
        environment.setenv("KRB5_CONFIG", str(realm.configuration))
        module = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"
        broker = f'{module} keyTab="{realm.keytab(SERVICE)}" principal="{SERVICE}@{kerberos.REALM}";'
        prefix = f"listener.name.{LISTENER.lower()}"
        properties = {
            f"{prefix}.sasl.enabled.mechanisms": "GSSAPI",
            f"{prefix}.gssapi.sasl.jaas.config": broker,
            f"{prefix}.sasl.kerberos.service.name": "kafka",
        }
        java = (f"-Djava.security.krb5.conf={realm.configuration}",)
        listeners = {LISTENER: "SASL_PLAINTEXT"}
        keytab = realm.keytab(USER)
        with Cluster(folder / "cluster", properties=properties, listeners=listeners, jvm=java) as cluster:
            yield Kerberized(cluster, keytab)


def test_a_keytab_opens_the_broker(kerberized: Kerberized) -> None:
    for _ in range(2):
        with closing(kerberized.connect()) as connection:
            assert len(connection.call(MetadataRequest(topics=[])).brokers) == 1


def test_a_keytab_of_somebody_else(kerberized: Kerberized) -> None:
    with pytest.raises(AuthenticationFailed, match="SASL authentication error"):
        kerberized.connect(sasl_kerberos_principal="nobody")


def test_a_service_that_the_realm_does_not_know(kerberized: Kerberized) -> None:
    with pytest.raises(AuthenticationFailed, match="not found in Kerberos database"):
        kerberized.connect(sasl_kerberos_service_name="other")


def test_a_ticket_server_that_is_away(kerberized: Kerberized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = tmp_path / "krb5.conf"
    there = (kerberized.keytab.parent / "krb5.conf").read_text()
    away.write_text(re.sub("kdc = .*", "kdc = 127.0.0.1:1", there))
    monkeypatch.setenv("KRB5_CONFIG", str(away))
    with pytest.raises(ConnectionLost, match="Cannot contact any KDC"):
        kerberized.connect(sasl_kerberos_keytab=str(copied(kerberized.keytab, tmp_path)))


def copied(file: Path, folder: Path) -> Path:
    """The same keys under another name, so that no ticket is in memory yet."""
    copy = folder / file.name
    copy.write_bytes(file.read_bytes())
    return copy
