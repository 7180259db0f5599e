"""The connection to a cluster from a Java client's properties, for our own commands and clients that are no mirror."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from legacy_mm.compat import environment, jaas, properties_file
from legacy_mm.compat.client_properties import kerberos
from legacy_mm.compat.client_properties.apply import apply
from legacy_mm.compat.system_properties import system_properties
from legacy_mm.config import property_names
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.config.settings import JavaStores, JvmSettings
from legacy_mm.errors import ConfigurationError
from legacy_mm.policies.logins import beyond_librdkafka


class ClientConnection(NamedTuple):
    """The way to a cluster, and what Java has to read for it."""

    connection: ConnectionSettings
    stores: JavaStores


def read(path: str, java: JvmSettings | None = None) -> ConnectionSettings:
    """Return the connection for a command that starts no Java; raises ConfigurationError."""
    java = java or environment.read(os.environ).jvm
    found = translated(java_properties(path, java), java.system_property(kerberos.REALMS))
    if found.stores != JavaStores():
        raise ConfigurationError(
            f"{path}: this command starts no Java and cannot read its key stores; give the keys as PEM "
            "(ssl.truststore.type=PEM, ssl.keystore.type=PEM)"
        )
    return found.connection


def read_for_librdkafka(path: str, java: JvmSettings | None = None) -> ConnectionSettings:
    """Return what `read` does; raise ConfigurationError for a login that librdkafka lacks, too."""
    return for_librdkafka(read(path, java))


def for_librdkafka(connection: ConnectionSettings) -> ConnectionSettings:
    """Return the connection; raise ConfigurationError for a login that librdkafka lacks."""
    if login := beyond_librdkafka(connection):
        raise ConfigurationError(f"this command has no login by {login}")
    return connection


def java_properties(path: str, java: JvmSettings | None = None) -> dict[str, str]:
    """Return the file's properties, with the login of the file that Java's options name; raises ConfigurationError.

    Java's options are those of KAFKA_OPTS unless others are given.
    """
    java = java or environment.read(os.environ).jvm
    file = properties_file.load(path).properties
    return jaas.with_login(file, java.system_property(jaas.LOGIN_FILE), system_properties(java.options))


def translated(properties: Mapping[str, str], realms: str | None = None) -> ClientConnection:
    """Return the connection that these Java properties describe; raises ConfigurationError.

    `realms`: the krb5.conf that Java's options name.
    """
    read = apply("consumer", properties)
    known = kerberos.with_realms(read.properties, realms)
    return ClientConnection(property_names.read_connection(known), read.stores)
