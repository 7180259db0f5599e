"""TLS properties (config-map 2.1). PEM is read at once, as Java reads it; Java's own stores by Java, when it runs.

What is read travels as text: a copy task on another host has no such file. The checks and their words are those of
Kafka's `DefaultSslEngineFactory`.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import FieldValues
from legacy_mm.base.secret import Secret
from legacy_mm.base.settings import JavaStores, KeyStore, PemFiles
from legacy_mm.policies import pem
from legacy_mm.words.java_clients.client_properties.rule import (
    ClientField,
    Computed,
    Forgotten,
    Harmless,
    PartOf,
    PropertyReading,
    RefusedProperty,
    Rule,
    Rules,
    SecretText,
    Text,
    TextList,
    Unit,
    rules_where,
    uses_tls,
)
from legacy_mm.words.java_clients.properties_file import PropertiesFile

_ANY_TLS_VERSION = {"TLSv1.2", "TLSv1.3"}
_NOT_CONFIGURABLE = ("TLS_AES_", "TLS_CHACHA20_", "TLS_EMPTY_RENEGOTIATION_INFO_SCSV")
_TRAVELS = "read at once and handed on as text: a copy task may run on another host"
_OPENS = "opens the store; one in PEM has none"
_TLS_VERSIONS = "TLSv1.2 and TLSv1.3 are used"
_ONLY_JSSE = "it belongs to Java's TLS"
_DEFAULT_STORE = "JKS"
_HOST_CHECK = ClientField("tls.endpoint_identification", Unit(str, {"https": "https", "none": ""}.__getitem__))
_SUITES = ClientField("tls.cipher_suites", Unit(":".join, lambda names: str(names).replace(":", ",")))
_TRUST, _KEYS = "ssl.truststore", "ssl.keystore"


def java_stores(reading: PropertyReading) -> JavaStores:
    """Return the stores that Java has to read, with Java's own trust store if the file names no other."""
    trusted = _java_store(reading, "ssl.truststore")
    elsewhere = reading.given("ssl.truststore.location") or reading.given("ssl.truststore.certificates")
    return JavaStores(
        trusted=trusted,
        keys=_java_store(reading, "ssl.keystore", reading.optional("ssl.key.password")),
        java_trust=not elsewhere,
    )


def placed(stores: JavaStores, file: PropertiesFile) -> JavaStores:
    """Return the stores with the lines of the file that name them."""

    def with_line(store: KeyStore | None, name: str) -> KeyStore | None:
        place = file.place(name)
        return replace(store, place=f"{place}: {name}") if store is not None and place else store

    trusted = with_line(stores.trusted, f"{_TRUST}.location")
    return replace(stores, trusted=trusted, keys=with_line(stores.keys, f"{_KEYS}.location"))


def pem_files(reading: PropertyReading, native: Collection[str]) -> PemFiles:
    """Return the stores that were read as PEM, without those that are given natively."""

    def location(store: str, read_into: str) -> str | None:
        is_pem = reading.text(f"{store}.type", _DEFAULT_STORE) == "PEM"
        return reading.optional(f"{store}.location") if is_pem and read_into not in native else None

    return PemFiles(location("ssl.truststore", "tls.ca_pem"), location("ssl.keystore", "tls.key_pem"))


def _java_store(reading: PropertyReading, store: str, key_password: str | None = None) -> KeyStore | None:
    kind = reading.text(f"{store}.type", _DEFAULT_STORE)
    if kind == "PEM" or not reading.given(f"{store}.location"):
        return None
    location, password = reading.text(f"{store}.location"), reading.optional(f"{store}.password")
    return KeyStore(location, kind, password, key_password if key_password is not None else password)


