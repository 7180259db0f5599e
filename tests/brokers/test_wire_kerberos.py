"""SASL/GSSAPI against a real ticket server: Debian's krb5-kdc; the client needs the package gssapi."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from kafka.protocol.metadata import MetadataRequest

from legacy_mm.wire.connection import Connection, connect
from legacy_mm.wire.errors import AuthenticationFailed, ConnectionLost
from legacy_mm.wire.security import unsupported
from tests.fixtures.kerberos import LISTENER, SERVICE, USER, Kerberized

pytestmark = pytest.mark.brokers


def opened(kerberized: Kerberized, **changed: str) -> Connection:
    """As the user, unless something is changed: underscores for dots."""
    host, _, port = kerberized.source.bootstrap_of(LISTENER).rpartition(":")
    properties = {
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": SERVICE,
        "sasl.kerberos.principal": USER,
        "sasl.kerberos.keytab": str(kerberized.keytab),
        "sasl.kerberos.krb5.conf": str(kerberized.realm.configuration),
        **{name.replace("_", "."): text for name, text in changed.items()},
    }
    assert unsupported(properties) is None
    return connect(host, int(port), properties)


@pytest.fixture(autouse=True)
def realms_of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a login makes of the process's environment is undone."""
    monkeypatch.setenv("KRB5_CONFIG", "/nowhere")


def test_a_keytab_opens_the_broker(kerberized: Kerberized) -> None:
    for _ in range(2):
        with closing(opened(kerberized)) as connection:
            assert len(connection.call(MetadataRequest(topics=[])).brokers) == 1


def test_many_logins_at_once_before_there_is_a_ticket(kerberized: Kerberized, tmp_path: Path) -> None:
    keytab = copied(kerberized.keytab, tmp_path)

    def login(_: int) -> int:
        with closing(opened(kerberized, sasl_kerberos_keytab=str(keytab))) as connection:
            return len(connection.call(MetadataRequest(topics=[])).brokers)

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(login, range(32))) == [1] * 32


def test_a_keytab_of_somebody_else(kerberized: Kerberized) -> None:
    with pytest.raises(AuthenticationFailed, match="SASL authentication error"):
        opened(kerberized, sasl_kerberos_principal="nobody")


def test_a_service_that_the_realm_does_not_know(kerberized: Kerberized) -> None:
    with pytest.raises(AuthenticationFailed, match="not found in Kerberos database"):
        opened(kerberized, sasl_kerberos_service_name="other")


def test_a_ticket_server_that_is_away(kerberized: Kerberized, tmp_path: Path) -> None:
    away = tmp_path / "krb5.conf"
    away.write_text(re.sub("kdc = .*", "kdc = 127.0.0.1:1", kerberized.realm.configuration.read_text()))
    keytab = copied(kerberized.keytab, tmp_path)
    with pytest.raises(ConnectionLost, match="Cannot contact any KDC"):
        opened(kerberized, sasl_kerberos_krb5_conf=str(away), sasl_kerberos_keytab=str(keytab))


def copied(file: Path, folder: Path) -> Path:
    """The same keys under another name, so that no ticket is in memory yet."""
    copy = folder / file.name
    copy.write_bytes(file.read_bytes())
    return copy
