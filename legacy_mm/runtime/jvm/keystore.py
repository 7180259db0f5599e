"""Java's key stores, read by Java itself: every JKS, JCEKS and PKCS12 file, by the rules of its own TLS.

Keys and certificates become PEM in memory, never files. The words of errors are those of Kafka's
`DefaultSslEngineFactory`.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.secret import Secret
from legacy_mm.base.settings import JavaStores, KeyStore
from legacy_mm.logs import events
from legacy_mm.runtime.jvm.gateway import Jvm

_PEM_COLUMNS = 64
_KEY_TYPES = ("EC", "EdDSA", "RSASSA-PSS", "RSA", "DSA")
"""In the order in which a Java broker asks for them."""
_KAFKA_EXCEPTION = "org.apache.kafka.common.KafkaException: "


class StoreContents(NamedTuple):
    """Certificates and keys of stores, as PEM; empty: none."""

    trusted: str = ""
    trusted_services: str = ""
    """Certificates of token services."""
    key: Secret = Secret("")
    chain: str = ""


def read(stores: JavaStores, java: Callable[[], Jvm], *, needs_roots: bool = False) -> StoreContents:
    """Read the stores; raise ConfigurationError in Java's words.

    `needs_roots`: librdkafka trusts with them, so each trusted certificate without its issuers is told.
    """
    if stores == JavaStores():
        return StoreContents()
    security = _Java(java().connect())
    found = StoreContents()
    if stores.trusted or stores.java_trust:
        found = found._replace(trusted=security.trusted(stores.trusted, needs_roots=needs_roots))
    if stores.token_service:
        found = found._replace(trusted_services=security.trusted(stores.token_trusted))
    if stores.keys:
        key, chain = security.identity(stores.keys)
        found = found._replace(key=Secret(key), chain=chain)
    return found


def with_contents(
    connection: ConnectionSettings, stores: JavaStores, java: Callable[[], Jvm], *, needs_roots: bool = False
) -> ConnectionSettings:
    """Return the connection with what the stores hold, where it says nothing itself. Raise as `read` does."""
    found, tls, sasl = read(stores, java, needs_roots=needs_roots), connection.tls, connection.sasl
    tls = replace(
        tls,
        ca_pem=tls.ca_pem or found.trusted or None,
        key_pem=tls.key_pem or found.key or None,
        certificate_pem=tls.certificate_pem or found.chain or None,
    )
    oauth = replace(sasl.oauth, ca_pem=sasl.oauth.ca_pem or found.trusted_services or None)
    return replace(connection, tls=tls, sasl=replace(sasl, oauth=oauth))


class _Java:
    """The few calls of `java.security` and `javax.net.ssl` that are needed."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm

    def trusted(self, store: KeyStore | None, *, needs_roots: bool = False) -> str:
        """Return the certificates that Java would trust; without a store those of its own, or of a system property."""
        factory = self._jvm.javax.net.ssl.TrustManagerFactory
        factory = factory.getInstance(factory.getDefaultAlgorithm())
        opened = self._open(store) if store else None
        self._invoke("javax.net.ssl.TrustManagerFactory", "init", factory, ("java.security.KeyStore", opened))
        found = factory.getTrustManagers()[0].getAcceptedIssuers()
        if len(found):
            if store and needs_roots:
                self._doubt(store, found)
            return _certificates(found)
        if store is None:
            return ""
        locked = "" if store.password is not None else " that can be read without ssl.truststore.password"
        named = store.place.rpartition(": ")[2] or "ssl.truststore.location"
        raise ConfigurationError(f"{named}: {store.location} holds no certificate{locked}")

    def _doubt(self, store: KeyStore, certificate: Any) -> None:
        """Warn of a certificate without its issuers: Java and our sockets trust it alone, librdkafka only with its
        issuers, up to the root.
        """
        subjects = {each.getSubjectX500Principal().getName() for each in certificate}
        for each in certificate:
            if each.getIssuerX500Principal().getName() not in subjects:
                name = each.getSubjectX500Principal().getName()
                events.emit(events.TRUST_WITHOUT_ROOT, store=store.location, name=name)

    def identity(self, store: KeyStore) -> tuple[str, str]:
        """Return the key that Java would show, and its chain; empty texts when the store holds none."""
        opened = self._open(store)
        factory = self._jvm.javax.net.ssl.KeyManagerFactory
        factory = factory.getInstance(factory.getDefaultAlgorithm())
        try:
            factory.init(opened, self._characters(store.key_password or ""))
        except Py4JJavaError as error:
            raise ConfigurationError(f"{_KAFKA_EXCEPTION}{_java_message(error)}") from None
        manager = factory.getKeyManagers()[0]
        alias = manager.chooseClientAlias(self._array("java.lang.String", *_KEY_TYPES), None, None)
        if alias is None:
            return "", ""
        keys = [each for each in self._jvm.java.util.Collections.list(opened.aliases()) if opened.isKeyEntry(each)]
        if len(keys) > 1:
            events.emit(events.SEVERAL_KEYS, store=store.location, count=len(keys), alias=alias)
        key = self._invoke("java.security.Key", "getEncoded", manager.getPrivateKey(alias))
        return _pem("PRIVATE KEY", key), _certificates(manager.getCertificateChain(alias))

    def _open(self, store: KeyStore) -> Any:
        files, path = self._jvm.java.nio.file.Files, self._jvm.java.nio.file.Path
        password = None if store.password is None else self._characters(store.password)
        try:
            file = path.of(store.location, self._array("java.lang.String"))
            with closing(files.newInputStream(file, self._array("java.nio.file.OpenOption"))) as stream:
                opened = self._jvm.java.security.KeyStore.getInstance(store.type)
                opened.load(stream, password)
        except Py4JJavaError as error:
            failed = f"Failed to load SSL keystore {store.location} of type {store.type}"
            refused = ConfigurationError(f"{_KAFKA_EXCEPTION}{failed}: {_java_message(error)}")
            if store.place:
                refused.add_note(f"{store.place} names the store that is refused.")
            raise refused from None
        return opened

    def _characters(self, text: str) -> Any:
        return self._invoke("java.lang.String", "toCharArray", text)

    def _array(self, kind: str, *elements: Any) -> Any:
        java_type = self._jvm
        for name in kind.split("."):
            java_type = getattr(java_type, name)
        array = self._gateway.new_array(java_type, len(elements))
        for index, element in enumerate(elements):
            array[index] = element
        return array

    def _invoke(self, owner: str, name: str, target: Any, *arguments: tuple[str, Any]) -> Any:
        """Invoke a method by its declared types, where py4j finds two (a null fits both) or none (a hidden class)."""
        find = self._jvm.java.lang.Class.forName
        types = self._array("java.lang.Class", *(find(kind) for kind, _ in arguments))
        values = self._array("java.lang.Object", *(value for _, value in arguments))
        return find(owner).getMethod(name, types).invoke(target, values)


def _certificates(certificates: Any) -> str:
    return "".join(_pem("CERTIFICATE", certificate.getEncoded()) for certificate in certificates)


def _pem(label: str, encoded: bytes) -> str:
    lines = textwrap.wrap(base64.b64encode(encoded).decode(), _PEM_COLUMNS)
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----\n"])


def _java_message(error: Py4JJavaError) -> str:
    """Return class and message of a Java exception; those of key stores hold no secret."""
    return str(error.java_exception.toString())
