"""Stores that real keytools wrote, read through the gateway JVM."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.laboratory.certificates import PASSWORD, Authority, convert, made_once
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import ConnectionSettings, SecurityProtocol
from legacy_mm.base.settings import JavaStores, KeyStore, SparkSettings
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.runtime.jvm import keystore
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.spark.session import SparkHost

JAVA_8 = "-J-Dkeystore.pkcs12.legacy"
KEY_PASSWORD = "password-of-the-key"
KINDS = {"jks": ("JKS",), "jceks": ("JCEKS",), "p12": ("PKCS12",), "java8.p12": ("PKCS12", JAVA_8)}


@dataclass(frozen=True)
class Lab:
    """A JVM, and an authority with its stores."""

    jvm: Jvm
    authority: Authority
    folder: Path

    def read(
        self, trusted: KeyStore | None = None, keys: KeyStore | None = None, *, needs_roots: bool = False
    ) -> keystore.StoreContents:
        return keystore.read(JavaStores(trusted, keys), lambda: self.jvm, needs_roots=needs_roots)

    def store(self, name: str, kind: str = "JKS", password: str | None = PASSWORD) -> KeyStore:
        return KeyStore(str(self.folder / name), kind, password, password)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("stores")
    made_once(folder, Path(__file__), of_every_format)
    host = SparkHost(SparkSettings(), streams=1)
    yield Lab(host.jvm, Authority(folder), folder)
    host.stop(Deadline.after(2))


def of_every_format(folder: Path) -> None:
    authority = Authority(folder)
    trusted, key = authority.trust("trust", "PKCS12"), authority.key("key", "PKCS12")
    for name, (kind, *java) in KINDS.items():
        convert(trusted, folder / f"trust.{name}", kind, *java)
        convert(key, folder / f"key.{name}", kind, *java)


@pytest.mark.parametrize("name", KINDS)
def test_stores_of_every_format_and_generation(lab: Lab, name: str, tmp_path: Path) -> None:
    kind = KINDS[name][0]
    read = lab.read(lab.store(f"trust.{name}", kind), lab.store(f"key.{name}", kind))
    certificate = lab.authority.certificate.read_text()
    assert ssl.PEM_cert_to_DER_cert(read.trusted) == ssl.PEM_cert_to_DER_cert(certificate)
    assert read.chain.count("BEGIN CERTIFICATE") == 2
    both = tmp_path / "both.pem"
    both.write_text(read.key.reveal() + read.chain)
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(both)  # raises when the key is not the certificate's


def test_librdkafka_takes_what_was_read(lab: Lab) -> None:
    stores = JavaStores(None, lab.store("key.p12"), java_trust=True, token_service=True)
    asked = ConnectionSettings(protocol=SecurityProtocol.SSL)
    read = keystore.with_contents(asked, stores, lambda: lab.jvm)
    assert read.tls.ca_pem and read.tls.key_pem and read.tls.certificate_pem and read.sasl.oauth.ca_pem
    Producer({"log_level": 0, **property_texts(read)})


@pytest.mark.parametrize("name", ["trust.p12", "trust.jks"])
def test_a_token_service_has_a_store_of_its_own(lab: Lab, name: str) -> None:
    stores = JavaStores(token_service=True, token_trusted=lab.store(name))
    read = keystore.with_contents(ConnectionSettings(), stores, lambda: lab.jvm)
    certificate = lab.authority.certificate.read_text()
    assert ssl.PEM_cert_to_DER_cert(read.sasl.oauth.ca_pem or "") == ssl.PEM_cert_to_DER_cert(certificate)
    assert read.tls.ca_pem is None, "the brokers are another matter"


@pytest.mark.parametrize(("name", "kind"), [("trust.p12", "JKS"), ("trust.jks", "PKCS12"), ("trust.jks", "jks")])
def test_the_type_may_be_the_wrong_word_of_the_two(lab: Lab, name: str, kind: str) -> None:
    assert lab.read(lab.store(name, kind)).trusted


def test_a_key_with_a_password_of_its_own(lab: Lab) -> None:
    lab.authority.key("own.jks", "JKS", key_password=KEY_PASSWORD)
    store = lab.store("own.jks")
    assert lab.read(keys=replace(store, key_password=KEY_PASSWORD)).key
    with pytest.raises(ConfigurationError) as refused:
        lab.read(keys=store)
    assert str(refused.value).endswith("KafkaException: java.security.UnrecoverableKeyException: Cannot recover key")


def test_trust_without_a_password(lab: Lab) -> None:
    """Difference empty-trust-store."""
    assert lab.read(lab.store("trust.jks", password=None)).trusted
    with pytest.raises(ConfigurationError, match=r"no certificate that can be read without ssl\.truststore\.password"):
        lab.read(lab.store("trust.p12", password=None))


def test_all_aliases_are_trusted(lab: Lab) -> None:
    other = Authority(lab.folder, "other")
    for authority in (lab.authority, other):
        authority.trust("both.jks", "JKS")
    assert lab.read(lab.store("both.jks")).trusted.count("BEGIN CERTIFICATE") == 2


def test_trust_without_a_root_is_said(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    """Difference trust-without-root."""
    with caplog.at_level(logging.WARNING):
        lab.read(lab.store("trust.jks"), needs_roots=True)
        lab.read(lab.store("key.jks"))
        assert not caplog.text, "our own sockets need no root"
        lab.read(lab.store("key.jks"), needs_roots=True)
    assert "key.jks trusts CN=client but not its issuer" in caplog.text


def test_one_of_several_keys_is_said(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    for owner in ("one", "two"):
        lab.authority.key("several.jks", "JKS", owner=owner)
    with caplog.at_level(logging.WARNING):
        read = lab.read(keys=lab.store("several.jks"))
    assert read.key.reveal().count("BEGIN PRIVATE KEY") == 1
    assert "several.jks holds 2 keys" in caplog.text


def test_a_key_store_without_a_key_shows_none(lab: Lab) -> None:
    assert lab.read(keys=lab.store("trust.jks")) == keystore.StoreContents()


def test_what_java_trusts_by_itself(lab: Lab) -> None:
    trusted = keystore.read(JavaStores(java_trust=True, token_service=True), lambda: lab.jvm)
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=trusted.trusted)
    assert trusted.trusted_services == trusted.trusted


@pytest.mark.parametrize(
    ("name", "kind", "password", "said"),
    [
        ("none.jks", "JKS", PASSWORD, "java.nio.file.NoSuchFileException: {folder}/none.jks"),
        ("trust.jks", "JKS", "hush-hush", "java.io.IOException: Keystore was tampered with, or password was incorrect"),
        ("trust.p12", "PKCS12", "hush-hush", "java.io.IOException: keystore password was incorrect"),
        ("trust.jks", "FOO", PASSWORD, "java.security.KeyStoreException: FOO not found"),
        ("authority.pem", "JKS", PASSWORD, "java.io.IOException: "),
    ],
)
def test_errors_have_the_old_words(lab: Lab, name: str, kind: str, password: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        lab.read(replace(lab.store(name, kind, password), place="p.properties:3: ssl.truststore.location"))
    assert refused.value.__notes__ == ["p.properties:3: ssl.truststore.location names the store that is refused."]
    path = lab.folder / name
    begin = f"org.apache.kafka.common.KafkaException: Failed to load SSL keystore {path} of type {kind}: "
    assert str(refused.value).startswith(begin + said.format(folder=lab.folder))
    assert "hush" not in str(refused.value)
    assert refused.value.exit_code == 1