def _truststore(reading: PropertyReading) -> FieldValues:
    kind = reading.text("ssl.truststore.type", _DEFAULT_STORE)
    location, password = reading.optional("ssl.truststore.location"), reading.given("ssl.truststore.password")
    certificates = reading.optional("ssl.truststore.certificates")
    if certificates is not None:
        if kind != "PEM":
            raise _invalid(
                _of_type(reading, _TRUST, "certificates"),
                f"SSL trust store certs can be specified only for PEM, but trust store type is {kind}.",
            )
        if location is not None:
            raise _invalid(
                "ssl.truststore.certificates",
                "Both SSL trust store location and separate trust certificates are specified.",
            )
    if kind == "PEM" and password and (certificates or location) is not None:
        raise _invalid(f"{_TRUST}.password", "SSL trust store password cannot be specified for PEM format.")
    if location is None and password:
        raise _invalid(
            "ssl.truststore.password", "SSL trust store is not specified, but trust store password is specified."
        )
    if certificates is not None:
        return {"tls.ca_pem": pem.certificates("ssl.truststore.certificates", certificates)}
    if location is None or kind != "PEM":
        return {}
    return {"tls.ca_pem": pem.certificates("ssl.truststore.location", _read("ssl.truststore.location", location))}


def _keystore(reading: PropertyReading) -> FieldValues:
    kind = reading.text("ssl.keystore.type", _DEFAULT_STORE)
    key, chain = reading.optional("ssl.keystore.key"), reading.optional("ssl.keystore.certificate.chain")
    location = reading.optional("ssl.keystore.location")
    _check_keystore(reading, kind, key, chain, location)
    if location is not None and kind != "PEM":
        return {}
    key_name, chain_name = "ssl.keystore.key", "ssl.keystore.certificate.chain"
    if location is not None:
        key = chain = _read("ssl.keystore.location", location)
        key_name = chain_name = "ssl.keystore.location"
    if key is None or chain is None:
        return {}
    password = reading.text("ssl.key.password")
    return {
        "tls.key_pem": Secret(pem.private_key(key_name, key)),
        "tls.certificate_pem": pem.certificates(chain_name, chain),
        "tls.key_password": Secret(password) if password else None,
    }


def _check_keystore(
    reading: PropertyReading, kind: str, key: str | None, chain: str | None, location: str | None
) -> None:
    password = reading.given("ssl.keystore.password")
    if key is not None:
        if kind != "PEM":
            raise _invalid(
                _of_type(reading, _KEYS, "key"),
                f"SSL private key can be specified only for PEM, but key store type is {kind}.",
            )
        if chain is None:
            raise _invalid(f"{_KEYS}.key", "SSL private key is specified, but certificate chain is not specified.")
        if location is not None:
            raise _invalid(f"{_KEYS}.key", "Both SSL key store location and separate private key are specified.")
    elif chain is not None:
        raise _invalid(
            "ssl.keystore.certificate.chain", "SSL certificate chain is specified, but private key is not specified"
        )
    if kind == "PEM" and password and (key or location) is not None:
        raise _invalid(
            "ssl.keystore.password",
            "SSL key store password cannot be specified with PEM format, only key password may be specified",
        )
    if location is None and password:
        raise _invalid(f"{_KEYS}.password", "SSL key store is not specified, but key store password is specified.")
    if location is not None and kind != "PEM" and not password:
        raise _invalid(f"{_KEYS}.location", "SSL key store is specified, but key store password is not specified.")


def _of_type(reading: PropertyReading, store: str, content: str) -> str:
    """Return the property to blame for a wrong type: the type if it is given, otherwise the one that needs another
    type.
    """
    return f"{store}.type" if reading.given(f"{store}.type") else f"{store}.{content}"


def _invalid(name: str, text: str) -> ConfigurationError:
    error = ConfigurationError(f"org.apache.kafka.common.errors.InvalidConfigurationException: {text}")
    error.property_name = name
    return error


