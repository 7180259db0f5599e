"""What stores become in a client's properties, and how it is seen that they have changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.settings import AdminSettings, JavaStores, KeyStore, PemFiles
from legacy_mm.flow import key_stores
from legacy_mm.flow.client_checks import check_logins
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.runtime.jvm import keystore
from legacy_mm.words.java_clients.client_properties.apply import apply
from tests.fixtures import client_settings
from tests.unit.certificates import certify, key_pem, pem
from tests.unit.flow_settings import flow_settings, source_settings, target_with

NO_JAVA: Any = None


def certificate(text: str) -> str:
    return f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"


@pytest.fixture
def trusted(tmp_path: Path) -> Path:
    path = tmp_path / "trust.pem"
    path.write_text(certificate("AAAA"))
    return path


@pytest.fixture
def settings(trusted: Path) -> Settings:
    """The source trusts a PEM file."""
    file = {
        "bootstrap.servers": "127.0.0.1:1",
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trusted),
    }
    read = apply("consumer", {**file, "group.id": "g"})
    return flow_settings(source_settings(client_settings.texts(read), stores=read.stores, pem=read.pem))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("nothing", None),
        ("password", "ssl.certificate.pem, ssl.key.pem cannot be used"),
        ("key", "ssl.certificate.pem, ssl.key.pem cannot be used: KEY_VALUES_MISMATCH"),
        ("certificate", "ssl.ca.pem cannot be used"),
    ],
)
@pytest.mark.parametrize("side", ["source", "target", "target_admin"])
def test_pem_that_cannot_be_used_is_refused_at_the_start(
    settings: Settings, tmp_path: Path, side: str, wrong: str, said: str | None
) -> None:
    key, signed = certify("client", None, authority=True)
    other, _ = certify("other", None, authority=True)
    store, trust = tmp_path / "client.pem", tmp_path / "authority.pem"
    store.write_text(key_pem(other if wrong == "key" else key, b"right") + pem(signed))
    trust.write_text(certificate("AAAA") if wrong == "certificate" else pem(signed))
    file = {
        "bootstrap.servers": "127.0.0.1:1",
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trust),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.key.password": "hush" if wrong == "password" else "right",
    }
    read = apply("producer", file)
    asked = replace(settings, source=source_settings(), target_admin=AdminSettings(ConnectionSettings()))
    used = replace(getattr(asked, side).reached_by(read.connection), pem=read.pem)
    asked = replace(asked, **{side: used})
    if said is None:
        check_logins(asked)
        return
    with pytest.raises(ConfigurationError, match=said) as refused:
        check_logins(asked)
    assert f"Failed to load PEM SSL keystore {trust}, {store}: " in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_pem_store_is_read_again(settings: Settings, trusted: Path) -> None:
    assert settings.source.connection.tls.ca_pem == certificate("AAAA")
    before = key_stores.contents(key_stores.with_stores(settings, NO_JAVA))
    assert key_stores.contents(key_stores.with_stores(settings, NO_JAVA)) == before
    trusted.write_text(certificate("BBBB"))
    renewed = key_stores.with_stores(settings, NO_JAVA)
    assert renewed.source.connection.tls.ca_pem == certificate("BBBB")
    assert key_stores.contents(renewed) != before
    trusted.write_text("-----BEGIN CERTIFICATE-----\nBBB")
    with pytest.raises(ConfigurationError, match="holds no PEM block"):
        key_stores.with_stores(settings, NO_JAVA)
    trusted.unlink()
    with pytest.raises(ConfigurationError, match="cannot be read"):
        key_stores.with_stores(settings, NO_JAVA)


def test_a_file_that_librdkafka_reads_is_compared_byte_by_byte(settings: Settings, tmp_path: Path) -> None:
    native = tmp_path / "native.pem"
    native.write_text("one")
    plain = replace(settings.source, pem=PemFiles())
    target = target_with(settings.target, {"ssl.ca.location": str(native)})
    settings = replace(settings, source=plain, target=target)
    assert key_stores.files(settings) == {str(native)}
    before = key_stores.contents(settings)
    native.write_text("two")
    assert key_stores.contents(settings) != before


def test_all_files_of_all_sides_are_watched(settings: Settings, trusted: Path) -> None:
    assert key_stores.files(settings) == {str(trusted)}
    keys = JavaStores(keys=KeyStore("/keys.jks", "JKS", "hush"))
    admin = AdminSettings(ConnectionSettings(), JavaStores(trusted=KeyStore("/admin.jks", "JKS", None)))
    all_sides = replace(settings, target=replace(settings.target, stores=keys), target_admin=admin)
    assert key_stores.files(all_sides) == {str(trusted), "/keys.jks", "/admin.jks"}


def test_what_is_given_natively_stays(trusted: Path) -> None:
    """As at the start: the native name has the last word."""
    file = {
        "bootstrap.servers": "127.0.0.1:1",
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trusted),
        "librdkafka.ssl.ca.pem": certificate("CCCC"),
    }
    assert apply("producer", file).pem == PemFiles()


def test_without_stores_nothing_is_watched(settings: Settings) -> None:
    """Invariant E."""
    assert key_stores.files(replace(settings, source=replace(settings.source, pem=PemFiles()))) == frozenset()


@pytest.mark.parametrize(
    ("membership", "needed"),
    [
        ({}, []),
        ({"partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}, ["s"]),
        ({"group.protocol": "consumer"}, ["s"]),
    ],
)
def test_roots_are_asked_for_where_librdkafka_logs_in(
    membership: dict[str, str], needed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []

    def with_contents(
        connection: ConnectionSettings, stores: JavaStores, _java: Any, *, needs_roots: bool
    ) -> ConnectionSettings:
        if needs_roots:
            assert stores.trusted is not None
            found.append(stores.trusted.location)
        return connection

    monkeypatch.setattr(keystore, "with_contents", with_contents)
    source_stores, target_stores = (JavaStores(trusted=KeyStore(name, "JKS", "p", "p")) for name in ("s", "t"))
    read = apply("consumer", {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **membership})
    settings = flow_settings(source_settings(client_settings.texts(read), stores=source_stores))
    settings = replace(settings, target=replace(settings.target, stores=target_stores))
    key_stores.with_stores(settings, NO_JAVA)
    assert found == needed
