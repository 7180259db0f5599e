"""Security properties: what each file asks for, and what is refused without a word of a secret."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import JavaStores, KeyStore
from legacy_mm.words.java_clients.client_properties.apply import Translated, apply
from legacy_mm.words.java_clients.properties_file import PropertiesFile
from tests.fixtures.client_settings import texts

BASE = {"bootstrap.servers": "127.0.0.1:1"}
PEM = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----\n"


def producer(file: Mapping[str, str] | None = None, **properties: str) -> Translated:
    named = {**(file or {}), **properties}
    return apply("producer", BASE | {name.replace("_", "."): text for name, text in named.items()})


def test_security_counts_only_where_it_is_used() -> None:
    plain = producer(sasl_mechanism="GSSAPI", ssl_keystore_location="/nowhere.jks").values
    assert not [path for path in plain if path.startswith(("tls.", "sasl."))]


def test_pem_stores(tmp_path: Path) -> None:
    store = tmp_path / "client.pem"
    store.write_text(KEY + PEM + PEM)
    read = producer(
        security_protocol="SSL",
        ssl_truststore_type="PEM",
        ssl_truststore_certificates=PEM.replace("\n", " "),
        ssl_keystore_type="PEM",
        ssl_keystore_location=str(store),
        ssl_key_password="hush",
    )
    assert texts(read)["ssl.ca.pem"] == PEM
    assert texts(read)["ssl.key.pem"] == KEY
    assert texts(read)["ssl.certificate.pem"] == PEM + PEM
    assert {"hush", KEY} <= set(read.secrets)
    missing = {"ssl_truststore_type": "PEM", "ssl_truststore_location": str(tmp_path / "no.pem")}
    with pytest.raises(ConfigurationError, match=r"Failed to load PEM SSL keystore .*no\.pem"):
        producer(missing, security_protocol="SSL")


def test_what_is_said_about_a_secret_is_none() -> None:
    """Else `true` or `1` would be hidden in every line."""
    login = "org.apache.kafka.common.security.scram.ScramLoginModule required"
    read = producer(
        {"password.encoder.iterations": "1", "delegation.token.expiry.time.ms": "2", "my.token": "hush3"},
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="SCRAM-SHA-256",
        sasl_jaas_config=f"""{login} username="id" password="hush1" tokenauth="true" refreshToken='hush2';""",
    )
    assert {secret for secret in read.secrets if login not in secret} == {"hush1", "hush2", "hush3"}


def test_java_stores_are_left_to_java() -> None:
    file = {"ssl_truststore_location": "/t", "ssl_keystore_location": "/k", "ssl_keystore_password": "hush"}
    read = producer(file, security_protocol="SSL", ssl_keystore_type="PKCS12")
    trusted, keys = KeyStore("/t", "JKS", None), KeyStore("/k", "PKCS12", "hush", "hush")
    assert read.stores == JavaStores(trusted, keys)
    assert "hush" in read.secrets
    assert "hush" not in repr(read)
    named = read.named_in(PropertiesFile("p.properties", {}, {"ssl.truststore.location": 3})).stores
    assert named == read.stores
    assert [store and store.place for store in (named.trusted, named.keys)] == [
        "p.properties:3: ssl.truststore.location", "",
    ]  # fmt: skip
    own = producer(file, security_protocol="SSL", ssl_key_password="own").stores.keys
    assert own is not None
    assert own.key_password == "own"
    assert producer(file).stores == JavaStores()


def test_java_trusts_by_itself_only_where_nothing_is_named() -> None:
    assert producer(security_protocol="SSL").stores == JavaStores(java_trust=True)
    pem = {"ssl_truststore_type": "PEM", "ssl_truststore_certificates": PEM}
    assert producer(pem, security_protocol="SSL").stores == JavaStores()
    given_natively = BASE | {"security.protocol": "SSL", "librdkafka.ssl.ca.location": "probe"}
    assert apply("producer", given_natively).stores == JavaStores()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ({"truststore_password": "hush"}, "SSL trust store is not specified, but trust store password is specified."),
        ({"keystore_password": "hush"}, "SSL key store is not specified, but key store password is specified."),
        ({"keystore_location": "/k"}, "SSL key store is specified, but key store password is not specified."),
        ({"keystore_key": "hush"}, "SSL private key can be specified only for PEM, but key store type is JKS."),
        ({"truststore_certificates": "hush"}, "SSL trust store certs can be specified only for PEM, but trust store"),
        (
            {"truststore_location": "/t", "truststore_password": "hush", "truststore_type": "PEM"},
            "SSL trust store password cannot be specified for PEM format.",
        ),
    ],
)
def test_stores_that_java_refuses(file: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        producer({f"ssl_{name}": text for name, text in file.items()}, security_protocol="SSL")
    prefix = "org.apache.kafka.common.errors.InvalidConfigurationException: "
    assert str(refused.value).startswith(prefix + said)


@pytest.mark.parametrize("given", [{}, {"ssl_endpoint_identification_algorithm": "HTTPS"}], ids=["by default", "asked"])
def test_names_of_brokers_are_checked(given: dict[str, str]) -> None:
    read = producer(given, security_protocol="SSL")
    assert texts(read)["ssl.endpoint.identification.algorithm"] == "https"
    assert not read.reading.notes


def test_an_empty_host_check_is_off_with_one_warning() -> None:
    read = producer(security_protocol="SSL", ssl_endpoint_identification_algorithm=" ")
    assert texts(read)["ssl.endpoint.identification.algorithm"] == "none"
    assert [note.level for note in read.reading.notes] == [logging.WARNING]


def test_a_host_check_called_none_is_off_and_named_so() -> None:
    """As the contract has it. Java reads the word, and then fails every handshake."""
    unchecked = producer(security_protocol="SSL", ssl_endpoint_identification_algorithm="NONE")
    assert texts(unchecked)["ssl.endpoint.identification.algorithm"] == "none"
    (said,) = unchecked.reading.notes
    assert said.text.startswith("ssl.endpoint.identification.algorithm is none: names of brokers are not checked")
    with pytest.raises(ConfigurationError, match="is either https or empty"):
        producer(security_protocol="SSL", ssl_endpoint_identification_algorithm="ldap")


def test_tls_versions() -> None:
    """Difference tls-versions."""
    said = producer(security_protocol="SSL", ssl_enabled_protocols="TLSv1.2")
    assert said.reading.notes[0].level == logging.WARNING
    assert not producer(security_protocol="SSL", ssl_enabled_protocols="TLSv1.2,TLSv1.3").reading.notes
    with pytest.raises(ConfigurationError, match="not supported yet"):
        producer(security_protocol="SSL", ssl_enabled_protocols="TLSv1.3")
