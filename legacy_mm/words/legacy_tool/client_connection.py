"""The connection to a cluster from a Java client's properties, for our own commands and clients that are no mirror."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import ConnectionSettings, connection_of
from legacy_mm.base.settings import JavaStores, JvmSettings
from legacy_mm.flow import key_stores
from legacy_mm.policies.logins import beyond_librdkafka
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.spark.session import java_when_asked
from legacy_mm.words.java_clients import jaas, properties_file
from legacy_mm.words.java_clients.client_properties import kerberos, tls
from legacy_mm.words.java_clients.client_properties.apply import apply
from legacy_mm.words.java_clients.properties_file import PropertiesFile
from legacy_mm.words.java_clients.system_properties import system_properties
from legacy_mm.words.legacy_tool import environment


class ClientConnection(NamedTuple):
    """The way to a cluster as it is written, and what Java has to read for it."""

    written: ConnectionSettings
    stores: JavaStores

    def reached(self, java: Callable[[], Jvm]) -> ConnectionSettings:
        """Return the way to the cluster, which trusts whom the mirror trusts; `java` is called only if it must read.

        Raises ConfigurationError in Java's words, and HostError if Java is needed and missing.
        """
        return key_stores.connected(self.written, self.stores, java)

    def reached_by_librdkafka(self, java: Callable[[], Jvm]) -> ConnectionSettings:
        """Return the same for librdkafka; raise ConfigurationError for a login that it lacks, too."""
        require_login_of_librdkafka(self.written)
        return key_stores.connected(self.written, self.stores, java, for_librdkafka=True)


def read(path: str, java: JvmSettings) -> ClientConnection:
    """Return the connection of a properties file; raises ConfigurationError.

    `java`: what the environment says of the mirror's Java, which may name a login and realms.
    """
    file = properties_file.load(path)
    found = translated(_with_login(file, java), java.system_property(kerberos.REALMS))
    return found._replace(stores=tls.placed(found.stores, file))


def java_of_environment() -> JvmSettings:
    """Return what the environment of this process says of the mirror's Java."""
    return environment.read(os.environ).jvm


def environment_java() -> AbstractContextManager[Callable[[], Jvm]]:
    """Return the mirror's Java as the environment of this process describes it; it starts when it is asked for."""
    return java_when_asked(java_of_environment())


def require_login_of_librdkafka(connection: ConnectionSettings) -> None:
    """Raise ConfigurationError for a login that librdkafka lacks."""
    if login := beyond_librdkafka(connection):
        raise ConfigurationError(f"this command has no login by {login}")


def java_properties(path: str, java: JvmSettings) -> dict[str, str]:
    """Return the file's properties, with the login of the file that Java's options name; raises ConfigurationError."""
    return _with_login(properties_file.load(path), java)


def _with_login(file: PropertiesFile, java: JvmSettings) -> dict[str, str]:
    named = java.system_property(jaas.LOGIN_FILE)
    return jaas.with_login(file.properties, named, system_properties(java.options))


def translated(properties: Mapping[str, str], realms: str | None = None) -> ClientConnection:
    """Return the connection that these Java properties describe; raises ConfigurationError.

    `realms`: the krb5.conf that Java's options name.
    """
    read = apply("consumer", properties)
    return ClientConnection(connection_of(kerberos.with_realms(read.values, realms)), read.stores)