def _read(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise _invalid(name, f"Failed to load PEM SSL keystore {path}: {error.strerror}") from None


def _host_check(reading: PropertyReading) -> FieldValues:
    word = reading.text("ssl.endpoint.identification.algorithm", "https").lower()
    if word not in ("", "none", "https"):
        raise ConfigurationError("ssl.endpoint.identification.algorithm is either https or empty (no check)")
    if word != "https":
        reading.note(
            f"ssl.endpoint.identification.algorithm is {word or 'empty'}: names of brokers are not checked against "
            "their certificates.",
            logging.WARNING,
        )
    return {_HOST_CHECK.path: "https" if word == "https" else "none"}


def _cipher_suites(reading: PropertyReading) -> FieldValues:
    given = [name for name in reading.words("ssl.cipher.suites") if name]
    kept = [name for name in given if not name.startswith(_NOT_CONFIGURABLE)]
    if given and not kept:
        reading.note(
            "ssl.cipher.suites has no effect here: suites of TLS 1.3 cannot be chosen.",
            logging.WARNING,
        )
    return {_SUITES.path: ":".join(kept)} if kept else {}


def _enabled_protocols(reading: PropertyReading) -> FieldValues:
    enabled = {name for name in reading.words("ssl.enabled.protocols") if name}
    if enabled and "TLSv1.2" not in enabled:
        raise ConfigurationError(
            "ssl.enabled.protocols without TLSv1.2 is not supported yet: this client would still use it"
        )
    if enabled and enabled != _ANY_TLS_VERSION:
        reading.note(
            "ssl.enabled.protocols has no effect here: TLSv1.2 and TLSv1.3 are used.",
            logging.WARNING,
        )
    return {}


RULES: Rules = rules_where(
    uses_tls,
    Rule("ssl.truststore.location", Text(), Computed(_truststore), reason=_TRAVELS),
    Rule("ssl.truststore.certificates", SecretText(), Computed(_truststore), reason=_TRAVELS),
    Rule("ssl.truststore.type", Text(), PartOf("ssl.truststore.location")),
    Rule("ssl.truststore.password", SecretText(), Computed(_truststore), reason=_OPENS),
    Rule("ssl.keystore.location", Text(), Computed(_keystore), reason=_TRAVELS),
    Rule("ssl.keystore.key", SecretText(), Computed(_keystore), reason=_TRAVELS),
    Rule("ssl.keystore.certificate.chain", SecretText(), Computed(_keystore), reason=_TRAVELS),
    Rule("ssl.keystore.type", Text(), PartOf("ssl.keystore.location")),
    Rule("ssl.keystore.password", SecretText(), Computed(_keystore), reason=_OPENS),
    Rule("ssl.key.password", SecretText(), PartOf("ssl.keystore.location")),
    Rule(
        "ssl.endpoint.identification.algorithm",
        Text(),
        Computed(_host_check, always=True),
        reason="empty means no check",
        field=_HOST_CHECK,
    ),
    Rule(
        "ssl.cipher.suites",
        TextList(),
        Computed(_cipher_suites),
        reason="suites of TLS 1.3 cannot be chosen",
        field=_SUITES,
    ),
    Rule("ssl.enabled.protocols", TextList(), Computed(_enabled_protocols), reason=_TLS_VERSIONS),
    Rule(
        "ssl.protocol",
        Text(),
        RefusedProperty(_TLS_VERSIONS, ("TLS", "TLSv1.2", "TLSv1.3")),
    ),
    Rule("ssl.engine.factory.class", Text(), RefusedProperty("it is Java code", ("",))),
    Rule("ssl.keymanager.algorithm", Text(), Harmless(_ONLY_JSSE, ("SunX509",))),
    Rule("ssl.trustmanager.algorithm", Text(), Harmless(_ONLY_JSSE, ("PKIX",))),
    Rule("ssl.provider", Text(), Harmless(_ONLY_JSSE, ("",))),
    Rule("ssl.secure.random.implementation", Text(), Harmless(_ONLY_JSSE, ("",))),
    Rule("security.providers", Text(), Harmless(_ONLY_JSSE, ("",))),
    Rule("ssl.client.auth", Text(), Forgotten()),
)
"""Rows of TLS, wherever the protocol uses it."""
