"""Key and trust stores of a flow's clients: their content becomes settings, at the start and after a change.

A client takes its key once, when it is made. So changed stores come into use by new clients: a successor that has
read them replaces the mirror (`lifecycle`), once the clusters have accepted a login with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import ConnectionSettings, TlsSettings
from legacy_mm.base.secret import Secret
from legacy_mm.base.settings import AdminSettings, JavaStores, PemFiles, SourceSettings, TargetSettings
from legacy_mm.clients.admin.inspector import NativeTopicLister
from legacy_mm.clients.net import tls_context
from legacy_mm.controlplane.store_watch import Stamps, StoreWatch
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.policies import pem
from legacy_mm.policies.logins import librdkafka_keeps_membership
from legacy_mm.runtime.jvm import keystore
from legacy_mm.runtime.jvm.gateway import Jvm

_TRY_TIMEOUT = 15.0
_INVALID = "org.apache.kafka.common.errors.InvalidConfigurationException: "
SideSettings = TypeVar("SideSettings", SourceSettings, TargetSettings, AdminSettings)
AnySide = SourceSettings | TargetSettings | AdminSettings


def with_stores(settings: Settings, java: Callable[[], Jvm]) -> Settings:
    """Return all sides with the content of their stores; raises ConfigurationError, for Java's stores in Java's words.

    `java` is called only if there are stores that Java has to read.
    """
    source, target = with_store(settings.source, java), with_store(settings.target, java)
    others = (settings.source_admin, settings.target_admin, settings.worker)
    source_admin, target_admin, worker = (side and with_store(side, java) for side in others)
    return replace(
        settings,
        source=source,
        target=target,
        source_admin=source_admin,
        target_admin=target_admin,
        worker=worker,
    )


def with_store(side: SideSettings, java: Callable[[], Jvm]) -> SideSettings:
    """Return one side with the content of its stores."""
    connection = connected(side.connection, side.stores, java, for_librdkafka=_meets_librdkafka(side))
    return side.reached_by(replace(connection, tls=_with_pem(connection.tls, side.pem)))


def connected(
    connection: ConnectionSettings, stores: JavaStores, java: Callable[[], Jvm], *, for_librdkafka: bool = False
) -> ConnectionSettings:
    """Return a connection with what only Java can give: the content of its stores, its own trust, a class's tokens.

    It is the one way to this for the mirror, its commands and MirrorMaker 2's client. `for_librdkafka`: it is
    librdkafka that logs in. Raises ConfigurationError in Java's words, and HostError if Java is needed and missing.
    """
    found = keystore.with_contents(connection, stores, java, needs_roots=for_librdkafka)
    return _with_keeper(found, java)


def _meets_librdkafka(side: AnySide) -> bool:
    """Return True if librdkafka logs in at this side."""
    if not isinstance(side, SourceSettings):
        return False
    return librdkafka_keeps_membership(side.client, tuned=bool(side.for_librdkafka))


def _with_keeper(connection: ConnectionSettings, java: Callable[[], Jvm]) -> ConnectionSettings:
    """Return the connection with the address of the token keeper in place of the user's class that gives tokens."""
    oauth = connection.sasl.oauth
    if oauth.login_class is None:
        return connection
    from legacy_mm.runtime.jvm.login_classes import keeper

    address = Secret(keeper().address(oauth.login_class.reveal(), java))
    oauth = replace(oauth, login_class=None, keeper=address)
    return replace(connection, sasl=replace(connection.sasl, oauth=oauth))


def check_pem(settings: Settings) -> None:
    """Raise ConfigurationError for PEM that cannot be used, as Java's clients do at the start.

    Without this check the error would appear when a client is made: at the target with the first partitions, which a
    standby does not have.
    """
    for side in _every_side(settings):
        try:
            tls_context.check_pem(side.connection.tls)
        except ConfigurationError as error:
            files = ", ".join(filter(None, (side.pem.trusted, side.pem.keys))) or "in the properties"
            raise ConfigurationError(f"{_INVALID}Failed to load PEM SSL keystore {files}: {error}") from None


def files(settings: Settings) -> frozenset[str]:
    """Return the files whose change the clients would not notice."""
    return frozenset(name for side in _sides(settings) for name in _files(side))


def contents(settings: Settings) -> list[tuple[ConnectionSettings, list[bytes]]]:
    """Return all sources of the clients' keys and trust, for comparison; raises ConfigurationError."""
    return [(side.connection, list(map(_bytes, sorted(_native_files(side))))) for side in _sides(settings)]


def try_out(settings: Settings) -> None:
    """Raise HostError if a cluster refuses new clients."""
    for side in _sides(settings):
        seconds = min(_TRY_TIMEOUT, settings.source.api_timeout)
        NativeTopicLister(side.connection, seconds).topics()


def _sides(settings: Settings) -> Iterator[AnySide]:
    return (side for side in _every_side(settings) if _files(side))


def _every_side(settings: Settings) -> Iterator[AnySide]:
    every = (settings.source, settings.target, settings.source_admin, settings.target_admin, settings.worker)
    return (side for side in every if side is not None)


def _files(side: AnySide) -> set[str]:
    stores = side.stores.trusted, side.stores.keys, side.stores.token_trusted
    java = (store.location for store in stores if store is not None)
    return {*java, *filter(None, (side.pem.trusted, side.pem.keys)), *_native_files(side)}


def _native_files(side: AnySide) -> set[str]:
    tls, oauth = side.connection.tls, side.connection.sasl.oauth
    named = (
        *(tls.ca_location, tls.certificate_location, tls.key_location, tls.crl_location),
        oauth.ca_location,
    )
    return {path for path in named if path and Path(path).is_file()}


def _with_pem(tls: TlsSettings, files: PemFiles) -> TlsSettings:
    if files.trusted is not None:
        tls = replace(tls, ca_pem=pem.certificates("ssl.truststore.location", _text(files.trusted)))
    if files.keys is not None:
        name, text = "ssl.keystore.location", _text(files.keys)
        key = Secret(pem.private_key(name, text))
        tls = replace(tls, key_pem=key, certificate_pem=pem.certificates(name, text))
    return tls


def _text(path: str) -> str:
    return _bytes(path).decode(errors="replace")


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None


def store_watch(
    written: Settings, settings: Settings, jvm: Callable[[], Jvm], used: Stamps
) -> StoreWatch[Settings] | None:
    """Return the watch of changing stores; None if there are none (invariant E)."""
    watched = files(written)
    if not watched:
        return None
    before = contents(settings)

    def read() -> Settings:
        return replace(with_stores(written, jvm), handler=settings.handler)

    def try_out(renewed: Settings) -> bool:
        if contents(renewed) == before:
            return False
        try_out(renewed)
        return True

    return StoreWatch(watched, used, read, try_out)
